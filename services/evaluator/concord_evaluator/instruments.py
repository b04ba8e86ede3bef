"""The workers' Prometheus metrics, and the port that serves them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, start_http_server

from concord.assessment.jobs import JOBS, Queue


class WorkerInstruments:
    """The metrics of the workers on `queues` of one process, in a registry of their own."""

    def __init__(self, *queues: Queue) -> None:
        self.registry = CollectorRegistry()
        self._attempts = Counter(
            "concord_evaluator_jobs_total",
            "Attempts at jobs, by how they ended.",
            ["queue", "function", "outcome"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "concord_evaluator_job_seconds",
            "Duration of attempts at jobs.",
            ["queue", "function"],
            buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120),
            registry=self.registry,
        )
        self.replaced = Counter(
            "concord_evaluator_pool_replacements_total",
            "Processes of the worker's pool that died or exceeded a limit, and were replaced.",
            registry=self.registry,
        )
        for job in JOBS:
            if job.queue in queues:
                self._seconds.labels(job.queue, job.function)
                for outcome in ("completed", "retried", "failed"):
                    self._attempts.labels(job.queue, job.function, outcome)

    def count_attempt(
        self, queue: Queue, function: str, outcome: Literal["completed", "retried", "failed"], seconds: float
    ) -> None:
        """Counts an attempt at a job of a queue: see `OnAttempt`."""
        self._attempts.labels(queue, function, outcome).inc()
        self._seconds.labels(queue, function).observe(seconds)

    @contextmanager
    def served(self, host: str, port: int | None) -> Iterator[None]:
        """Serves `/metrics` from a thread for the duration of the block, if there is a port, with those of the process.

        Raises OSError if the port is in use.
        """
        if port is None:
            yield
            return
        ProcessCollector(registry=self.registry)
        server, thread = start_http_server(port, host, self.registry)
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
