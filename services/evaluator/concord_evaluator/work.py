"""The work on a queue: jobs over storage, the judge and the pool, until the program stops."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, start_http_server
from pydantic import JsonValue

from concord.assessment.jobs import JOBS, Job, Queue
from concord.llm import NO_KEY, LLMSettings
from concord.processes import ProcessPool
from concord.storage.connection import WORK_RETRY_S, Storage, connect, run_worker
from concord_evaluator.plugins import has_plugins
from concord_evaluator.settings import EvaluatorSettings

if TYPE_CHECKING:
    from concord_evaluator.worker.jobs import EvaluatorJobs


# The workers' Prometheus metrics, and the port that serves them.


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


# The work on a queue.

_COMPUTING: Final = "concord_evaluator.worker.pool_functions"


def broken_plugin() -> str | None:
    """Which installed metric, evaluator or scorer cannot be used, and why; None if all can."""
    if not has_plugins():
        return None  # and nothing is loaded: the built-in ones take a third of a worker's start
    from concord_evaluator.metrics import METRICS
    from concord_evaluator.pipeline import EVALUATORS
    from concord_evaluator.scorers import SCORERS

    return METRICS.fault or EVALUATORS.fault or SCORERS.fault


def process_pool(settings: EvaluatorSettings, instruments: WorkerInstruments) -> ProcessPool:
    """The pool of one program, which the workers of both queues may share."""
    return ProcessPool(
        settings.pool_processes,
        memory_bytes=settings.pool_memory_bytes,
        on_replaced=instruments.replaced.inc,
    )


async def work(
    queue: Queue, settings: EvaluatorSettings, pool: ProcessPool, instruments: WorkerInstruments, stop: asyncio.Event
) -> None:
    """Runs a worker on a queue until `stop` is set."""
    async with connect(settings.redis_url, settings.queue_redis_url, retry_s=WORK_RETRY_S) as storage:
        jobs = _Jobs(storage, settings, pool)
        await run_worker(
            settings.queue_redis_url or settings.redis_url,
            queue,
            {job.function: partial(jobs.run, queue, job.function) for job in JOBS if job.queue is queue},
            settings.policy(queue),
            jobs.on_dead_letter,
            stop=stop,
            on_attempt=partial(instruments.count_attempt, queue),
            note="" if jobs.has_model else NO_KEY,
        )


class _Jobs:
    """The evaluator's jobs, whose modules the first job loads: they take a third of a worker's start."""

    def __init__(self, storage: Storage, settings: EvaluatorSettings, pool: ProcessPool) -> None:
        self._storage = storage
        self._settings = settings
        self._pool = pool
        self._llm = LLMSettings()
        self._loading: asyncio.Task[EvaluatorJobs] | None = None

    @property
    def has_model(self) -> bool:
        """Whether a language model can be asked."""
        return self._llm.available

    async def run(self, queue: Queue, function: str, arguments: Mapping[str, JsonValue]) -> None:
        """Runs a job. Raises what it raises."""
        await (await self._loaded()).functions(queue)[function](arguments)

    async def on_dead_letter(self, job: Job, error: str, raised: Exception | None) -> None:
        """See `OnDeadLetter`."""
        await (await self._loaded()).on_dead_letter(job, error, raised)

    async def _loaded(self) -> "EvaluatorJobs":
        if self._loading is None:
            self._loading = asyncio.create_task(self._load())
        return await asyncio.shield(self._loading)

    async def _load(self) -> "EvaluatorJobs":
        # In a thread, so that the program's other parts go on, and beside it in the pool's first process.
        jobs, _ = await asyncio.gather(asyncio.to_thread(self._new_jobs), self._pool.load(_COMPUTING))
        return jobs

    def _new_jobs(self) -> "EvaluatorJobs":
        from concord_evaluator.criteria.evaluation import CriteriaEvaluator
        from concord_evaluator.judge import TrialJudge
        from concord_evaluator.worker.jobs import EvaluatorJobs

        storage, settings, llm = self._storage, self._settings, self._llm
        judge = TrialJudge(
            llm, samples=settings.judge_samples, deadline_s=settings.judge_deadline_s, cache=storage.answers
        )
        criteria = CriteriaEvaluator(llm, deadline_s=settings.judge_deadline_s, cache=storage.answers)
        calls = self._pool.calls(cpu_s=settings.pool_cpu_s, limit_s=settings.pool_limit_s)
        return EvaluatorJobs(
            storage.traces, storage.assessments, storage.jobs, calls, judge, settings.evaluation_limits, criteria
        )
