"""Storage on a real Redis: batches, registry, cache and jobs are kept once, and an absent Redis is reported as such."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from arq.utils import timestamp_ms
from pydantic import JsonValue

from concord.assessment.jobs import Job, Queue
from concord.errors import StorageUnavailableError
from concord.storage import OPEN_SCOPE, JobFunction, RegistryFullError, RetryLater
from concord.storage.connection import Storage, connect, run_worker
from concord.storage.job_policy import LEASE_S, WorkerPolicy
from concord.storage.redis import keys, worker
from concord.trace.report import BatchReceipt, Channel, ReportBatch, StepBatch, pack
from concord.trace.step import CallType, InteractionStep
from concord.wire.roster import RosterEntry
from tests.kit.ports import free_port
from tests.kit.serving import eventually


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    async with connect(redis_url) as opened:
        yield opened


def batch(batch_id: str = "b1", trace_id: str = "t1", n_steps: int = 2) -> ReportBatch:
    steps = [InteractionStep(step_id=str(i), trace_id=trace_id, call_type=CallType.TOOL) for i in range(n_steps)]
    sent = StepBatch(batch_id=batch_id, trace_id=trace_id, reporter="a", steps=steps)
    return ReportBatch(
        batch_id=batch_id,
        trace_id=trace_id,
        reporter="a",
        authenticated=False,
        channel=Channel.HTTP,
        received_at=datetime.now(UTC),
        n_steps=n_steps,
        dropped=3,
        body=pack(sent.model_dump_json().encode()),
    )


def answer(accepted: int = 2) -> BatchReceipt:
    return BatchReceipt(accepted=accepted, rejected=[])


class TestTraces:
    async def test_batches_are_read_in_the_order_in_which_they_were_appended(self, storage: Storage) -> None:
        sent = [batch(f"b{i}") for i in range(150)]
        for each in sent:
            await storage.traces.append(each, answer())
        assert [each async for each in storage.traces.batches("t1")] == sent
        assert await storage.traces.length("t1") == 150

    async def test_a_repeated_batch_id_gets_the_first_receipt_and_is_stored_once(self, storage: Storage) -> None:
        assert await storage.traces.append(batch(), answer(2)) is None
        assert await storage.traces.append(batch(), answer(99)) == answer(2)
        assert await storage.traces.length("t1") == 1

    async def test_the_same_batch_appended_concurrently_is_stored_once(self, storage: Storage) -> None:
        answers = await asyncio.gather(*(storage.traces.append(batch(), answer()) for _ in range(20)))
        assert answers.count(None) == 1
        assert await storage.traces.length("t1") == 1

    async def test_a_redis_that_has_forgotten_the_scripts_stores_a_batch(self, storage: Storage) -> None:
        for name in ("b1", "b2"):
            await storage.redis.script_flush()
            assert await storage.traces.append(batch(name), answer()) is None
        assert await storage.traces.length("t1") == 2

    async def test_a_cancelled_append_leaves_the_others_their_answers(self, storage: Storage) -> None:
        await storage.traces.append(batch("known"), answer(1))
        appended = [
            asyncio.create_task(storage.traces.append(batch(name), answer())) for name in ("b1", "known", "b2", "known")
        ]
        await asyncio.sleep(0)
        appended[0].cancel()
        _, *others = await asyncio.gather(*appended, return_exceptions=True)
        assert appended[0].cancelled()
        assert others == [answer(1), None, answer(1)]

    async def test_traces_are_separate(self, storage: Storage) -> None:
        await storage.traces.append(batch(trace_id="t1"), answer())
        await storage.traces.append(batch(trace_id="t2"), answer())
        assert [each.trace_id async for each in storage.traces.batches("t2")] == ["t2"]

    async def test_every_key_has_a_time_to_live(self, storage: Storage) -> None:
        await storage.traces.append(batch(), answer())
        await storage.registry.register("s", [RosterEntry(id="a", url="http://a")])
        await storage.assessments.save("a1", "row", "{}")
        ttls = [await storage.redis.ttl(key) for key in await storage.redis.keys("concord:*")]
        assert len(ttls) == 4
        assert all(ttl > 0 for ttl in ttls)


class TestRegistry:
    async def test_agents_are_sorted_within_their_scope_and_the_latest_registration_counts(
        self, storage: Storage
    ) -> None:
        await storage.registry.register("s", [RosterEntry(id=i, url=f"http://{i}") for i in "ba"])
        await storage.registry.register("s", [RosterEntry(id="a", url="http://new")])
        assert [(e.id, e.url) for e in await storage.registry.agents("s")] == [("a", "http://new"), ("b", "http://b")]
        assert await storage.registry.agents("elsewhere") == []

    async def test_a_full_scope_refuses_new_agents_and_renews_known_ones(
        self, storage: Storage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("concord.storage.redis.registry.MAX_AGENTS", 2)
        await storage.registry.register(OPEN_SCOPE, [RosterEntry(id=i, url="http://x") for i in "ab"])
        with pytest.raises(RegistryFullError):
            await storage.registry.register(OPEN_SCOPE, [RosterEntry(id="c", url="http://x")])
        await storage.registry.register(OPEN_SCOPE, [RosterEntry(id="a", url="http://y")])

    async def test_a_registration_that_is_not_renewed_expires(
        self, storage: Storage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("concord.retention.REGISTRATION_S", 1)
        await storage.registry.register("s", [RosterEntry(id="a", url="http://a")])
        async with asyncio.timeout(60):
            while await storage.registry.agents("s"):
                await asyncio.sleep(0.05)


class TestAnswers:
    async def test_an_answer_is_cached_by_its_key_for_at_most_a_day(self, storage: Storage) -> None:
        await storage.answers.put("a", "the answer")
        assert await storage.answers.get("a") == "the answer"
        assert await storage.answers.get("b") is None
        assert 0 < await storage.redis.ttl("concord:v1:answer:a") <= 24 * 3600

    async def test_an_answer_beyond_the_size_limit_is_not_cached(self, storage: Storage) -> None:
        await storage.answers.put("a", "x" * 65_537)
        assert await storage.answers.get("a") is None


class JobLog:
    """The arguments of the jobs that ran, and the jobs that became dead letters."""

    def __init__(self) -> None:
        self.ran: list[Mapping[str, JsonValue]] = []
        self.buried: list[tuple[str, str]] = []

    async def run(self, arguments: Mapping[str, JsonValue]) -> None:
        self.ran.append(arguments)

    async def bury(self, job: Job, error: str, _: Exception | None) -> None:
        self.buried.append((job.job_id, error))


THREE_HOURS_MS = 3 * 3600 * 1000

QUICK = WorkerPolicy(timeout_s=60, max_tries=3, backoff_cap_s=0.05, poll_s=0.02)


class TestJobs:
    async def test_a_pending_job_is_not_queued_twice(self, storage: Storage) -> None:
        job = Job("work", "j1", Queue.FAST, {})
        assert [await storage.jobs.enqueue(job), await storage.jobs.enqueue(job)] == [True, False]
        assert await storage.jobs.depth(Queue.FAST) == 1
        assert await storage.jobs.depth(Queue.LLM) == 0

    async def test_a_job_is_queued_as_arq_queues_it(self, storage: Storage) -> None:
        arq, queue = storage.jobs._redis, keys.queue(Queue.FAST)
        await storage.jobs.enqueue(Job("work", "ours", Queue.FAST, {"n": 1}))
        await arq.enqueue_job("work", {"n": 1}, _job_id="its", _queue_name=queue)
        ours, its = sorted(await arq.queued_jobs(queue_name=queue), key=lambda each: each.job_id == "its")
        assert replace(ours, job_id="its", enqueue_time=its.enqueue_time, score=its.score) == its
        kept_ms = [await arq.pttl(f"arq:job:{each.job_id}") for each in (ours, its)]
        assert max(kept_ms) - min(kept_ms) < 60_000

    async def test_a_finished_job_may_be_queued_again(self, storage: Storage, redis_url: str) -> None:
        log = JobLog()
        job = Job("work", "j1", Queue.FAST, {"n": 1})
        async with running_worker(redis_url, log):
            assert await storage.jobs.enqueue(job)
            await wait_until_drained(storage)
            assert await storage.jobs.enqueue(job)
            await wait_until_drained(storage)
        assert len(log.ran) == 2

    @pytest.mark.parametrize("ahead_ms", [0, -THREE_HOURS_MS, THREE_HOURS_MS])
    async def test_a_job_that_asks_for_a_retry_is_run_again_whatever_the_workers_clock_says(
        self, storage: Storage, redis_url: str, monkeypatch: pytest.MonkeyPatch, ahead_ms: int
    ) -> None:
        monkeypatch.setattr("arq.worker.timestamp_ms", lambda: timestamp_ms() + ahead_ms)
        log = JobLog()

        async def flaky(arguments: Mapping[str, JsonValue]) -> None:
            await log.run(arguments)
            if len(log.ran) < 3:
                raise RetryLater("not yet")

        await storage.jobs.enqueue(Job("work", "j1", Queue.FAST, {}))
        async with running_worker(redis_url, log, flaky):
            await eventually(lambda: len(log.ran) == 3)
            await wait_until_drained(storage)
        assert log.buried == []

    @pytest.mark.parametrize(
        ("fault", "tries", "error"),
        [
            (RetryLater("never"), 3, "RetryLater: never (try 3 of 3)"),
            (StorageUnavailableError("gone"), 3, "StorageUnavailableError: gone (try 3 of 3)"),
            (ValueError("poison"), 1, "ValueError: poison"),
        ],
        ids=["retries exhausted", "storage unavailable", "invalid job"],
    )
    async def test_a_job_that_fails_permanently_is_a_dead_letter_that_can_be_replayed(
        self, storage: Storage, redis_url: str, fault: Exception, tries: int, error: str
    ) -> None:
        log = JobLog()

        async def fail(arguments: Mapping[str, JsonValue]) -> None:
            await log.run(arguments)
            raise fault

        job = Job("work", "j1", Queue.FAST, {"n": 1})
        await storage.jobs.enqueue(job)
        async with running_worker(redis_url, log, fail):
            await eventually(lambda: bool(log.buried))
            await wait_until_drained(storage)
        assert (len(log.ran), log.buried) == (tries, [("j1", error)])
        (letter,) = await storage.jobs.dead_letters()
        assert (letter.job, letter.error) == (job, error)
        await storage.jobs.replay(letter)
        assert await storage.jobs.dead_letters() == []
        assert await storage.jobs.depth(Queue.FAST) == 1

    async def test_a_job_that_hangs_is_ended_by_its_timeout_and_retried(self, storage: Storage, redis_url: str) -> None:
        log = JobLog()

        async def hang(arguments: Mapping[str, JsonValue]) -> None:
            await log.run(arguments)
            await asyncio.sleep(60)

        await storage.jobs.enqueue(Job("work", "j1", Queue.FAST, {}))
        policy = WorkerPolicy(timeout_s=0.1, max_tries=2, backoff_cap_s=0.05, poll_s=0.02)
        async with running_worker(redis_url, log, hang, policy):
            await eventually(lambda: bool(log.buried))
        assert len(log.ran) == 2
        assert log.buried == [("j1", "TimeoutError (try 2 of 2)")]

    async def test_a_running_job_is_leased_for_seconds_however_long_it_may_run(
        self, storage: Storage, redis_url: str
    ) -> None:
        log, may_end = JobLog(), asyncio.Event()
        lease_s: list[float] = []

        async def work(arguments: Mapping[str, JsonValue]) -> None:
            await log.run(arguments)
            await may_end.wait()

        async def lease_is_renewed() -> None:
            while len(lease_s) < 2 or lease_s[-1] <= lease_s[-2]:
                lease_s.append(await storage.redis.pttl("arq:in-progress:j1") / 1000)

        await storage.jobs.enqueue(Job("work", "j1", Queue.FAST, {}))
        async with running_worker(redis_url, log, work, WorkerPolicy(timeout_s=3600, poll_s=0.02)):
            await eventually(lambda: bool(log.ran))
            async with asyncio.timeout(60):
                await lease_is_renewed()
            may_end.set()
            await wait_until_drained(storage)
        assert 0 < max(lease_s) <= LEASE_S
        assert len(log.ran) == 1

    async def test_a_job_whose_lease_ran_out_while_it_runs_is_not_started_again_by_the_same_worker(
        self, storage: Storage, redis_url: str
    ) -> None:
        log, may_end = JobLog(), asyncio.Event()

        async def work(arguments: Mapping[str, JsonValue]) -> None:
            await log.run(arguments)
            await may_end.wait()

        await storage.jobs.enqueue(Job("work", "j1", Queue.FAST, {"n": 1}))
        async with running_worker(redis_url, log, work, WorkerPolicy(timeout_s=3600, poll_s=0.02)):
            await eventually(lambda: bool(log.ran))
            await storage.redis.delete("arq:in-progress:j1")
            await storage.jobs.enqueue(Job("work", "j2", Queue.FAST, {"n": 2}))
            await eventually(lambda: {"n": 2} in log.ran)
            may_end.set()
            await wait_until_drained(storage)
        assert log.ran == [{"n": 1}, {"n": 2}]

    async def test_the_jobs_of_one_assessment_leave_a_place_for_those_of_another(
        self, storage: Storage, redis_url: str
    ) -> None:
        log, may_end = JobLog(), asyncio.Event()

        async def work(arguments: Mapping[str, JsonValue]) -> None:
            await log.run(arguments)
            if arguments["of"] == "greedy":
                await may_end.wait()

        for number in range(4):
            await storage.jobs.enqueue(Job("work", f"work:greedy:{number}", Queue.FAST, {"of": "greedy"}))
        async with running_worker(redis_url, log, work, WorkerPolicy(timeout_s=3600, poll_s=0.02, max_jobs=3)):
            await eventually(lambda: len(log.ran) == 2)
            await storage.jobs.enqueue(Job("work", "work:modest:0", Queue.FAST, {"of": "modest"}))
            await eventually(lambda: {"of": "modest"} in log.ran)
            assert log.ran.count({"of": "greedy"}) == 2
            may_end.set()
            await wait_until_drained(storage)
        assert log.ran.count({"of": "greedy"}) == 4

    async def test_a_worker_that_waits_takes_a_job_once_it_is_queued(
        self, storage: Storage, redis_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(worker, "_LONGEST_WAIT_S", 9)
        log = JobLog()
        async with running_worker(redis_url, log, policy=WorkerPolicy(timeout_s=60, poll_s=9)), asyncio.timeout(8):
            for number in range(3):
                await storage.jobs.enqueue(Job("work", f"j{number}", Queue.FAST, {"n": number}))
                await eventually(lambda: len(log.ran) > number)  # noqa: B023 - called at once
                await wait_until_drained(storage)

    async def test_a_worker_without_a_place_takes_the_next_job_once_one_has_ended(
        self, storage: Storage, redis_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(worker, "_LONGEST_WAIT_S", 9)
        log = JobLog()
        policy = WorkerPolicy(timeout_s=60, poll_s=9, max_jobs=2)
        for number in range(4):
            await storage.jobs.enqueue(Job("work", f"work:one:{number}", Queue.FAST, {}))
        async with running_worker(redis_url, log, policy=policy), asyncio.timeout(8):
            await eventually(lambda: len(log.ran) == 4)

    @pytest.mark.parametrize("fault", [None, ValueError("poison")], ids=["completed", "dead letter"])
    async def test_who_waits_for_a_job_on_the_same_trial_hears_that_it_ended(
        self, storage: Storage, redis_url: str, fault: Exception | None
    ) -> None:
        async def work(_: Mapping[str, JsonValue]) -> None:
            if fault is not None:
                raise fault

        async with storage.jobs.ended.heard_of("a"), running_worker(redis_url, JobLog(), work), asyncio.timeout(60):
            with (
                storage.jobs.ended.awaited("evaluate:a:t1") as first,
                storage.jobs.ended.awaited("evaluate:a:t2") as other,
            ):
                await storage.jobs.enqueue(Job("work", "judge:a:t1", Queue.FAST, {}))
                await first.wait()
                assert await storage.jobs.enqueue(Job("work", "judge:a:t1", Queue.FAST, {}))
                assert not other.is_set()

    async def test_of_a_job_that_runs_again_only_its_last_end_is_told(self, storage: Storage, redis_url: str) -> None:
        log = JobLog()

        async def flaky(arguments: Mapping[str, JsonValue]) -> None:
            await log.run(arguments)
            assert not ended.is_set()
            if len(log.ran) < 3:
                raise RetryLater("not yet")

        async with storage.jobs.ended.heard_of("a"), running_worker(redis_url, log, flaky), asyncio.timeout(60):
            with storage.jobs.ended.awaited("work:a:t") as ended:
                await storage.jobs.enqueue(Job("work", "work:a:t", Queue.FAST, {}))
                await ended.wait()
        assert (len(log.ran), log.buried) == (3, [])

    async def test_ended_jobs_are_heard_of_again_after_the_connection_was_lost(
        self, storage: Storage, redis_url: str
    ) -> None:
        async with storage.jobs.ended.heard_of("a"), running_worker(redis_url, JobLog()), asyncio.timeout(60):
            assert await storage.redis.client_kill_filter(_type="pubsub")
            while await storage.redis.pubsub_numsub(keys.ended_jobs("a")) != [(keys.ended_jobs("a").encode(), 1)]:
                await asyncio.sleep(0.02)
            with storage.jobs.ended.awaited("work:a:t") as ended:
                await storage.jobs.enqueue(Job("work", "work:a:t", Queue.FAST, {}))
                await ended.wait()

    async def test_jobs_are_stored_as_json(self, storage: Storage) -> None:
        await storage.jobs.enqueue(Job("work", "j1", Queue.FAST, {"n": 1}))
        (key,) = await storage.redis.keys("arq:job:*")
        assert (await storage.redis.get(key)).startswith(b"{")


async def test_without_retries_an_absent_redis_raises_within_seconds() -> None:
    async with connect(f"redis://127.0.0.1:{free_port()}") as storage:
        async with asyncio.timeout(60):
            with pytest.raises(StorageUnavailableError):
                await storage.ping()
            with pytest.raises(StorageUnavailableError):
                await storage.traces.append(batch(), answer())
            with pytest.raises(StorageUnavailableError):
                await storage.jobs.enqueue(Job("work", "j", Queue.FAST, {}))


@asynccontextmanager
async def running_worker(
    url: str, log: JobLog, function: JobFunction | None = None, policy: WorkerPolicy = QUICK
) -> AsyncIterator[None]:
    """Runs a worker on the fast queue inside the block, and stops it at the end as a signal would."""
    stop = asyncio.Event()
    functions = {"work": function or log.run}
    working = asyncio.create_task(run_worker(url, Queue.FAST, functions, policy, log.bury, stop=stop))
    try:
        yield
    finally:
        stop.set()
        async with asyncio.timeout(60):
            await working


async def wait_until_drained(storage: Storage) -> None:
    """Waits until the fast queue is empty."""
    async with asyncio.timeout(60):
        while await storage.jobs.depth(Queue.FAST):
            await asyncio.sleep(0.02)


async def test_a_storage_operation_can_be_cancelled_at_any_point(redis_url: str) -> None:
    async def look(storage: Storage) -> None:
        while True:
            await storage.ping()

    for turns in range(40):
        async with connect(redis_url) as storage:
            looking = asyncio.create_task(look(storage))
            for _ in range(turns):
                await asyncio.sleep(0)
            looking.cancel()
            await asyncio.wait({looking}, timeout=60)
            assert looking.cancelled(), f"it went on when it was cancelled after {turns} turns of the loop"
