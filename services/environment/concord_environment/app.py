"""The ASGI app that serves one environment."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI
from starlette.routing import Route

from concord.service import BodyLimit
from concord.trust.urls import PeerUrls
from concord_environment import __version__
from concord_environment.access.log import AccessLogging
from concord_environment.advancing import follow_wall_clock
from concord_environment.api import (
    access_logs,
    clock,
    events,
    files,
    history,
    holds,
    keys,
    scenario,
    simulation,
    snapshots,
    socket,
    webhooks,
)
from concord_environment.api import (
    environment as environment_routes,
)
from concord_environment.api.errors import RESPONSES, add_error_handlers
from concord_environment.api.modalities import calendars_router, modality_routes
from concord_environment.environment import Environment
from concord_environment.mcp import PATH, McpEndpoint
from concord_environment.notices.webhooks import Webhooks
from concord_environment.persistence.keeper import Keeper, keep_saved
from concord_environment.settings import EnvironmentSettings

ROUTERS = (
    keys.router,
    clock.router,
    simulation.router,
    history.router,
    holds.router,
    snapshots.router,
    environment_routes.router,
    events.router,
    scenario.router,
    calendars_router,
    access_logs.router,
    webhooks.router,
    files.router,
)


def create_app(environment: Environment, settings: EnvironmentSettings) -> FastAPI:
    """The environment as an ASGI app."""

    environment.webhooks = Webhooks(PeerUrls(settings.allowed_peer_networks))
    keeper, mcp = Keeper(settings.snapshot_file), McpEndpoint(environment, settings.max_body_bytes)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:  # noqa: ARG001 - FastAPI's signature
        tasks = [
            asyncio.create_task(environment.webhooks.deliver_from(environment.bus)),
            asyncio.create_task(follow_wall_clock(environment)),
            asyncio.create_task(keep_saved(environment, keeper)),
        ]
        async with mcp.running():
            yield
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await keeper.save(environment)

    app = FastAPI(
        title="Concord environment",
        version=__version__,
        description="A simulated user's email, SMS, calendar and chat, in simulated time.",
        lifespan=lifespan,
    )
    app.state.environment = environment
    app.state.keeper = keeper
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.add_middleware(AccessLogging, environment=environment)
    add_error_handlers(app)
    _add_open_routes(app)
    for router in (*ROUTERS, *modality_routes()):
        app.include_router(router, responses=RESPONSES)
    app.include_router(socket.router)
    app.router.routes.append(Route(PATH, endpoint=mcp))
    return app


def _add_open_routes(app: FastAPI) -> None:
    @app.get("/", tags=["open"])
    async def root() -> dict[str, str]:
        """What this is."""
        return {"name": "Concord environment", "version": __version__, "docs": "/docs"}

    @app.get("/health", tags=["open"])
    async def health() -> dict[str, str]:
        """Whether the process serves."""
        return {"status": "healthy"}
