"""The MCP server: lists the tools that a key permits, and runs them."""

from datetime import UTC, datetime
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request

from concord.version import VERSION
from concord_environment.access.keys import Key
from concord_environment.access.log import Access
from concord_environment.api.access import environment_of
from concord_environment.api.errors import status_of
from concord_environment.core.faults import Fault
from concord_environment.mcp.tools import all_tools

_INSTRUCTIONS: Final = (
    "You act for one simulated user, in simulated time. Read email, messages, calendars and so on with the state and "
    "query tools. The other tools are actions: the service checks an action at once and executes it when time moves, "
    "unless your key has the permission `events:execute`, which executes actions at once. You cannot move time. "
    "The text of a failed call says why it failed. The numbers in the descriptions are status codes of the REST API."
)

Context = ServerRequestContext[Any, Any]


def new_sessions(max_body_bytes: int) -> StreamableHTTPSessionManager:
    """The manager of the server's sessions, which runs once."""
    # Sessions are stateless: each call has its key, and nobody can hijack a session.
    return StreamableHTTPSessionManager(
        _server(), json_response=True, stateless=True, max_request_body_size=max_body_bytes
    )


def _server() -> Server[Any]:
    tools = all_tools()

    async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:  # noqa: ARG001
        key = _caller(context)
        granted = [tool for tool in tools.values() if key.may(tool.permission)]
        listed = [
            types.Tool(name=tool.name, description=tool.description, input_schema=tool.schema()) for tool in granted
        ]
        return types.ListToolsResult(tools=listed)

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            return _result(f"there is no tool {params.name}", is_error=True)
        key, environment = _caller(context), environment_of(_request(context))
        try:
            answer = tool.call(environment, key, params.arguments or {})
        except Fault as fault:
            # The HTTP response of a refused tool is 200, so the log of calls would not show the refusal.
            environment.access_log.add(_refusal(key, params.name, fault))
            return _result(str(fault), is_error=True)
        return _result(answer, is_error=False)

    return Server(
        "concord-environment",
        version=VERSION,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _refusal(key: Key, tool: str, fault: Fault) -> Access:
    return Access(datetime.now(UTC), key.key_id, key.name, "POST", f"/mcp/{tool[:100]}", status_of(fault), 0.0)


def _request(context: Context) -> Request:
    if not isinstance(context.request, Request):
        raise TypeError("the call did not arrive over HTTP")
    return context.request


def _caller(context: Context) -> Key:
    """The key with which the endpoint has authenticated the call."""
    key: Key = _request(context).state.key
    return key


def _result(text: str, *, is_error: bool) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)
