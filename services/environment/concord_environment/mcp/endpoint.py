"""The ASGI endpoint of the MCP server. It loads the MCP SDK at the first call."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import anyio
from anyio.abc import TaskGroup, TaskStatus
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from concord_environment.access.keys import Key
from concord_environment.api.access import environment_of

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH: Final = "/mcp"


class McpEndpoint:
    """The ASGI endpoint. It responds with 401 to a call without a valid key, before it reads the body."""

    def __init__(self, max_body_bytes: int) -> None:
        self._max_body_bytes = max_body_bytes
        self._tasks: TaskGroup | None = None
        self._sessions: StreamableHTTPSessionManager | None = None
        self._starting = anyio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serves calls inside the context."""
        async with anyio.create_task_group() as tasks:
            self._tasks, self._sessions = tasks, None
            yield
            tasks.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Responds to a call."""
        key = _key_of(Request(scope))
        if key is None:
            await JSONResponse({"detail": "Missing or invalid API key"}, 401)(scope, receive, send)
            return
        scope.setdefault("state", {})["key"] = key
        sessions = await self._started_sessions()
        await sessions.handle_request(scope, receive, send)

    async def _started_sessions(self) -> "StreamableHTTPSessionManager":
        async with self._starting:
            if self._sessions is None:
                if self._tasks is None:
                    raise RuntimeError("the endpoint is not running")
                self._sessions = await self._tasks.start(self._serve)
            return self._sessions

    async def _serve(self, *, task_status: TaskStatus["StreamableHTTPSessionManager"]) -> None:
        # The SDK is a third of the import time of an environment, and most environments get no MCP call.
        from concord_environment.mcp.server import new_sessions

        sessions = new_sessions(self._max_body_bytes)
        async with sessions.run():
            task_status.started(sessions)
            await anyio.sleep_forever()


def _key_of(request: Request) -> Key | None:
    """The caller's key, from X-API-Key or from the bearer token that MCP clients send."""
    bearer = request.headers.get("authorization", "")
    secret = request.headers.get("x-api-key") or (bearer[7:] if bearer[:7].lower() == "bearer " else "")
    return environment_of(request).keys.authenticate(secret) if secret else None
