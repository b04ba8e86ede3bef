"""The MCP server: lists to a caller the tools that its key grants, and calls them; over streamable HTTP at `/mcp`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from concord_environment import __version__
from concord_environment.access.keys import Key
from concord_environment.core.faults import Fault
from concord_environment.environment import Environment
from concord_environment.mcp.tools import all_tools

PATH: Final = "/mcp"
_INSTRUCTIONS: Final = (
    "You act for one user, in simulated time. Read with the state and query tools. "
    "What you do is queued and happens when time moves on, which is not yours to do."
)

Context = ServerRequestContext[Any, Any]


class McpEndpoint:
    """The ASGI endpoint. A call without a good key gets 401, before anything of it is read."""

    def __init__(self, environment: Environment, max_body_bytes: int) -> None:
        self._environment = environment
        self._max_body_bytes = max_body_bytes
        self._sessions = self._new_sessions()

    def _new_sessions(self) -> StreamableHTTPSessionManager:
        # Stateless: every call carries its key, so there is no session to hijack.
        return StreamableHTTPSessionManager(
            _server(self._environment),
            json_response=True,
            stateless=True,
            max_request_body_size=self._max_body_bytes,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serves for as long as the context lasts."""
        self._sessions = self._new_sessions()
        async with self._sessions.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one call."""
        key = _key(self._environment, Request(scope))
        if key is None:
            await JSONResponse({"detail": "Missing or invalid API key"}, 401)(scope, receive, send)
            return
        scope.setdefault("state", {})["key"] = key
        await self._sessions.handle_request(scope, receive, send)


def _key(environment: Environment, request: Request) -> Key | None:
    """The caller's key: X-API-Key, or the bearer token that MCP clients know how to send."""
    bearer = request.headers.get("authorization", "")
    secret = request.headers.get("x-api-key") or (bearer[7:] if bearer[:7].lower() == "bearer " else "")
    return environment.keyring.admit(secret) if secret else None


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
            return _said(f"there is no tool {params.name}", is_error=True)
        try:
            answer = tool.call(environment, _caller(environment, context), params.arguments or {})
        except Fault as fault:
            return _said(str(fault), is_error=True)
        return _said(answer.model_dump_json(), is_error=False)

    return Server(
        "concord-environment",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _caller(environment: Environment, context: Context) -> Key:
    key = None if context.request is None else _key(environment, context.request)
    if key is None:
        raise PermissionError("the key was revoked")
    return key


def _said(text: str, *, is_error: bool) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)
