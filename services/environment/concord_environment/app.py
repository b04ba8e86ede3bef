"""The ASGI app that serves one environment."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress

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
from concord_environment.notices.bus import at_once
from concord_environment.notices.webhooks import Webhooks
from concord_environment.persistence.keeper import Keeper
from concord_environment.persistence.middleware import KeptBeforeAnswered
from concord_environment.persistence.store import Store
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


def create_app(
    environment: Environment,
    settings: EnvironmentSettings,
    store: Store | None = None,
    on_failure: Callable[[], None] = lambda: None,
) -> FastAPI:
    """The environment as an ASGI app, kept in a store if there is one.

    Where a change cannot be kept, the app calls `on_failure` and answers nothing but 503.
    """
    environment.webhooks = Webhooks(PeerUrls(settings.allowed_peer_networks), environment.webhooks.all())
    keeper = None if store is None else Keeper(environment, store, on_failure)
    environment.bus.kept = at_once if keeper is None else keeper.kept
    mcp = McpEndpoint(environment, settings.max_body_bytes)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:  # noqa: ARG001 - FastAPI's signature
        async with AsyncExitStack() as stack:
            if keeper is not None:
                await stack.enter_async_context(keeper.running())
            tasks = [
                asyncio.create_task(environment.webhooks.deliver_from(environment.bus)),
                asyncio.create_task(follow_wall_clock(environment, environment.bus.kept)),
            ]
            async with mcp.running():
                yield
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    app = FastAPI(
        title="Concord environment",
        version=__version__,
        description="A simulated user's email, SMS, chat, calendar, contacts, location, weather and preferences, in "
        "simulated time. All calls except `/`, `/health` and the documentation require an API key in the header "
        "`X-API-Key`.",
        lifespan=lifespan,
    )
    app.state.environment = environment
    app.state.keeper = keeper
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    if keeper is not None:
        app.add_middleware(KeptBeforeAnswered, keeper=keeper)
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
        """Returns the name and version of the service, and the path of its documentation."""
        return {"name": "Concord environment", "version": __version__, "docs": "/docs"}

    @app.get("/health", tags=["open"])
    async def health() -> dict[str, str]:
        """Returns `healthy` while the process serves calls."""
        return {"status": "healthy"}
