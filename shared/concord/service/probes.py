"""A service's probes: liveness, readiness and metrics."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector, generate_latest

READY_S: Final = 1.5
"""How long readiness asks, which may be less than the service's own retries: probes answer within two seconds."""

Ready = Callable[[], Awaitable[None]]
"""Returns if the service is ready; raises with the reason otherwise."""


def probe_routes(ready: Ready, metrics: CollectorRegistry | None = None) -> APIRouter:
    """`/healthz` (the process), `/readyz` (its dependencies: 503 with the reason), `/metrics` (Prometheus).

    `metrics` are the service's own; those of its process are added.
    """
    process = process_metrics()
    registries = [process] if metrics is None else [metrics, process]
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
        return Response(b"".join(map(generate_latest, registries)), media_type=CONTENT_TYPE_LATEST)

    return router


def process_metrics() -> CollectorRegistry:
    """The memory, CPU, descriptors and start time of this process."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    return registry
