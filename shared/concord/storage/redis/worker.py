"""Workers of the job queue: arq, with retries, dead letters and reconnection to Redis."""

import asyncio
import logging
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

import structlog
from arq.connections import ArqRedis
from arq.constants import in_progress_key_prefix
from arq.worker import Function, Retry, Worker, func
from opentelemetry.trace import SpanKind
from pydantic import JsonValue
from redis.exceptions import RedisError

from concord.assessment.jobs import Job, Queue, assessment_of
from concord.errors import StorageUnavailableError
from concord.storage import JobFunction, OnDeadLetter, RetryLater
from concord.storage.job_policy import HEALTHY_S, HEARTBEAT_S, LEASE_S, RECONNECT_S, WorkerPolicy
from concord.storage.redis import keys
from concord.storage.redis.connection import WORK_RETRY_S, from_json, open_redis, to_json
from concord.storage.redis.jobs import NOW_MS, ArqJobQueue, tell_ended
from concord.tracing import ASSESSMENT_ID, TRIAL_ID, fail, received, span

logger = logging.getLogger(__name__)

_GRACE_S: Final = 1.0
"""How much later than the job's own limit arq's limit is. It should never be reached."""

_LONGEST_WAIT_S: Final = 5.0
"""Less than the time limit of an answer from Redis."""

_FIND_DUE: Final = f"{NOW_MS}return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])"

_TAKE: Final = f"""{NOW_MS}
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or tonumber(score) > now then return false end
return redis.call('SET', KEYS[2], '1', 'NX', 'PX', ARGV[2]) and score
"""

_IDS: Final = {"assessment_id": ASSESSMENT_ID, "trial_id": TRIAL_ID}
"""The arguments of jobs that are in log lines, and their names in spans."""

OnAttempt = Callable[[str, Literal["completed", "retried", "failed"], float], None]
"""Called after each attempt at a job with the job's function, the attempt's outcome, and its duration (seconds).
`retried`: the job runs again; `failed`: it is a dead letter."""


async def run_worker(
    url: str,
    queue: Queue,
    functions: Mapping[str, JobFunction],
    policy: WorkerPolicy,
    on_dead_letter: OnDeadLetter,
    *,
    stop: asyncio.Event,
    on_attempt: OnAttempt = lambda *_: None,
    note: str = "",
) -> None:
    """Works on a queue until `stop` is set. `note`: see `JobQueue.worker_note`.

    Then it takes no more jobs, and lets running ones finish for `completion_wait_s`. If Redis is lost, the worker
    reconnects and its unfinished jobs are run again. A killed worker's jobs are run again after `LEASE_S`.
    """
    while not stop.is_set():
        redis = open_redis(url, retry_s=WORK_RETRY_S)
        runner = _Runner(queue, policy, ArqJobQueue(redis), on_dead_letter, on_attempt)
        worker = _LeasingWorker(
            [runner.wrap(name, function) for name, function in functions.items()],
            redis_pool=redis,
            queue_name=keys.queue(queue),
            due=keys.due(queue),
            handle_signals=False,
            job_completion_wait=policy.completion_wait_s,
            max_jobs=policy.max_jobs,
            poll_delay=0,  # `_LeasingWorker` waits itself
            wait_s=policy.poll_s,
            job_serializer=to_json,
            job_deserializer=from_json,
        )
        beating = asyncio.create_task(_beat(redis, queue, worker, note, policy.heartbeat_file))
        try:
            await _run_until_stopped(worker, stop)
        finally:
            beating.cancel()


