"""The tools: an action for each operation, and reading the state of each modality, each by its permission."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from concord_environment.access.keys import Key
from concord_environment.api.event_view import action_response
from concord_environment.core.faults import Invalid
from concord_environment.environment import Environment
from concord_environment.modalities.operation import AnyOperation
from concord_environment.modalities.overview import VIEWS
from concord_environment.modalities.registry import OPERATIONS, reasons
from concord_environment.modalities.views import AnyViews, StatePage


class Nothing(BaseModel):
    """No arguments."""

    model_config = ConfigDict(extra="forbid")


class StateArguments(StatePage):
    """Which part of a state; `compact` for the state in short."""

    compact: bool = False


@dataclass(frozen=True, slots=True)
class EnvironmentTool:
    """One tool: its arguments, the permission that it takes, and what it does for a key."""

    name: str
    description: str
    arguments: type[BaseModel]
    permission: str
    run: Callable[[Environment, Key, Any], BaseModel]

    def call(self, environment: Environment, key: Key, arguments: dict[str, Any]) -> BaseModel:
        """Calls the tool. Forbidden without its permission, Invalid for wrong arguments."""
        key.require(self.permission)
        try:
            parsed = self.arguments.model_validate(arguments)
        except ValidationError as error:
            raise Invalid(reasons(error)) from error
        return self.run(environment, key, parsed)

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        schema = self.arguments.model_json_schema()
        schema.get("properties", {}).pop("operation", None)
        return schema


class SimulatedTime(BaseModel):
    """What time it is in the simulation."""

    current_time: str


def all_tools() -> dict[str, EnvironmentTool]:
    """Every tool, by name."""
    return {tool.name: tool for tool in _tools()}


def _tools() -> Iterator[EnvironmentTool]:
    yield EnvironmentTool("time_read", "What time it is in the simulation.", Nothing, "time:read", _time)
    for views in VIEWS:
        yield _state_tool(views)
        yield _query_tool(views)
    yield from map(_action_tool, OPERATIONS)


def _time(environment: Environment, key: Key, arguments: Nothing) -> SimulatedTime:  # noqa: ARG001 - one signature
    return SimulatedTime(current_time=environment.simulation.now.isoformat())


def _state_tool(views: AnyViews) -> EnvironmentTool:
    def run(environment: Environment, key: Key, arguments: StateArguments) -> BaseModel:  # noqa: ARG001
        simulation = environment.simulation
        if arguments.compact:
            return views.brief(simulation.world, simulation.now)
        return views.state(simulation.world, simulation.now, arguments)

    name = f"{views.modality}_state"
    description = f"The state of {views.modality}, the latest first; with compact in short."
    return EnvironmentTool(name, description, StateArguments, f"{views.modality}:state", run)


def _query_tool(views: AnyViews) -> EnvironmentTool:
    def run(environment: Environment, key: Key, arguments: BaseModel) -> BaseModel:  # noqa: ARG001
        simulation = environment.simulation
        return views.answer(simulation.world, simulation.now, arguments)

    name, documented = f"{views.modality}_query", views.query_type.__doc__ or ""
    return EnvironmentTool(
        name, f"Looks in {views.modality}. {documented}", views.query_type, f"{views.modality}:query", run
    )


def _action_tool(operation: AnyOperation) -> EnvironmentTool:
    def run(environment: Environment, key: Key, arguments: Any) -> BaseModel:  # noqa: ANN401 - the operation's request
        return action_response(environment.submit(environment.simulation, key, arguments))

    name, documented = f"{operation.modality}_{operation.name}", operation.request.__doc__ or ""
    return EnvironmentTool(name, documented, operation.request, operation.permission, run)
