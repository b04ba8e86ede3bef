"""The collector's app: its routes on one connection to storage."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from concord.reports import StepBatch
from concord.service import BodyLimit, probe_routes
from concord.storage import connect
from concord_collector import __version__
from concord_collector.agents import agent_routes
from concord_collector.instruments import Instruments
from concord_collector.settings import CollectorSettings
from concord_collector.traces import trace_routes


def create_app(settings: CollectorSettings) -> FastAPI:
    """The collector as an ASGI app. It starts without Redis and says so at `/readyz`."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with connect(settings.redis_url) as storage:
            instruments = Instruments()
            app.include_router(trace_routes(storage.traces, instruments))
            app.include_router(agent_routes(storage.registry))
            app.include_router(probe_routes(storage.ping, instruments.registry))
            yield

    app = FastAPI(title="Concord collector", version=__version__, lifespan=lifespan)
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]  # FastAPI's documented way to extend the schema
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
        _, models = models_json_schema([(StepBatch, "validation")], ref_template="#/components/schemas/{model}")
        schema["components"]["schemas"] |= models["$defs"]
        app.openapi_schema = schema
    return app.openapi_schema
