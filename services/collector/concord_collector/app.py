"""The collector as an ASGI app: wires endpoints, limits and storage together."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from fastapi import APIRouter, FastAPI, HTTPException, Request, Response
from fastapi.exception_handlers import http_exception_handler
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic.json_schema import models_json_schema
from starlette.types import ASGIApp, Receive, Scope, Send

from concord.service.middleware import BodyLimit, TokenPathLimit
from concord.service.probes import probe_routes
from concord.storage import OpenTraceLimits, TraceLimits
from concord.storage.connection import Storage, connect
from concord.trace.report import StepBatch
from concord.trust.redaction import scan_with_numpy
from concord.trust.tokens import ClosedTrials, TokenKeys
from concord.trust.urls import PeerUrls
from concord.version import VERSION
from concord_collector.admission import Admission, Authenticator, Backpressure, RateLimiter
from concord_collector.metrics import Metrics, TimingMiddleware
from concord_collector.otlp import OpenCollection, open_router, otlp_router
from concord_collector.registry import registry_router
from concord_collector.settings import CollectorSettings
from concord_collector.traces import TraceWriter, traces_router

# Endpoints that are called past FastAPI's routes and layers.

Endpoint = Callable[[Request], Awaitable[Response]]
Endpoints = Mapping[tuple[str, str], Endpoint]
"""By method and path."""


class BareEndpoints:
    """An ASGI app of endpoints that need nothing but the request. It answers no others."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        request = Request(scope, receive)
        try:
            response = await self._endpoints[scope["method"], scope["path"]](request)
        except HTTPException as error:
            response = await http_exception_handler(request, error)
        await response(scope, receive, send)


class FastAPIBeside(FastAPI):
    """FastAPI beside a bare app, which gets the requests for `endpoints`.

    To receive a batch, without its steps, takes a fifth less of the time past FastAPI's layers.
    """

    def __init__(self, bare: ASGIApp, endpoints: Endpoints, **options: Any) -> None:  # noqa: ANN401 - FastAPI's
        """`options`: those of FastAPI."""
        super().__init__(**options)
        self._bare = bare
        self._endpoints = endpoints

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on to either."""
        if scope["type"] == "http" and (scope["method"], scope["path"]) in self._endpoints:
            await self._bare(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


# The app: its routes, and what their handlers share.

PATHS: Final = frozenset({"/peers", "/register", "/traces", "/v1/traces"})
"""The paths for participants and agents, and the only ones that accept tokens."""

_BURST_S: Final = 10
_MINUTE_S: Final = 60


def create_app(settings: CollectorSettings) -> FastAPI:
    """The collector as an ASGI app. It starts without Redis, and `/readyz` reports that."""
    metrics = Metrics()
    scan_with_numpy()
    bare: dict[tuple[str, str], Endpoint] = {}

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with connect(settings.redis_url, settings.queue_redis_url) as storage:
            backpressure = Backpressure(
                storage,
                metrics,
                memory_bytes=settings.redis_memory_bytes,
                watermark=settings.redis_watermark,
            )
            _include_routes(app, settings, storage, metrics, backpressure)
            await backpressure.measure()
            polling = asyncio.create_task(backpressure.poll())
            yield
            polling.cancel()
            with suppress(asyncio.CancelledError):
                await polling

    reports = TimingMiddleware(BodyLimit(BareEndpoints(bare), settings.max_body_bytes), metrics)
    app = FastAPIBeside(reports, bare, title="Concord collector", version=VERSION, lifespan=lifespan)
    app.state.bare = bare
    app.state.documented = []
    app.state.metrics = metrics.registry
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.add_middleware(TimingMiddleware, metrics=metrics)
    app.add_middleware(TokenPathLimit, accepts=PATHS.__contains__)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]  # FastAPI's documented way to extend the schema
    return app


def _include_routes(
    app: FastAPI, settings: CollectorSettings, storage: Storage, metrics: Metrics, backpressure: Backpressure
) -> None:
    token_keys = TokenKeys(settings.token_secret, storage.secrets.token_secret, storage.now)
    closed = ClosedTrials(storage.traces.is_closed)
    authenticator = Authenticator(token_keys, closed, storage.registry, allow_anonymous=settings.open)
    report_rate = RateLimiter(settings.rate_bytes_per_s, _BURST_S)
    admission = Admission(
        authenticator, backpressure, report_rate, metrics, max_inflated_bytes=settings.max_inflated_bytes
    )
    writer = TraceWriter(storage.traces, metrics, TraceLimits(settings.max_trace_bytes, settings.max_steps))
    registration_rate = RateLimiter(settings.registrations_per_minute / _MINUTE_S, _MINUTE_S)
    _mount_bare(app, traces_router(admission, writer))
    collection = _open_collection(settings, storage) if settings.open else None
    _mount_bare(app, otlp_router(admission, writer, collection))
    if collection is not None:
        app.include_router(open_router(collection))
    peer_urls = PeerUrls(settings.hosts.networks, exact=settings.hosts)
    app.include_router(registry_router(storage.registry, authenticator, peer_urls, registration_rate))
    app.include_router(probe_routes(backpressure.check_readiness, metrics.registry))


def _open_collection(settings: CollectorSettings, storage: Storage) -> OpenCollection:
    limits = OpenTraceLimits(settings.open_traces, settings.open_retention_s, settings.open_bytes)
    return OpenCollection(storage.open_traces, storage.traces, storage.assessments, limits, storage.now)


def _mount_bare(app: FastAPI, router: APIRouter) -> None:
    """Mounts endpoints that take a request and return a response, without FastAPI's own handling of either.

    FastAPI documents them all the same, and refuses other methods.
    """
    for route in router.routes:
        assert isinstance(route, APIRoute)  # nosec B101  # noqa: S101 - our own routers have no others
        methods = sorted(route.methods or ())
        app.router.add_route(route.path, route.endpoint, methods=methods, include_in_schema=False)
        app.state.bare |= {(method, route.path): route.endpoint for method in methods}
        app.state.documented.append(route)


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, routes=[*app.state.documented, *app.routes])
        _, models = models_json_schema([(StepBatch, "validation")], ref_template="#/components/schemas/{model}")
        schema["components"]["schemas"] |= models["$defs"]
        app.openapi_schema = schema
    return app.openapi_schema
