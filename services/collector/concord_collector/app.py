"""The collector as an ASGI app: wires endpoints, limits and storage together."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from fastapi import FastAPI
from pydantic.json_schema import models_json_schema

from concord.errors import StorageUnavailableError
from concord.service.middleware import BodyLimit, TokenPathLimit
from concord.service.probes import probe_routes
from concord.storage import OpenTraceLimits, TraceLimits
from concord.storage.connection import Storage, connect
from concord.trace.report import StepBatch
from concord.trust.redaction import scan_with_numpy
from concord.trust.tokens import ClosedTrials, TokenKeys
from concord.trust.urls import PeerUrls
from concord.version import VERSION
from concord_collector.admission import Admission, Authenticator, Backpressure, RateLimiter, storage_unavailable
from concord_collector.metrics import Metrics, TimingMiddleware
from concord_collector.otlp import OpenCollection, open_router, otlp_router
from concord_collector.registry import registry_router
from concord_collector.settings import CollectorSettings
from concord_collector.traces import TraceWriter, traces_router

PATHS: Final = frozenset({"/peers", "/register", "/traces", "/v1/traces"})
"""The paths for participants and agents, and the only ones that accept tokens."""

_BURST_S: Final = 10
_MINUTE_S: Final = 60


def create_app(settings: CollectorSettings) -> FastAPI:
    """The collector as an ASGI app. It starts without Redis, and `/readyz` reports that."""
    metrics = Metrics()
    scan_with_numpy()

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

    app = FastAPI(title="Concord collector", version=VERSION, lifespan=lifespan)
    app.state.metrics = metrics.registry
    app.add_exception_handler(StorageUnavailableError, storage_unavailable)
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes, others={"/v1/traces": settings.max_export_bytes})
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
    admission = Admission(authenticator, backpressure, report_rate, metrics)
    writer = TraceWriter(storage.traces, metrics, TraceLimits(settings.max_trace_bytes, settings.max_steps))
    registration_rate = RateLimiter(settings.registrations_per_minute / _MINUTE_S, _MINUTE_S)
    app.include_router(traces_router(admission, writer, settings.max_inflated_bytes))
    collection = _open_collection(settings, storage) if settings.open else None
    app.include_router(otlp_router(admission, writer, settings.max_export_bytes, collection))
    if collection is not None:
        app.include_router(open_router(collection, metrics))
    peer_urls = PeerUrls(settings.hosts.networks, exact=settings.hosts)
    app.include_router(registry_router(storage.registry, authenticator, peer_urls, registration_rate))
    app.include_router(probe_routes(backpressure.check_readiness, metrics.registry))


def _open_collection(settings: CollectorSettings, storage: Storage) -> OpenCollection:
    limits = OpenTraceLimits(settings.open_traces, settings.open_retention_s, settings.open_bytes)
    return OpenCollection(storage.open_traces, storage.traces, storage.assessments, limits, storage.now)


def _openapi(app: FastAPI) -> dict[str, Any]:
    """FastAPI's document, with the models of the bodies that endpoints read themselves."""
    schema = FastAPI.openapi(app)
    _, models = models_json_schema([(StepBatch, "validation")], ref_template="#/components/schemas/{model}")
    schema["components"]["schemas"] |= models["$defs"]
    return schema
