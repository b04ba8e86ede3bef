"""A2A tasks in Redis: one process works on each, no older version replaces a newer one, and ended tasks are bounded."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from itertools import count

import pytest
import redis

from concord.retention import ENDED_TASKS_BYTES, REJECTED_TASKS
from concord.storage.connection import Storage, connect
from concord.storage.redis.tasks import RedisTaskRecords
from concord.task_records import StaleTaskError, TaskDraft, TaskRecords

LEASE_S = 1
RUNNING = TaskDraft("task", "owner", head=b"head", body=b"body", request=b"request", listed_by="owner")
ENDED = replace(RUNNING, body=b"ended", request=b"", ended=True)
CANCELED = replace(ENDED, body=b"canceled", canceled=True)


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    async with connect(redis_url) as opened:
        yield opened


def process_of(storage: Storage) -> TaskRecords:
    """The task records as one process has them."""
    return storage.tasks(lease_s=LEASE_S, keep_s=100)


@pytest.fixture
def here(storage: Storage) -> TaskRecords:
    return process_of(storage)


@pytest.fixture
def there(storage: Storage) -> TaskRecords:
    """Another process, whose leases outlast a test."""
    return storage.tasks(lease_s=100, keep_s=100)


async def wait_until_leases_expire() -> None:
    """Waits until the lease of a process that renews nothing has expired."""
    await asyncio.sleep(LEASE_S + 0.1)


class TestVersions:
    async def test_each_save_makes_the_next_version_and_the_latest_is_read(self, here: TaskRecords) -> None:
        assert await here.save(RUNNING, 0) == 1
        assert await here.save(replace(RUNNING, body=b"more"), 1) == 2
        found = await here.get("task")
        assert found is not None
        assert (found.version, found.body, found.owner) == (2, b"more", "owner")
        assert await here.version("task") == 2

    async def test_a_save_over_any_but_the_latest_version_is_refused(self, here: TaskRecords) -> None:
        await here.save(RUNNING, 0)
        await here.save(RUNNING, 1)
        for read in (0, 1, 3):
            with pytest.raises(StaleTaskError):
                await here.save(ENDED, read)
        assert await here.version("task") == 2

    async def test_of_two_concurrent_saves_over_one_version_one_succeeds(self, here: TaskRecords) -> None:
        await here.save(RUNNING, 0)
        both = await asyncio.gather(here.save(RUNNING, 1), here.save(RUNNING, 1), return_exceptions=True)
        assert sorted(map(type, both), key=str) == sorted([int, StaleTaskError], key=str)

    async def test_a_cancellation_is_stored_over_any_version_and_cannot_be_replaced(
        self, here: TaskRecords, there: TaskRecords
    ) -> None:
        await here.save(RUNNING, 0)
        await here.save(RUNNING, 1)
        await there.save(CANCELED, 1)
        for late in (RUNNING, ENDED, CANCELED):
            with pytest.raises(StaleTaskError):
                await here.save(late, 3)

    async def test_a_task_that_was_never_stored_cannot_be_canceled(self, here: TaskRecords) -> None:
        with pytest.raises(StaleTaskError):
            await here.save(CANCELED, 0)
        assert await here.get("task") is None

    @pytest.mark.parametrize("draft", [RUNNING, ENDED, CANCELED], ids=["running", "ended", "canceled"])
    async def test_a_save_whose_answer_is_lost_is_done_once(
        self, here: TaskRecords, draft: TaskDraft, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await here.save(RUNNING, 0)
        _lose_the_first_answer(here, monkeypatch)
        assert await here.save(draft, 1) == 2
        assert await here.version("task") == 2

    async def test_a_task_whose_first_answer_is_lost_stays_with_its_process(
        self, here: TaskRecords, there: TaskRecords, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _lose_the_first_answer(here, monkeypatch)
        assert await here.save(RUNNING, 0) == 1
        assert await there.adopt() is None
        assert await here.save(RUNNING, 1) == 2


def _lose_the_first_answer(records: TaskRecords, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the connection fail after Redis has done the next save."""
    assert isinstance(records, RedisTaskRecords)
    save, answers = records._save, count()

    async def lossy(names: list[str], values: list[str | int | bytes]) -> int:
        stored: int = await save(names, values)
        if next(answers) == 0:
            raise redis.ConnectionError("closed by the test")
        return stored

    monkeypatch.setattr(records, "_save", lossy)


