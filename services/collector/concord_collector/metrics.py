"""The collector's Prometheus metrics, and the middleware that times requests."""

import time
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from concord_collector.storage_metrics import StorageMetrics

STEP_OUTCOMES: Final = ("accepted", "duplicate", "late", "rejected")
REJECTIONS: Final = ("invalid", "foreign_trace", "trace_full")
STATUSES: Final = (202, 400, 401, 403, 413, 415, 429, 503)

_TIMED_PATHS: Final = frozenset({"/traces", "/v1/traces"})


class Metrics:
    """The collector's metrics, on a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        steps = Counter(
            "concord_collector_steps_total", "Steps by what became of them.", ["outcome"], registry=self.registry
        )
        rejected = Counter(
            "concord_collector_rejected_total",
            "Steps and spans refused, by reason.",
            ["reason"],
            registry=self.registry,
        )
        self._batches = Counter(
            "concord_collector_batches_total", "Batches by the answer's status.", ["status"], registry=self.registry
        )
        self.wire_bytes = Counter(
            "concord_collector_wire_bytes_total", "Bytes of requests as they came.", registry=self.registry
        )
        self.bytes = Counter("concord_collector_body_bytes_total", "Bytes of batches taken.", registry=self.registry)
        self.stored_bytes = Counter(
            "concord_collector_stored_bytes_total", "Bytes of batches as stored, compressed.", registry=self.registry
        )
        self.dropped = Counter(
            "concord_collector_reporter_dropped_total",
            "Steps that reporters said they had to drop.",
            registry=self.registry,
        )
        self.seconds = Histogram(
            "concord_collector_batch_seconds",
            "Time to take a batch, storage included.",
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
            registry=self.registry,
        )
        self.storage = StorageMetrics()
        self.registry.register(self.storage)
        # A counter that appears with its first event has no rate for this event. (And to find one takes as long as to
        # count with it five times.)
        self.steps: Final = {outcome: steps.labels(outcome=outcome) for outcome in STEP_OUTCOMES}
        self.rejected: Final = {reason: rejected.labels(reason=reason) for reason in REJECTIONS}
        self._by_status = {status: self._batches.labels(status=status) for status in STATUSES}

    def count_answer(self, status: int, seconds: float) -> None:
        """Counts the answer to a batch or an export."""
        self.seconds.observe(seconds)
        (self._by_status.get(status) or self._batches.labels(status=status)).inc()


class TimingMiddleware:
    """ASGI middleware that counts responses to reports by status, and their duration.

    It stands outside of all checks, so that it counts refused requests too.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on to the app."""
        if scope["type"] != "http" or scope["path"] not in _TIMED_PATHS:
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()

        async def count(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.count_answer(message["status"], time.perf_counter() - started)
            await send(message)

        await self._app(scope, receive, count)
