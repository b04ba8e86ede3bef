"""Metrics of Redis and of the job queues, as last measured by the collector."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from concord.assessment.jobs import Queue
from concord.storage.connection import Storage

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
            queue: QueueState(await jobs.depth(queue), await jobs.oldest_s(queue), await jobs.has_worker(queue))
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
