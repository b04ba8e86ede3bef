"""The collector's app: its routes on one connection to storage."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic.json_schema import models_json_schema

from concord.service import BodyLimit, TokenDoor, probe_routes
from concord.storage import TraceLimits
from concord.storage.redis import Storage, connect
from concord.trace.report import StepBatch
from concord.trust.closed_trials import ClosedTrials
from concord.trust.keyring import Keyring
from concord.trust.urls import PeerUrls
from concord_collector import __version__
from concord_collector.callers import Callers
from concord_collector.instruments import Instruments
from concord_collector.keeper import Keeper
from concord_collector.measure import Measure
from concord_collector.otlp import otlp_routes
from concord_collector.pressure import Pressure
from concord_collector.rates import Rate
from concord_collector.reception import Reception
from concord_collector.registry import registry_routes
from concord_collector.settings import CollectorSettings
from concord_collector.traces import trace_routes

_OPEN_TO_TOKENS: Final = frozenset({"/peers", "/register", "/traces", "/v1/traces"})
_BURST_S: Final = 10
_MINUTE_S: Final = 60


def create_app(settings: CollectorSettings) -> FastAPI:
    """The collector as an ASGI app. It starts without Redis and says so at `/readyz`."""
    instruments = Instruments()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with connect(settings.redis_url) as storage:
            pressure = Pressure(
                storage,
                instruments,
                memory_bytes=settings.redis_memory_bytes,
                watermark=settings.redis_watermark,
            )
            _include_routes(app, settings, storage, instruments, pressure)
            watching = asyncio.create_task(pressure.watch())
            yield
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    app = FastAPI(title="Concord collector", version=__version__, lifespan=lifespan)
    app.state.documented = []
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.add_middleware(Measure, instruments=instruments)
    app.add_middleware(TokenDoor, opens=_OPEN_TO_TOKENS.__contains__)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]  # FastAPI's documented way to extend the schema
    return app


def _include_routes(
    app: FastAPI, settings: CollectorSettings, storage: Storage, instruments: Instruments, pressure: Pressure
) -> None:
    keyring = Keyring(settings.token_secret, storage.secrets.token_secret)
    callers = Callers(keyring, ClosedTrials(storage.traces.is_closed), storage.registry, open_house=settings.open)
    rate = Rate(settings.rate_bytes_per_s, _BURST_S)
    reception = Reception(callers, pressure, rate, instruments, max_inflated_bytes=settings.max_inflated_bytes)
    keeper = Keeper(storage.traces, instruments, TraceLimits(settings.max_trace_bytes, settings.max_steps))
    registrations = Rate(settings.registrations_per_minute / _MINUTE_S, _MINUTE_S)
    _mount_bare(app, trace_routes(reception, keeper))
    _mount_bare(app, otlp_routes(reception, keeper))
    peer_urls = PeerUrls(settings.hosts.networks, exact=settings.hosts)
    app.include_router(registry_routes(storage.registry, callers, peer_urls, registrations))
    app.include_router(probe_routes(pressure.ready, instruments.registry))


def _mount_bare(app: FastAPI, router: APIRouter) -> None:
    """Mounts routes that take a request and give a response, without what FastAPI would do around them.

    They use nothing of it, and it takes a third of the time that a batch does. Their documentation stays FastAPI's.
    """
    for route in router.routes:
        assert isinstance(route, APIRoute)  # nosec B101  # noqa: S101 - our own routers have no others
        app.router.add_route(route.path, route.endpoint, methods=sorted(route.methods or ()), include_in_schema=False)
        app.state.documented.append(route)


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, routes=[*app.state.documented, *app.routes])
        _, models = models_json_schema([(StepBatch, "validation")], ref_template="#/components/schemas/{model}")
        schema["components"]["schemas"] |= models["$defs"]
        app.openapi_schema = schema
    return app.openapi_schema
