"""An A2A agent as an ASGI app, the same for members of teams, assistants and seats."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI

from concord.a2a import AgentProfile, Handler, mount_agent
from concord.service.middleware import BodyLimit
from concord.service.probes import probe_routes
from concord.version import VERSION


async def _nothing() -> None:
    """An agent is always ready: what it needs comes with its requests."""


def agent_app(
    title: str,
    profile: AgentProfile,
    handler: Handler,
    *closing: Callable[[], Awaitable[object]],
    max_body_bytes: int = 4 * 1024 * 1024,
    meanwhile: Callable[[], Coroutine[Any, Any, None]] = _nothing,
) -> FastAPI:
    """The agent with its card, its endpoint, and probes; bodies of requests are limited (bytes).

    `meanwhile` runs until the app stops. `closing` is called then, in order, after the agent's tasks have ended.
    """

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        running = asyncio.create_task(meanwhile())
        try:
            yield
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
            await server.aclose()
            for close in closing:
                await close()

    app = FastAPI(title=title, version=VERSION, lifespan=lifespan)
    app.add_middleware(BodyLimit, max_bytes=max_body_bytes)
    app.include_router(probe_routes(_nothing))
    server = mount_agent(app, profile, handler)
    return app