class TestLeases:
    async def test_a_process_does_not_adopt_a_task_whose_first_save_it_still_waits_for(
        self, here: TaskRecords, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert isinstance(here, RedisTaskRecords)
        save, answer = here._save, asyncio.Event()

        async def late(names: list[str], values: list[str | int | bytes]) -> int:
            stored: int = await save(names, values)
            await answer.wait()
            return stored

        monkeypatch.setattr(here, "_save", late)
        saving = asyncio.create_task(here.save(RUNNING, 0))
        while await here.version("task") == 0:
            await asyncio.sleep(0.01)
        await wait_until_leases_expire()
        assert await here.renew() == []
        assert await here.adopt() is None
        answer.set()
        assert await saving == 1

    async def test_a_task_belongs_to_its_process_while_the_lease_is_renewed(
        self, storage: Storage, there: TaskRecords
    ) -> None:
        # A busy machine may delay a renewal. The lease allows for that, and ends before the last renewal.
        here = storage.tasks(lease_s=2, keep_s=100)
        await here.save(RUNNING, 0)
        for _ in range(5):
            await asyncio.sleep(0.5)
            assert await here.renew() == []
        assert await there.adopt() is None
        with pytest.raises(StaleTaskError):
            await there.save(RUNNING, 1)

    async def test_exactly_one_process_adopts_the_task_of_a_lost_one(self, here: TaskRecords, storage: Storage) -> None:
        await here.save(RUNNING, 0)
        await here.save_checkpoint("task", "as far as it came")
        await wait_until_leases_expire()
        others = [process_of(storage) for _ in range(4)]
        found = [each for each in await asyncio.gather(*(other.adopt() for other in others)) if each is not None]
        assert [(each.task_id, each.owner, each.starts) for each in found] == [("task", "owner", 2)]
        assert (found[0].request, found[0].checkpoint) == (b"request", "as far as it came")

    async def test_a_process_that_lost_its_task_learns_so_and_cannot_save_it(
        self, here: TaskRecords, there: TaskRecords
    ) -> None:
        await here.save(RUNNING, 0)
        await wait_until_leases_expire()
        await there.adopt()
        with pytest.raises(StaleTaskError):
            await here.save(RUNNING, 1)
        assert await here.renew() == ["task"]
        assert await here.renew() == []
        assert await there.renew() == []
        assert await there.save(ENDED, 1) == 2

    async def test_a_process_learns_that_another_canceled_its_task(self, here: TaskRecords, there: TaskRecords) -> None:
        await here.save(RUNNING, 0)
        await there.save(CANCELED, 1)
        assert await here.renew() == ["task"]

    async def test_a_process_that_ended_its_task_is_not_told_that_it_lost_it(self, here: TaskRecords) -> None:
        await here.save(RUNNING, 0)
        heard, _ = await asyncio.gather(here.renew(), here.save(ENDED, 1))
        assert heard == []

    async def test_a_released_task_can_be_adopted_at_once_and_does_not_count_as_lost(
        self, here: TaskRecords, there: TaskRecords
    ) -> None:
        await here.save(RUNNING, 0)
        await here.release()
        found = await there.adopt()
        assert found is not None
        assert found.starts == 1

    async def test_tasks_are_adopted_in_the_order_in_which_they_began(
        self, here: TaskRecords, there: TaskRecords
    ) -> None:
        names = [f"task-{number}" for number in (3, 1, 2)]
        for name in names:
            await here.save(replace(RUNNING, task_id=name), 0)
            await asyncio.sleep(0.005)
        await here.save(replace(RUNNING, task_id=names[0]), 1)
        await here.release()
        assert [found.task_id for _ in names if (found := await there.adopt()) is not None] == names

    async def test_an_ended_task_is_not_adopted(self, here: TaskRecords, there: TaskRecords) -> None:
        await here.save(RUNNING, 0)
        await here.save(ENDED, 1)
        await wait_until_leases_expire()
        assert await there.adopt() is None


class TestWaiting:
    """A task that waits for its client: no process holds it until the client's next message."""

    WAITING = replace(RUNNING, request=b"", waiting=True)

    async def test_a_waiting_task_is_not_adopted(self, here: TaskRecords, there: TaskRecords) -> None:
        await here.save(self.WAITING, await here.save(RUNNING, 0))
        await wait_until_leases_expire()
        assert await there.adopt() is None

    async def test_any_process_goes_on_with_it_and_then_it_belongs_to_that_process(
        self, here: TaskRecords, there: TaskRecords
    ) -> None:
        version = await here.save(self.WAITING, await here.save(RUNNING, 0))
        await there.save(replace(RUNNING, request=b"more"), version)
        assert await here.adopt() is None
        await there.release()
        adopted = await here.adopt()
        assert adopted is not None
        assert (adopted.request, adopted.starts) == (b"more", 1)

    async def test_waiting_tasks_displace_only_each_other_and_rejected_ones(self, here: TaskRecords) -> None:
        ended = await here.save(replace(ENDED, task_id="done"), 0)
        for number in range(REJECTED_TASKS + 1):
            version = await here.save(replace(RUNNING, task_id=str(number)), 0)
            await here.save(replace(self.WAITING, task_id=str(number)), version)
        assert await here.version("done") == ended
        assert [await here.version("0"), await here.version("1")] == [0, 2]


class TestMessages:
    async def test_the_same_message_begins_one_task_in_whichever_process(
        self, here: TaskRecords, there: TaskRecords
    ) -> None:
        begun = await asyncio.gather(here.begin(b"m", "one"), there.begin(b"m", "two"), here.begin(b"n", "three"))
        assert begun[0] == begun[1] in {"one", "two"}
        assert begun[2] == "three"

    async def test_one_task_replaces_a_rejected_one_of_the_same_message(
        self, here: TaskRecords, there: TaskRecords
    ) -> None:
        await here.begin(b"m", "rejected")
        instead = await asyncio.gather(
            here.begin(b"m", "one", instead_of="rejected"), there.begin(b"m", "two", instead_of="rejected")
        )
        assert instead[0] == instead[1] in {"one", "two"}


class TestRetention:
    async def test_the_oldest_ended_tasks_are_deleted_when_all_take_too_many_bytes(self, here: TaskRecords) -> None:
        share = ENDED_TASKS_BYTES // 4
        for number in range(6):
            await here.save(replace(ENDED, task_id=str(number), body=b"x" * share), 0)
        assert await kept(here.get, 6) == [False, False, True, True, True, True]

    async def test_an_ended_task_is_kept_for_its_whole_retention_time(self, storage: Storage) -> None:
        here = storage.tasks(lease_s=LEASE_S, keep_s=10)
        await here.save(ENDED, 0)
        await asyncio.sleep(0.1)
        await here.save(replace(ENDED, task_id="next"), 0)
        assert await here.get("task") is not None

    async def test_rejected_tasks_displace_only_each_other(self, here: TaskRecords) -> None:
        await here.save(ENDED, 0)
        for number in range(REJECTED_TASKS + 5):
            await here.save(replace(ENDED, task_id=str(number), rejected=True), 0)
        assert await here.get("task") is not None
        assert await kept(here.get, REJECTED_TASKS + 5) == [False] * 5 + [True] * REJECTED_TASKS

    async def test_a_list_has_the_callers_own_tasks_without_deleted_ones(self, here: TaskRecords) -> None:
        await here.save(RUNNING, 0)
        await here.save(replace(RUNNING, task_id="other", listed_by="another", head=b"another's"), 0)
        await here.save(replace(RUNNING, task_id="gone", head=b"gone"), 0)
        await here.delete("gone")
        assert await here.heads("owner") == [b"head"]
        assert await here.heads("nobody") == []

    async def test_a_task_that_nothing_lists_is_in_no_list(self, here: TaskRecords) -> None:
        await here.save(replace(RUNNING, listed_by=""), 0)
        assert await here.heads("") == []

    async def test_every_key_has_a_time_to_live(self, here: TaskRecords, redis_url: str) -> None:
        await here.begin(b"m", "task")
        await here.save(RUNNING, 0)
        await here.save(replace(ENDED, task_id="ended"), 0)
        with redis.Redis.from_url(redis_url) as client:
            forever = [key for key in client.keys("*") if client.ttl(key) < 0]
        assert forever == []


async def kept(get: Callable[[str], Awaitable[object | None]], count: int) -> list[bool]:
    """Whether each of the tasks with these numbers still exists."""
    return [await get(str(number)) is not None for number in range(count)]