class _LeasingWorker(Worker):
    """A worker whose jobs are leased: arq's mark of a running job lasts for `LEASE_S`, and not for the job's limit.

    It takes a job once it is queued, and tells those who wait for a job that it has ended. arq would look for new jobs,
    and its callers for results, every so often. Jobs are due by Redis's clock, not by this machine's.
    """

    def __init__(self, *args: Any, due: str, wait_s: float, **kwargs: Any) -> None:  # noqa: ANN401 - arq's arguments
        """`due`: the list that wakes it; `wait_s`: how long it waits before it looks for jobs without word, such as
        those that are due again."""
        super().__init__(*args, **kwargs)
        self._due = due
        self._find_due = self.pool.register_script(_FIND_DUE)
        self._take = self.pool.register_script(_TAKE)
        self._wait_s = min(wait_s, _LONGEST_WAIT_S)
        self._of_one = max(1, self.max_jobs - 1)
        self._has_place = asyncio.Event()

    @property
    def running(self) -> frozenset[str]:
        """The ids of the jobs that run here."""
        return frozenset(job_id for job_id, task in self.tasks.items() if not task.done())

    async def start_jobs(self, job_ids: list[bytes]) -> None:
        """Starts jobs, but none that runs here already: its lease may run out while the event loop is blocked.

        The jobs of one assessment leave a place free, for those of others.
        """
        for job_id in job_ids:
            if self.job_counter >= self.max_jobs:
                return
            running, name = self.running, job_id.decode()
            beside = sum(assessment_of(each) == assessment_of(name) for each in running)
            if name not in running and beside < self._of_one:
                await self._start(name)

    async def _start(self, job_id: str) -> None:
        """Starts a job, unless it runs elsewhere, has ended or is due later. As arq does it, by Redis's clock."""
        names = [self.queue_name, in_progress_key_prefix + job_id]
        score = await self._take(names, [job_id, round(1000 * LEASE_S)])
        if score is not None:
            await self.sem.acquire()
            self.job_counter += 1
            self.tasks[job_id] = task = self.loop.create_task(self.run_job(job_id, int(float(score))))
            task.add_done_callback(lambda _: self._release_sem_dec_counter_on_complete())

    async def finish_job(self, job_id: str, finish: bool, *args: Any) -> None:  # noqa: ANN401 - arq's arguments
        """Removes a job from the queue, unless it is to run again."""
        await super().finish_job(job_id, finish, *args)
        if finish:
            await tell_ended(self.pool, job_id)

    async def finish_failed_job(self, job_id: str, result_data: bytes | None) -> None:
        """Removes a job from the queue that could not be run."""
        await super().finish_failed_job(job_id, result_data)
        await tell_ended(self.pool, job_id)

    async def _poll_iteration(self) -> None:
        self._has_place.clear()
        if self.allow_pick_jobs and self.job_counter < self.max_jobs:
            await self.start_jobs(await self._find_due([self.queue_name], [self.queue_read_limit]))
        for job_id, task in list(self.tasks.items()):
            if task.done():
                del self.tasks[job_id]
                task.result()
        if self.allow_pick_jobs and len(self.running) < self._of_one:
            await self.pool.execute_command("BLPOP", self._due, self._wait_s)  # type: ignore[no-untyped-call]  # redis-py
            return
        # Another worker has a place for the next job, unless it is of another assessment.
        with suppress(TimeoutError):
            async with asyncio.timeout(self._wait_s):
                await self._has_place.wait()

    def _release_sem_dec_counter_on_complete(self) -> None:
        super()._release_sem_dec_counter_on_complete()
        self._has_place.set()


async def _beat(redis: ArqRedis, queue: Queue, worker: _LeasingWorker, note: str, file: Path | None) -> None:
    """Renews the queue's health record, and the leases of the worker's jobs.

    arq's own health record would expire a second after its renewal is due. The file is touched without Redis too: to
    restart workers would not end an outage of Redis.
    """
    while True:
        if file is not None:
            _touch(file)
        with suppress(RedisError, OSError):
            async with redis.pipeline(transaction=False) as pipe:
                pipe.psetex(keys.health(queue), round(1000 * HEALTHY_S), note)
                for job_id in worker.running:
                    pipe.pexpire(f"{in_progress_key_prefix}{job_id}", round(1000 * LEASE_S))
                await pipe.execute()
        await asyncio.sleep(HEARTBEAT_S)


def _touch(file: Path) -> None:
    file.touch()


async def _run_until_stopped(worker: Worker, stop: asyncio.Event) -> None:
    async def stop_gracefully() -> None:
        await stop.wait()
        worker.handle_sig_wait_for_completion(signal.SIGTERM)

    stopping = asyncio.create_task(stop_gracefully())
    try:
        await worker.async_run()
    except asyncio.CancelledError:
        if not stop.is_set():
            raise
    except (RedisError, OSError) as error:
        logger.warning("lost the connection to Redis, restarting the worker: %s: %s", type(error).__name__, error)
        await asyncio.sleep(RECONNECT_S)
    finally:
        stopping.cancel()
        await _close(worker)


