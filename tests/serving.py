"""Apps served over real HTTP on the loopback, in the test's own event loop."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI

from concord.a2a import AgentProfile, Handler, Skill, mount_agent
from tests.redis_servers import free_port


@asynccontextmanager
async def served(app: FastAPI, port: int | None = None) -> AsyncIterator[str]:
    """Serves an app; yields its base URL, without a trailing slash."""
    port = port or free_port()
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_config=None, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    try:
        while not server.started:
            if running.done():
                running.result()
            await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await running


@asynccontextmanager
async def served_agent(handler: Handler, name: str = "agent") -> AsyncIterator[str]:
    """Serves an A2A agent that handles messages so; yields its URL."""
    port = free_port()
    app = FastAPI()
    profile = AgentProfile(
        name=name,
        description="A test's agent.",
        version="1",
        url=f"http://127.0.0.1:{port}/",
        skills=(Skill("researcher", "Research", "Researches.", ("test",)),),
    )
    agent = mount_agent(app, profile, handler)
    try:
        async with served(app, port) as url:
            yield f"{url}/"
    finally:
        await agent.aclose()


async def eventually(holds: Callable[[], bool], timeout_s: float = 10.0) -> None:
    """Returns once `holds()` does; the test fails if that takes longer than the timeout."""
    async with asyncio.timeout(timeout_s):
        while not holds():
            await asyncio.sleep(0.02)
