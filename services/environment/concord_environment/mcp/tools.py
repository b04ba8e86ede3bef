"""The tools of the MCP server: the simulated time, and each state, query and operation of a modality."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import getdoc
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from concord_environment.access.keys import Key
from concord_environment.api.responses import action_response
from concord_environment.core.faults import Invalid
from concord_environment.environment import Environment
from concord_environment.modalities.modality import AnyImplementation, AnyModality, QueryAnswer, StatePage, StateView
from concord_environment.modalities.registry import (
    IMPLEMENTATIONS,
    MODALITY_BY_NAME,
    query_description,
    reasons,
    state_description,
)


class NoArguments(BaseModel):
    """No arguments."""

    model_config = ConfigDict(extra="forbid")


class StateArguments(StatePage):
    """A part of a state, or the compact state. By default, the whole state."""

    compact: Annotated[
        bool, Field(description="Return the compact state, counts and the latest items, instead of all items.")
    ] = False


@dataclass(frozen=True, slots=True)
class EnvironmentTool:
    """An MCP tool: its arguments, its permission, and the function that runs it for a key."""

    name: str
    description: str
    arguments: type[BaseModel]
    permission: str
    run: Callable[[Environment, Key, Any], BaseModel]

    def call(self, environment: Environment, key: Key, arguments: dict[str, Any]) -> str:
        """Runs the tool and returns JSON. Raises Forbidden without the permission, Invalid for invalid arguments."""
        key.require(self.permission)
        try:
            parsed = self.arguments.model_validate(arguments)
        except ValidationError as error:
            raise Invalid(reasons(error)) from error
        return self.run(environment, key, parsed).model_dump_json()

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        schema = self.arguments.model_json_schema()
        schema.get("properties", {}).pop("operation", None)
        return schema


class SimulatedTime(BaseModel):
    """The simulated time in RFC 3339 format."""

    current_time: str


def all_tools() -> dict[str, EnvironmentTool]:
    """All tools by name."""
    return {tool.name: tool for tool in _tools()}


def _tools() -> Iterator[EnvironmentTool]:
    yield EnvironmentTool("time_read", "Returns the simulated time.", NoArguments, "time:read", _time)
    for modality in MODALITY_BY_NAME.values():
        yield _state_tool(modality)
        yield _query_tool(modality)
    yield from map(_action_tool, IMPLEMENTATIONS)


def _time(environment: Environment, key: Key, arguments: NoArguments) -> SimulatedTime:  # noqa: ARG001 - one signature
    return SimulatedTime(current_time=environment.simulation.now.isoformat())


def _state_tool(modality: AnyModality) -> EnvironmentTool:
    views = modality.views

    def run(environment: Environment, key: Key, arguments: StateArguments) -> StateView:  # noqa: ARG001
        simulation = environment.simulation
        if arguments.compact:
            brief: StateView = views.brief(simulation.world, simulation.now)
            return brief
        return views.state(simulation.world, simulation.now, arguments)

    description = state_description(modality)
    return EnvironmentTool(
        f"{modality.name}_state", description, StateArguments, modality.calls.state_permission(), run
    )


def _query_tool(modality: AnyModality) -> EnvironmentTool:
    def run(environment: Environment, key: Key, arguments: BaseModel) -> QueryAnswer:  # noqa: ARG001
        simulation = environment.simulation
        return modality.answer(simulation.world, simulation.now, arguments)

    description = query_description(modality)
    return EnvironmentTool(
        f"{modality.name}_query", description, modality.views.query_type, modality.calls.query_permission(), run
    )


def _action_tool(implementation: AnyImplementation) -> EnvironmentTool:
    def run(environment: Environment, key: Key, arguments: Any) -> BaseModel:  # noqa: ANN401 - the operation's request
        event = environment.submit(key, arguments)
        return action_response(environment.simulation, event)

    operation, request = implementation.operation, implementation.request
    return EnvironmentTool(operation.tool_name, getdoc(request) or "", request, operation.permission, run)
