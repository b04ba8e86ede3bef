"""The collector's Prometheus metrics: of its requests, of Redis, and of the job queues."""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from concord.assessment.jobs import Queue
from concord.storage.connection import Storage

# Metrics of Redis and of the job queues, as last measured by the collector.

REFUSALS: Final = ("OOM", "MISCONF", "READONLY", "LOADING")
"""The errors with which Redis refuses work: no memory, no disk, a replica, a restart."""


@dataclass(frozen=True, slots=True)
class QueueState:
    """A job queue: its jobs, the age of the oldest one (seconds), and whether a worker is alive."""

    depth: int
    oldest_s: float
    has_worker: bool


@dataclass(frozen=True, slots=True)
class StorageState:
    """Redis at one moment. `memory_limit` (bytes) is None if nothing limits its memory."""

    memory_used: int
    memory_limit: int | None
    queues: Mapping[Queue, QueueState]
    dead_letters: int
    errors: Mapping[str, int]
    """The number of failed commands since Redis started, by Redis's name of the error."""


async def measure(storage: Storage, memory_limit: int | None) -> StorageState:
    """The current state of storage; `memory_limit` applies in addition to Redis's own `maxmemory`. Raises
    StorageUnavailableError."""
    use, jobs = await storage.memory(), storage.jobs
    return StorageState(
        memory_used=use.used,
        memory_limit=min((each for each in (use.limit, memory_limit) if each is not None), default=None),
        queues={
            queue: QueueState(
                await jobs.depth(queue), await jobs.oldest_s(queue), await jobs.worker_note(queue) is not None
            )
            for queue in Queue
        },
        dead_letters=await jobs.count_dead_letters(),
        errors=await storage.errors(),
    )


class StorageMetrics(Collector):
    """Exports the last `state`. While it is None, Redis cannot be reached: only `concord_redis_up` is exported."""

    def __init__(self) -> None:
        self.state: StorageState | None = None

    def collect(self) -> Iterator[Metric]:
        """The metrics of the state. Several collectors of one Redis export the same figures."""
        up = self.state is not None
        yield GaugeMetricFamily("concord_redis_up", "Whether the collector reached Redis when it last tried.", value=up)
        if self.state is not None:
            yield from _redis(self.state)
            yield from _queues(self.state)


def _redis(state: StorageState) -> Iterator[Metric]:
    yield GaugeMetricFamily("concord_redis_used_bytes", "Memory that Redis uses.", value=state.memory_used)
    yield GaugeMetricFamily(
        "concord_redis_limit_bytes",
        "Memory that Redis may use; +Inf without a limit.",
        value=math.inf if state.memory_limit is None else state.memory_limit,
    )
    errors = CounterMetricFamily(
        "concord_redis_refusals", "Commands that Redis refused, by its error.", labels=["error"]
    )
    for error in REFUSALS:
        errors.add_metric([error], state.errors.get(error, 0))
    yield errors


def _queues(state: StorageState) -> Iterator[Metric]:
    depth = GaugeMetricFamily("concord_queue_depth", "Jobs that wait or run.", labels=["queue"])
    oldest = GaugeMetricFamily(
        "concord_queue_oldest_seconds", "Age of the oldest job that waits or runs.", labels=["queue"]
    )
    alive = GaugeMetricFamily(
        "concord_queue_worker_alive", "Whether a worker of the queue was alive within six seconds.", labels=["queue"]
    )
    for queue, each in state.queues.items():
        depth.add_metric([queue], each.depth)
        oldest.add_metric([queue], each.oldest_s)
        alive.add_metric([queue], each.has_worker)
    yield from (depth, oldest, alive)
    yield GaugeMetricFamily(
        "concord_dead_letters", "Jobs that failed permanently and can be replayed.", value=state.dead_letters
    )


# The collector's Prometheus metrics, and the middleware that times requests.

STEP_OUTCOMES: Final = ("accepted", "duplicate", "late", "rejected")
REJECTIONS: Final = ("invalid", "foreign_trace", "trace_full")
STATUSES: Final = (202, 400, 401, 403, 413, 415, 429, 503)

_REFUSED_REQUESTS: Final = {
    400: "requests that cannot be read",
    401: "requests without a valid token",
    403: "requests for another trial or a closed one",
    413: "requests that are too large",
    415: "requests in another content type or encoding",
    429: "requests beyond a sender's rate, to be sent again",
    503: "requests while storage is full or away, to be sent again",
}
_REFUSED_SPANS: Final = {
    "invalid": "invalid spans or steps",
    "foreign_trace": "spans or steps of another trace",
    "trace_full": "spans or steps beyond a trace's quota",
}
CUT: Final = "oversized attributes, cut"

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
        self.cut = Counter(
            "concord_collector_cut_attributes_total",
            "Oversized attributes of spans that were cut.",
            registry=self.registry,
        )
        self.storage = StorageMetrics()
        self.registry.register(self.storage)
        # A counter that appears with its first event has no rate for this event.
        self.steps: Final = {outcome: steps.labels(outcome=outcome) for outcome in STEP_OUTCOMES}
        self.rejected: Final = {reason: rejected.labels(reason=reason) for reason in REJECTIONS}
        for status in STATUSES:
            self._batches.labels(status=status)

    def refusals(self) -> dict[str, int]:
        """What this collector has refused or cut since its start, by what it is; only what there is."""
        sample = self.registry.get_sample_value
        batches, rejected = "concord_collector_batches_total", "concord_collector_rejected_total"
        counts = {
            **{text: sample(batches, {"status": str(each)}) for each, text in _REFUSED_REQUESTS.items()},
            **{text: sample(rejected, {"reason": each}) for each, text in _REFUSED_SPANS.items()},
            CUT: sample("concord_collector_cut_attributes_total"),
        }
        return {text: int(count) for text, count in counts.items() if count}

    def count_answer(self, status: int, seconds: float) -> None:
        """Counts the answer to a batch or an export."""
        self.seconds.observe(seconds)
        self._batches.labels(status=status).inc()


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
