"""The MCP server at `/mcp`, over streamable HTTP and with the API keys of the REST API.

Each operation, each state and each query of a modality is a tool. A caller sees the tools that its key permits.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from inspect import getdoc
from typing import Annotated, Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from concord_environment import __version__
from concord_environment.access.keys import Key
from concord_environment.access.log import Access
from concord_environment.api.errors import status_of
from concord_environment.api.responses import action_response
from concord_environment.core.faults import Fault, Invalid
from concord_environment.environment import Environment
from concord_environment.modalities.modality import AnyModality, AnyOperation, QueryAnswer, StatePage, StateView
from concord_environment.modalities.registry import (
    MODALITY_BY_NAME,
    OPERATIONS,
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

    def call(self, environment: Environment, key: Key, arguments: dict[str, Any]) -> BaseModel:
        """Runs the tool. Raises Forbidden without the permission, Invalid for invalid arguments."""
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
    yield from map(_action_tool, OPERATIONS)


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
    return EnvironmentTool(f"{modality.name}_state", description, StateArguments, modality.state_permission, run)


def _query_tool(modality: AnyModality) -> EnvironmentTool:
    views = modality.views

    def run(environment: Environment, key: Key, arguments: BaseModel) -> QueryAnswer:  # noqa: ARG001
        simulation = environment.simulation
        return views.answer(simulation.world, simulation.now, arguments)

    description = query_description(modality)
    return EnvironmentTool(f"{modality.name}_query", description, views.query_type, modality.query_permission, run)


def _action_tool(operation: AnyOperation) -> EnvironmentTool:
    def run(environment: Environment, key: Key, arguments: Any) -> BaseModel:  # noqa: ANN401 - the operation's request
        event = environment.submit(environment.simulation, key, arguments)
        return action_response(environment.simulation, event)

    name, description = f"{operation.modality}_{operation.name}", getdoc(operation.request) or ""
    return EnvironmentTool(name, description, operation.request, operation.permission, run)


PATH: Final = "/mcp"
_INSTRUCTIONS: Final = (
    "You act for one simulated user, in simulated time. Read email, messages, calendars and so on with the state and "
    "query tools. The other tools are actions: the service checks an action at once and executes it when time moves, "
    "unless your key has the permission `events:execute`, which executes actions at once. You cannot move time. "
    "The text of a failed call says why it failed. The numbers in the descriptions are status codes of the REST API."
)

Context = ServerRequestContext[Any, Any]


class McpEndpoint:
    """The ASGI endpoint. It responds with 401 to a call without a valid key, before it reads the body."""

    def __init__(self, environment: Environment, max_body_bytes: int) -> None:
        self._environment = environment
        self._max_body_bytes = max_body_bytes
        self._sessions = self._new_sessions()

    def _new_sessions(self) -> StreamableHTTPSessionManager:
        # Sessions are stateless: each call has its key, and nobody can hijack a session.
        return StreamableHTTPSessionManager(
            _server(self._environment),
            json_response=True,
            stateless=True,
            max_request_body_size=self._max_body_bytes,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serves calls inside the context."""
        self._sessions = self._new_sessions()
        async with self._sessions.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Responds to a call."""
        key = _key_of(self._environment, Request(scope))
        if key is None:
            await JSONResponse({"detail": "Missing or invalid API key"}, 401)(scope, receive, send)
            return
        scope.setdefault("state", {})["key"] = key
        await self._sessions.handle_request(scope, receive, send)


def _key_of(environment: Environment, request: Request) -> Key | None:
    """The caller's key, from X-API-Key or from the bearer token that MCP clients send."""
    bearer = request.headers.get("authorization", "")
    secret = request.headers.get("x-api-key") or (bearer[7:] if bearer[:7].lower() == "bearer " else "")
    return environment.keys.authenticate(secret) if secret else None


def _server(environment: Environment) -> Server[Any]:
    tools = all_tools()

    async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:  # noqa: ARG001
        key = _caller(environment, context)
        granted = [tool for tool in tools.values() if key.may(tool.permission)]
        listed = [
            types.Tool(name=tool.name, description=tool.description, input_schema=tool.schema()) for tool in granted
        ]
        return types.ListToolsResult(tools=listed)

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            return _result(f"there is no tool {params.name}", is_error=True)
        key = _caller(environment, context)
        try:
            answer = tool.call(environment, key, params.arguments or {})
        except Fault as fault:
            # The HTTP response of a refused tool is 200, so the log of calls would not show the refusal.
            environment.access_log.add(_refusal(key, params.name, fault))
            return _result(str(fault), is_error=True)
        return _result(answer.model_dump_json(), is_error=False)

    return Server(
        "concord-environment",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _refusal(key: Key, tool: str, fault: Fault) -> Access:
    return Access(datetime.now(UTC), key.key_id, key.name, "POST", f"/mcp/{tool[:100]}", status_of(fault), 0.0)


def _caller(environment: Environment, context: Context) -> Key:
    key = None if context.request is None else _key_of(environment, context.request)
    if key is None:
        raise PermissionError("the key was revoked")
    return key


def _result(text: str, *, is_error: bool) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)
