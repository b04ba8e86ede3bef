"""A2A tasks in Redis: one process works on each, an older version replaces no newer one, and what ended is bounded."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import pytest
import redis

from concord.storage.redis import Storage, connect
from concord.storage.redis.tasks import MAX_ENDED_BYTES, MAX_REJECTED
from concord.storage.tasks import StaleTaskError, TaskDraft, TaskRecords

LEASE_S = 1
RUNNING = TaskDraft("task", "owner", head=b"head", body=b"body", request=b"request")
ENDED = replace(RUNNING, body=b"ended", request=b"", ended=True)
CANCELED = replace(ENDED, body=b"canceled", canceled=True)


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    async with connect(redis_url) as opened:
        yield opened


def process_of(storage: Storage) -> TaskRecords:
    """The records as one process has them."""
    return storage.tasks(lease_s=LEASE_S, keep_s=100)


@pytest.fixture
def here(storage: Storage) -> TaskRecords:
    return process_of(storage)


@pytest.fixture
def there(storage: Storage) -> TaskRecords:
    return process_of(storage)


async def lost() -> None:
    """Returns when the lease of a process that renewed nothing has run out."""
    await asyncio.sleep(LEASE_S + 0.1)


class TestVersions:
    async def test_each_save_is_the_next_version_and_the_latest_is_read(self, here: TaskRecords) -> None:
        assert await here.save(RUNNING, 0) == 1
        assert await here.save(replace(RUNNING, body=b"more"), 1) == 2
        found = await here.get("task")
        assert found is not None
        assert (found.version, found.body, found.owner) == (2, b"more", "owner")
        assert await here.version("task") == 2

    async def test_an_older_version_replaces_no_newer_one(self, here: TaskRecords) -> None:
        await here.save(RUNNING, 0)
        await here.save(RUNNING, 1)
        for read in (0, 1, 3):
            with pytest.raises(StaleTaskError):
                await here.save(ENDED, read)
        assert await here.version("task") == 2

    async def test_two_writers_of_one_version_are_one_writer(self, here: TaskRecords) -> None:
        await here.save(RUNNING, 0)
        both = await asyncio.gather(here.save(RUNNING, 1), here.save(RUNNING, 1), return_exceptions=True)
        assert sorted(map(type, both), key=str) == sorted([int, StaleTaskError], key=str)

    async def test_a_canceled_task_is_stored_over_any_version_and_changes_no_more(
        self, here: TaskRecords, there: TaskRecords
    ) -> None:
        await here.save(RUNNING, 0)
        await here.save(RUNNING, 1)
        await there.save(CANCELED, 1)
        for late in (RUNNING, ENDED, CANCELED):
            with pytest.raises(StaleTaskError):
                await here.save(late, 3)

    async def test_what_was_never_stored_is_not_canceled(self, here: TaskRecords) -> None:
        with pytest.raises(StaleTaskError):
            await here.save(CANCELED, 0)
        assert await here.get("task") is None


class TestLeases:
    async def test_a_task_is_its_process_as_long_as_that_renews(self, storage: Storage, there: TaskRecords) -> None:
        # Long enough for a machine that is busy, and renewed for longer than it lasts.
        here = storage.tasks(lease_s=2, keep_s=100)
        await here.save(RUNNING, 0)
        for _ in range(5):
            await asyncio.sleep(0.5)
            assert await here.renew() == []
        assert await there.adopt() is None
        with pytest.raises(StaleTaskError):
            await there.save(RUNNING, 1)

    async def test_a_lost_process_leaves_its_task_to_one_other(self, here: TaskRecords, storage: Storage) -> None:
        await here.save(RUNNING, 0)
        await here.keep("task", "as far as it came")
        await lost()
        others = [process_of(storage) for _ in range(4)]
        found = [each for each in await asyncio.gather(*(other.adopt() for other in others)) if each is not None]
        assert [(each.task_id, each.owner, each.starts) for each in found] == [("task", "owner", 2)]
        assert (found[0].request, found[0].kept) == (b"request", "as far as it came")

    async def test_one_that_comes_back_hears_that_it_lost_its_task_and_writes_nothing(
        self, here: TaskRecords, there: TaskRecords
    ) -> None:
        await here.save(RUNNING, 0)
        await lost()
        await there.adopt()
        with pytest.raises(StaleTaskError):
            await here.save(RUNNING, 1)
        assert await here.renew() == ["task"]
        assert await here.renew() == []
        assert await there.renew() == []
        assert await there.save(ENDED, 1) == 2

    async def test_one_whose_task_another_canceled_hears_of_it(self, here: TaskRecords, there: TaskRecords) -> None:
        await here.save(RUNNING, 0)
        await there.save(CANCELED, 1)
        assert await here.renew() == ["task"]

    async def test_one_that_ended_its_task_itself_hears_nothing(self, here: TaskRecords) -> None:
        await here.save(RUNNING, 0)
        heard, _ = await asyncio.gather(here.renew(), here.save(ENDED, 1))
        assert heard == []

    async def test_a_released_task_is_free_at_once_and_was_not_lost(
        self, here: TaskRecords, there: TaskRecords
    ) -> None:
        await here.save(RUNNING, 0)
        await here.release()
        found = await there.adopt()
        assert found is not None
        assert found.starts == 1

    async def test_tasks_are_taken_over_in_the_order_in_which_they_came(
        self, here: TaskRecords, there: TaskRecords
    ) -> None:
        names = [f"task-{number}" for number in (3, 1, 2)]
        for name in names:
            await here.save(replace(RUNNING, task_id=name), 0)
            await asyncio.sleep(0.005)
        await here.save(replace(RUNNING, task_id=names[0]), 1)
        await here.release()
        assert [found.task_id for _ in names if (found := await there.adopt()) is not None] == names

    async def test_an_ended_task_is_nobodys_to_take_over(self, here: TaskRecords, there: TaskRecords) -> None:
        await here.save(RUNNING, 0)
        await here.save(ENDED, 1)
        await lost()
        assert await there.adopt() is None


class TestMessages:
    async def test_the_same_message_begins_one_task_wherever_it_comes(
        self, here: TaskRecords, there: TaskRecords
    ) -> None:
        begun = await asyncio.gather(here.begin(b"m", "one"), there.begin(b"m", "two"), here.begin(b"n", "three"))
        assert begun[0] == begun[1] in {"one", "two"}
        assert begun[2] == "three"

    async def test_one_task_comes_in_place_of_another(self, here: TaskRecords, there: TaskRecords) -> None:
        await here.begin(b"m", "rejected")
        instead = await asyncio.gather(
            here.begin(b"m", "one", instead_of="rejected"), there.begin(b"m", "two", instead_of="rejected")
        )
        assert instead[0] == instead[1] in {"one", "two"}


class TestRetention:
    async def test_the_oldest_ended_tasks_go_when_they_take_too_much(self, here: TaskRecords) -> None:
        share = MAX_ENDED_BYTES // 4
        for number in range(6):
            await here.save(replace(ENDED, task_id=str(number), body=b"x" * share), 0)
        assert await kept(here.get, 6) == [False, False, True, True, True, True]

    async def test_an_ended_task_is_kept_for_its_whole_time(self, storage: Storage) -> None:
        here = storage.tasks(lease_s=LEASE_S, keep_s=10)
        await here.save(ENDED, 0)
        await asyncio.sleep(0.1)
        await here.save(replace(ENDED, task_id="next"), 0)
        assert await here.get("task") is not None

    async def test_rejected_tasks_crowd_out_only_each_other(self, here: TaskRecords) -> None:
        await here.save(ENDED, 0)
        for number in range(MAX_REJECTED + 5):
            await here.save(replace(ENDED, task_id=str(number), rejected=True), 0)
        assert await here.get("task") is not None
        assert await kept(here.get, MAX_REJECTED + 5) == [False] * 5 + [True] * MAX_REJECTED

    async def test_a_caller_is_shown_its_own_tasks_and_none_that_are_gone(self, here: TaskRecords) -> None:
        await here.save(RUNNING, 0)
        await here.save(replace(RUNNING, task_id="other", owner="another", head=b"another's"), 0)
        await here.save(replace(RUNNING, task_id="gone", head=b"gone"), 0)
        await here.delete("gone")
        assert await here.heads("owner") == [b"head"]
        assert await here.heads("nobody") == []

    async def test_every_key_has_a_time_to_live(self, here: TaskRecords, redis_url: str) -> None:
        await here.begin(b"m", "task")
        await here.save(RUNNING, 0)
        await here.save(replace(ENDED, task_id="ended"), 0)
        with redis.Redis.from_url(redis_url) as client:
            forever = [key for key in client.keys("*") if client.ttl(key) < 0]
        assert forever == []


async def kept(get: Callable[[str], Awaitable[object | None]], count: int) -> list[bool]:
    """Which of the tasks with these numbers are still there."""
    return [await get(str(number)) is not None for number in range(count)]
