"""The probes of a service: is the process alive, is it ready, and what has it done so far."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector, generate_latest

READY_S: Final = 2.0
"""A probe answers soon, however patient the service itself is with what it depends on."""

Ready = Callable[[], Awaitable[None]]
"""Returns when the service can do its work; raises with the reason when it cannot."""


def probe_routes(ready: Ready, metrics: CollectorRegistry) -> APIRouter:
    """`/healthz` (the process only), `/readyz` (what it depends on: 503 with the reason), `/metrics` (Prometheus)."""
    router = APIRouter(tags=["probes"])

    @router.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "healthy"}

    @router.get("/readyz")
    async def readyz(response: Response) -> dict[str, str]:
        try:
            async with asyncio.timeout(READY_S):
                await ready()
        except Exception as error:
            response.status_code = 503
            return {"status": "not ready", "reason": type(error).__name__}
        return {"status": "ready"}

    @router.get("/metrics")
    async def exposition() -> Response:
        return Response(generate_latest(metrics), media_type=CONTENT_TYPE_LATEST)

    return router


def process_metrics() -> CollectorRegistry:
    """The metrics of a service that counts nothing of its own: what its process takes."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    return registry
