"""The ASGI app that serves one environment."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress

from fastapi import FastAPI
from starlette.routing import Route

from concord.service.middleware import BodyLimit
from concord.trust.urls import PeerUrls
from concord.version import VERSION
from concord_environment.access.log import AccessLogging
from concord_environment.api import (
    access_logs,
    batches,
    clock,
    events,
    files,
    history,
    holds,
    keys,
    metrics,
    people,
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
from concord_environment.notices.bus import no_commit
from concord_environment.notices.webhooks import Webhooks
from concord_environment.people import PeopleRouting
from concord_environment.persistence.middleware import CommitBeforeResponse
from concord_environment.persistence.store import Store
from concord_environment.persistence.writer import JournalWriter
from concord_environment.settings import EnvironmentSettings
from concord_environment.time_advance import follow_wall_clock

ROUTERS = (
    keys.router,
    clock.router,
    simulation.router,
    history.router,
    holds.router,
    snapshots.router,
    environment_routes.router,
    batches.router,
    events.router,
    scenario.router,
    calendars_router,
    access_logs.router,
    metrics.router,
    people.router,
    webhooks.router,
    files.router,
)


def create_app(
    environment: Environment,
    settings: EnvironmentSettings,
    store: Store | None = None,
    on_failure: Callable[[], None] = lambda: None,
) -> FastAPI:
    """The ASGI app of an environment. With a store, it commits every change before it responds.

    When a change cannot be committed, the app calls `on_failure` and responds 503 to every call from then on.
    """
    environment.webhooks = Webhooks(PeerUrls(settings.allowed_peer_networks), environment.webhooks.all())
    writer = None if store is None else JournalWriter(environment, store, on_failure)
    environment.bus.commit = no_commit if writer is None else writer.commit
    mcp = McpEndpoint(settings.max_body_bytes)
    app = FastAPI(
        title="Concord environment",
        version=VERSION,
        description="A simulated user's email, SMS, chat, calendar, contacts, location, weather and preferences, in "
        "simulated time. All calls except `/`, `/health` and the documentation require an API key in the header "
        "`X-API-Key`.",
        lifespan=_lifespan(environment, writer, mcp),
    )
    app.state.environment = environment
    app.state.journal_writer = writer
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    if writer is not None:
        app.add_middleware(CommitBeforeResponse, writer=writer)
    app.add_middleware(AccessLogging)
    app.add_middleware(PeopleRouting, root=environment)
    add_error_handlers(app)
    _add_routes(app, mcp)
    return app


def _lifespan(
    environment: Environment, writer: JournalWriter | None, mcp: McpEndpoint
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:  # noqa: ARG001 - FastAPI's signature
        async with AsyncExitStack() as stack:
            if writer is not None:
                await stack.enter_async_context(writer.running())
            tasks = [
                asyncio.create_task(environment.webhooks.deliver_from(environment.bus)),
                asyncio.create_task(follow_wall_clock(environment, environment.bus.commit)),
            ]
            async with mcp.running():
                yield
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    return lifespan


def _add_routes(app: FastAPI, mcp: McpEndpoint) -> None:
    _add_open_routes(app)
    # The router tries them in order, and most calls are to the modalities.
    for router in (*modality_routes(), *ROUTERS):
        app.include_router(router, responses=RESPONSES)
    app.include_router(socket.router)
    app.router.routes.append(Route(PATH, endpoint=mcp))


def _add_open_routes(app: FastAPI) -> None:
    @app.get("/", tags=["open"])
    async def root() -> dict[str, str]:
        """Returns the name and version of the service, and the path of its documentation."""
        name = "Concord environment"
        return {"name": name, "message": f"{name} is running", "version": VERSION, "docs_url": "/docs"}

    @app.get("/health", tags=["open"])
    async def health() -> dict[str, str]:
        """Returns `healthy` while the process serves calls."""
        return {"status": "healthy"}