async def _close(worker: Worker) -> None:
    for task in worker.tasks.values():
        task.cancel()
    await asyncio.gather(*worker.tasks.values(), return_exceptions=True)
    await worker.pool.aclose()


class _Runner:
    """Runs one job under the policy: timeout, retries with backoff, and a dead letter on permanent failure."""

    def __init__(
        self,
        queue: Queue,
        policy: WorkerPolicy,
        jobs: ArqJobQueue,
        on_dead_letter: OnDeadLetter,
        on_attempt: OnAttempt,
    ) -> None:
        self._queue = queue
        self._policy = policy
        self._jobs = jobs
        self._on_dead_letter = on_dead_letter
        self._on_attempt = on_attempt

    def wrap(self, name: str, function: JobFunction) -> Function:
        """Wraps a function for arq. arq's own limits are a little higher, as a second line of defence."""

        async def run(
            context: dict[str, Any], arguments: dict[str, JsonValue], sent: dict[str, str] | None = None
        ) -> None:
            job = Job(function=name, job_id=context["job_id"], queue=self._queue, arguments=arguments)
            attempt: int = context["job_try"]
            ids = {key: value for key in _IDS if isinstance(value := arguments.get(key), str)}
            attributes: dict[str, str | int] = {_IDS[key]: value for key, value in ids.items()}
            with (
                structlog.contextvars.bound_contextvars(job=job.job_id, attempt=attempt, **ids),
                span(
                    f"job {name}",
                    attributes | {"concord.attempt": attempt},
                    parent=received(sent),
                    kind=SpanKind.CONSUMER,
                ),
            ):
                await self._run(job, function, attempt)

        return func(
            run,  # type: ignore[arg-type]  # arq types its coroutines with *args: Any
            name=name,
            keep_result=0,
            timeout=self._policy.timeout_s + _GRACE_S,
            max_tries=self._policy.max_tries + 10,
        )

    async def _run(self, job: Job, function: JobFunction, attempt: int) -> None:
        began = time.perf_counter()
        outcome: Literal["completed", "retried", "failed"] = "failed"
        try:
            outcome = "completed" if await self._attempt(job, function, attempt) else "failed"
        except (Retry, asyncio.CancelledError):
            outcome = "retried"
            raise
        finally:
            self._on_attempt(job.function, outcome, time.perf_counter() - began)

    async def _attempt(self, job: Job, function: JobFunction, attempt: int) -> bool:
        """Runs a job. Returns whether it completed, or is a dead letter. Raises Retry if it is to run again."""
        if attempt > self._policy.max_tries:
            await self._give_up(job, f"gave up after {self._policy.max_tries} tries (the worker died each time)", None)
            return False
        try:
            async with asyncio.timeout(self._policy.timeout_s):
                await function(job.arguments)
            return True
        except (RetryLater, StorageUnavailableError, TimeoutError) as error:
            await self._retry(job, attempt, error)
        except Exception as error:
            logger.exception("job %s failed", job.job_id)
            await self._give_up(job, f"{type(error).__name__}: {error}", error)
        return False

    async def _retry(self, job: Job, attempt: int, error: Exception) -> None:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        if attempt >= self._policy.max_tries:
            await self._give_up(job, f"{reason} (try {attempt} of {self._policy.max_tries})", error)
            return
        delay = self._policy.pause_s(attempt)
        logger.warning("job %s failed: %s; attempt %d in %.1f s", job.job_id, reason, attempt + 1, delay)
        with suppress(StorageUnavailableError):  # it then runs again at once
            await self._jobs.defer(job, delay)
        raise Retry

    async def _give_up(self, job: Job, error: str, raised: Exception | None) -> None:
        logger.error("job %s failed permanently and is a dead letter: %s", job.job_id, error)
        fail(error)
        await self._jobs.bury(job, error)
        await self._on_dead_letter(job, error, raised)
