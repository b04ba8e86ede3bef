"""Storage on a real Redis: nothing twice, nothing lost, and faults told as what they are."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from concord.assessment.roster import RosterEntry
from concord.storage import OPEN_SCOPE, Job, JobFunction, Queue, RegistryFullError, RetryLater, StorageUnavailableError
from concord.storage.redis import Storage, WorkerPolicy, connect, run_worker
from concord.trace.report import BatchReceipt, Channel, ReportBatch, StepBatch, pack
from concord.trace.step import CallType, InteractionStep
from tests.redis_servers import PrivateServer, free_port
from tests.serving import eventually


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
    async def test_what_was_appended_is_read_back_in_order(self, storage: Storage) -> None:
        sent = [batch(f"b{i}") for i in range(150)]
        for each in sent:
            await storage.traces.append(each, answer())
        assert [each async for each in storage.traces.batches("t1")] == sent
        assert await storage.traces.length("t1") == 150

    async def test_a_batch_id_seen_before_is_answered_as_before_and_stored_once(self, storage: Storage) -> None:
        assert await storage.traces.append(batch(), answer(2)) is None
        assert await storage.traces.append(batch(), answer(99)) == answer(2)
        assert await storage.traces.length("t1") == 1

    async def test_the_same_batch_from_many_at_once_is_stored_once(self, storage: Storage) -> None:
        answers = await asyncio.gather(*(storage.traces.append(batch(), answer()) for _ in range(20)))
        assert answers.count(None) == 1
        assert await storage.traces.length("t1") == 1

    async def test_traces_do_not_mix(self, storage: Storage) -> None:
        await storage.traces.append(batch(trace_id="t1"), answer())
        await storage.traces.append(batch(trace_id="t2"), answer())
        assert [each.trace_id async for each in storage.traces.batches("t2")] == ["t2"]

    async def test_everything_of_a_trace_has_a_time_to_live(self, storage: Storage) -> None:
        await storage.traces.append(batch(), answer())
        await storage.registry.register("s", [RosterEntry(id="a", url="http://a")])
        await storage.assessments.save("a1", "row", "{}")
        ttls = [await storage.redis.ttl(key) for key in await storage.redis.keys("concord:*")]
        assert len(ttls) == 4
        assert all(ttl > 0 for ttl in ttls)


class TestRegistry:
    async def test_agents_are_listed_by_scope_sorted_and_renewed(self, storage: Storage) -> None:
        await storage.registry.register("s", [RosterEntry(id=i, url=f"http://{i}") for i in "ba"])
        await storage.registry.register("s", [RosterEntry(id="a", url="http://new")])
        assert [(e.id, e.url) for e in await storage.registry.agents("s")] == [("a", "http://new"), ("b", "http://b")]
        assert await storage.registry.agents("elsewhere") == []

    async def test_a_full_scope_takes_no_more_but_still_renews(
        self, storage: Storage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("concord.storage.redis.registry.MAX_AGENTS", 2)
        await storage.registry.register(OPEN_SCOPE, [RosterEntry(id=i, url="http://x") for i in "ab"])
        with pytest.raises(RegistryFullError):
            await storage.registry.register(OPEN_SCOPE, [RosterEntry(id="c", url="http://x")])
        await storage.registry.register(OPEN_SCOPE, [RosterEntry(id="a", url="http://y")])

    async def test_an_entry_that_is_not_renewed_is_forgotten(
        self, storage: Storage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("concord.storage.redis.registry.TTL_S", 1)
        await storage.registry.register("s", [RosterEntry(id="a", url="http://a")])
        await asyncio.sleep(1.1)
        assert await storage.registry.agents("s") == []


class TestAnswers:
    async def test_an_answer_is_kept_for_a_time_by_its_key(self, storage: Storage) -> None:
        await storage.answers.put("a", "the answer")
        assert await storage.answers.get("a") == "the answer"
        assert await storage.answers.get("b") is None
        assert 0 < await storage.redis.ttl("concord:v1:answer:a") <= 24 * 3600

    async def test_one_that_is_too_long_is_not_kept(self, storage: Storage) -> None:
        await storage.answers.put("a", "x" * 65_537)
        assert await storage.answers.get("a") is None


class Ledger:
    """What ran, and what was given up."""

    def __init__(self) -> None:
        self.ran: list[Mapping[str, JsonValue]] = []
        self.buried: list[tuple[str, str]] = []

    async def run(self, arguments: Mapping[str, JsonValue]) -> None:
        self.ran.append(arguments)

    async def bury(self, job: Job, error: str) -> None:
        self.buried.append((job.job_id, error))


QUICK = WorkerPolicy(timeout_s=1, max_tries=3, backoff_cap_s=0.05, poll_s=0.02)


class TestJobs:
    async def test_a_pending_job_is_not_queued_twice(self, storage: Storage) -> None:
        job = Job("work", "j1", Queue.FAST, {})
        assert [await storage.jobs.enqueue(job), await storage.jobs.enqueue(job)] == [True, False]
        assert await storage.jobs.depth(Queue.FAST) == 1
        assert await storage.jobs.depth(Queue.LLM) == 0

    async def test_a_finished_jobs_id_is_free_again(self, storage: Storage, redis_url: str) -> None:
        ledger = Ledger()
        job = Job("work", "j1", Queue.FAST, {"n": 1})
        async with working(redis_url, ledger):
            assert await storage.jobs.enqueue(job)
            await drained(storage)
            assert await storage.jobs.enqueue(job)
            await drained(storage)
        assert len(ledger.ran) == 2

    async def test_a_passing_fault_is_tried_again(self, storage: Storage, redis_url: str) -> None:
        ledger = Ledger()

        async def flaky(arguments: Mapping[str, JsonValue]) -> None:
            await ledger.run(arguments)
            if len(ledger.ran) < 3:
                raise RetryLater("not yet")

        await storage.jobs.enqueue(Job("work", "j1", Queue.FAST, {}))
        async with working(redis_url, ledger, flaky):
            await eventually(lambda: len(ledger.ran) == 3)
            await drained(storage)
        assert ledger.buried == []

    @pytest.mark.parametrize(
        ("fault", "tries", "told"),
        [
            (RetryLater("never"), 3, "RetryLater: never (try 3 of 3)"),
            (StorageUnavailableError("gone"), 3, "StorageUnavailableError: gone (try 3 of 3)"),
            (ValueError("poison"), 1, "ValueError: poison"),
        ],
    )
    async def test_a_job_that_fails_for_good_is_a_dead_letter_that_can_be_replayed(
        self, storage: Storage, redis_url: str, fault: Exception, tries: int, told: str
    ) -> None:
        ledger = Ledger()

        async def fail(arguments: Mapping[str, JsonValue]) -> None:
            await ledger.run(arguments)
            raise fault

        job = Job("work", "j1", Queue.FAST, {"n": 1})
        await storage.jobs.enqueue(job)
        async with working(redis_url, ledger, fail):
            await eventually(lambda: bool(ledger.buried))
            await drained(storage)
        assert (len(ledger.ran), ledger.buried) == (tries, [("j1", told)])
        (letter,) = await storage.jobs.dead_letters()
        assert (letter.job, letter.error) == (job, told)
        await storage.jobs.replay(letter)
        assert await storage.jobs.dead_letters() == []
        assert await storage.jobs.depth(Queue.FAST) == 1

    async def test_a_job_that_hangs_is_ended_by_its_timeout_and_tried_again(
        self, storage: Storage, redis_url: str
    ) -> None:
        ledger = Ledger()

        async def hang(arguments: Mapping[str, JsonValue]) -> None:
            await ledger.run(arguments)
            await asyncio.sleep(60)

        await storage.jobs.enqueue(Job("work", "j1", Queue.FAST, {}))
        policy = WorkerPolicy(timeout_s=0.1, max_tries=2, backoff_cap_s=0.05, poll_s=0.02)
        async with working(redis_url, ledger, hang, policy):
            await eventually(lambda: bool(ledger.buried))
        assert len(ledger.ran) == 2
        assert ledger.buried == [("j1", "TimeoutError (try 2 of 2)")]

    async def test_jobs_are_kept_as_json(self, storage: Storage) -> None:
        await storage.jobs.enqueue(Job("work", "j1", Queue.FAST, {"n": 1}))
        (key,) = await storage.redis.keys("arq:job:*")
        assert (await storage.redis.get(key)).startswith(b"{")

    async def test_a_worker_survives_a_redis_that_was_killed(self, private_redis: PrivateServer) -> None:
        ledger = Ledger()
        async with connect(private_redis.url, retry_s=15) as storage, working(private_redis.url, ledger):
            await storage.jobs.enqueue(Job("work", "before", Queue.FAST, {"n": 1}))
            await eventually(lambda: len(ledger.ran) == 1)
            await asyncio.to_thread(private_redis.kill)
            await asyncio.sleep(0.5)
            await asyncio.to_thread(private_redis.start)
            await storage.jobs.enqueue(Job("work", "after", Queue.FAST, {"n": 2}))
            await eventually(lambda: {"n": 2} in ledger.ran)


async def test_a_patient_client_waits_for_a_redis_on_new_connections_and_on_old_ones(
    private_redis: PrivateServer,
) -> None:
    await asyncio.to_thread(private_redis.kill)
    async with connect(private_redis.url, retry_s=15) as storage:
        first = asyncio.create_task(storage.ping())
        await asyncio.sleep(0.5)
        await asyncio.to_thread(private_redis.start)
        await first
        await asyncio.to_thread(private_redis.kill)
        appended = [asyncio.create_task(storage.traces.append(batch(f"b{i}"), answer())) for i in range(8)]
        await asyncio.sleep(0.5)
        await asyncio.to_thread(private_redis.start)
        await asyncio.gather(*appended)
        assert await storage.traces.length("t1") == 8


async def test_an_absent_redis_is_told_as_such_and_soon() -> None:
    async with connect(f"redis://127.0.0.1:{free_port()}") as storage:
        async with asyncio.timeout(5):
            with pytest.raises(StorageUnavailableError):
                await storage.ping()
            with pytest.raises(StorageUnavailableError):
                await storage.traces.append(batch(), answer())
            with pytest.raises(StorageUnavailableError):
                await storage.jobs.enqueue(Job("work", "j", Queue.FAST, {}))


@asynccontextmanager
async def working(
    url: str, ledger: Ledger, function: JobFunction | None = None, policy: WorkerPolicy = QUICK
) -> AsyncIterator[None]:
    """Runs a worker on the fast queue inside the block, stopped at its end as a signal would."""
    stop = asyncio.Event()
    functions = {"work": function or ledger.run}
    worker = asyncio.create_task(run_worker(url, Queue.FAST, functions, policy, ledger.bury, stop=stop))
    try:
        yield
    finally:
        stop.set()
        async with asyncio.timeout(10):
            await worker


async def drained(storage: Storage) -> None:
    """Waits until the fast queue is empty."""
    async with asyncio.timeout(10):
        while await storage.jobs.depth(Queue.FAST):
            await asyncio.sleep(0.02)


async def test_work_on_storage_ends_when_it_is_cancelled_wherever_it_stands(redis_url: str) -> None:
    async def look(storage: Storage) -> None:
        while True:
            await storage.ping()

    for turns in range(40):
        async with connect(redis_url) as storage:
            looking = asyncio.create_task(look(storage))
            for _ in range(turns):
                await asyncio.sleep(0)
            looking.cancel()
            await asyncio.wait({looking}, timeout=5)
            assert looking.cancelled(), f"it went on when it was cancelled after {turns} turns of the loop"
