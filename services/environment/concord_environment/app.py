"""The ASGI app that serves one environment."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from fastapi import FastAPI
from starlette.routing import Route

from concord.service.middleware import BodyLimit
from concord.version import VERSION
from concord_environment.access.log import AccessLogging
from concord_environment.api import (
    access_logs,
    batches,
    clock,
    events,
    history,
    keys,
    metrics,
    people,
    scenario,
    simulation,
)
from concord_environment.api import (
    environment as environment_routes,
)
from concord_environment.api.errors import RESPONSES, add_error_handlers
from concord_environment.api.modalities import calendars_router, modality_routes
from concord_environment.environment import Environment
from concord_environment.mcp import PATH, McpEndpoint
from concord_environment.people import PeopleRouting
from concord_environment.settings import EnvironmentSettings
from concord_environment.time_advance import follow_wall_clock

ROUTERS = (
    keys.router,
    clock.router,
    simulation.router,
    history.router,
    environment_routes.router,
    batches.router,
    events.router,
    scenario.router,
    calendars_router,
    access_logs.router,
    metrics.router,
    people.router,
)


def create_app(environment: Environment, settings: EnvironmentSettings) -> FastAPI:
    """The ASGI app of an environment."""
    mcp = McpEndpoint(settings.max_body_bytes)
    app = FastAPI(
        title="Concord environment",
        version=VERSION,
        description="A simulated user's email, SMS, chat, calendar, contacts, location, weather and preferences, in "
        "simulated time. All calls except `/`, `/health` and the documentation require an API key in the header "
        "`X-API-Key`.",
        lifespan=_lifespan(environment, mcp),
    )
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.add_middleware(AccessLogging)
    app.add_middleware(PeopleRouting, root=environment)
    add_error_handlers(app)
    _add_routes(app, mcp)
    return app


def _lifespan(environment: Environment, mcp: McpEndpoint) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:  # noqa: ARG001 - FastAPI's signature
        following = asyncio.create_task(follow_wall_clock(environment))
        async with mcp.running():
            yield
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following

    return lifespan


def _add_routes(app: FastAPI, mcp: McpEndpoint) -> None:
    _add_open_routes(app)
    # The router tries them in order, and most calls are to the modalities.
    for router in (*modality_routes(), *ROUTERS):
        app.include_router(router, responses=RESPONSES)
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
