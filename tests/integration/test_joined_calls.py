"""Calls of a script that go to Redis together: each caller gets its own answer, and no other's fate."""

import asyncio
from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError, ResponseError

from concord.storage.redis.connection import open_redis
from concord.storage.redis.traces import JoinedCalls
from tests.kit.ports import free_port

ECHO = """
if ARGV[1] == 'full' then return redis.error_reply('OOM of the test') end
if ARGV[1] == 'wrong' then return redis.call('LPUSH', KEYS[1]) end
return redis.call('INCR', KEYS[1]) and ARGV[1]
"""


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    client = open_redis(redis_url, retry_s=0.3)
    yield client
    await client.aclose()


@pytest.fixture
def sent(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many calls went out together, in order."""
    numbers: list[int] = []
    pipeline = redis.pipeline

    def counted(transaction: bool) -> Any:  # noqa: ANN401 - redis-py's
        opened = pipeline(transaction=transaction)
        execute = opened.execute

        async def noted(raise_on_error: bool) -> list[Any]:
            numbers.append(len(opened))
            return await execute(raise_on_error)

        opened.execute = noted  # type: ignore[assignment, method-assign]
        return opened

    monkeypatch.setattr(redis, "pipeline", counted)
    return numbers


async def test_calls_made_at_once_go_together_and_each_gets_its_own_answer(redis: Redis, sent: list[int]) -> None:
    echo = JoinedCalls(redis, ECHO)
    await redis.script_load(ECHO)
    said = [str(number) for number in range(150)]
    assert await asyncio.gather(*(echo(["k"], [each]) for each in said)) == [each.encode() for each in said]
    assert sent == [64, 64, 22]
    assert await redis.get("k") == b"150"


async def test_large_calls_go_apart(redis: Redis, sent: list[int]) -> None:
    echo = JoinedCalls(redis, ECHO)
    await redis.script_load(ECHO)
    await asyncio.gather(*(echo(["k"], [b"x" * 700_000]) for _ in range(3)))
    assert sent == [1, 1, 1]


@pytest.mark.parametrize("known", [True, False])
async def test_a_call_that_fails_leaves_the_others_their_answers(redis: Redis, known: bool) -> None:
    echo = JoinedCalls(redis, ECHO)
    await (redis.script_load(ECHO) if known else redis.script_flush())
    calls = (echo(["k"], [each]) for each in ("a", "full", "b", "wrong", "c"))
    a, full, b, wrong, c = await asyncio.gather(*calls, return_exceptions=True)
    assert (a, b, c) == (b"a", b"b", b"c")
    assert isinstance(full, OutOfMemoryError)
    assert isinstance(wrong, ResponseError)


async def test_a_call_that_is_cancelled_leaves_the_others_their_answers(redis: Redis) -> None:
    echo = JoinedCalls(redis, ECHO)
    calls = [asyncio.create_task(echo(["k"], [each])) for each in "abc"]
    await asyncio.sleep(0)
    calls[1].cancel()
    a, b, c = await asyncio.gather(*calls, return_exceptions=True)
    assert (a, c) == (b"a", b"c")
    assert isinstance(b, asyncio.CancelledError)
    assert await echo(["k"], ["d"]) == b"d"


async def test_calls_go_out_in_no_callers_context(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = ContextVar[str]("caller", default="nobody")
    caller.set("a participant that floods")
    pipeline, sent_by = redis.pipeline, []

    def noted(transaction: bool) -> Any:  # noqa: ANN401 - redis-py's
        sent_by.append(caller.get())
        return pipeline(transaction=transaction)

    monkeypatch.setattr(redis, "pipeline", noted)
    await redis.script_load(ECHO)
    await JoinedCalls(redis, ECHO)(["k"], ["a"])
    assert sent_by == ["nobody"]


async def test_a_redis_that_has_forgotten_the_script_learns_it_again(redis: Redis) -> None:
    echo = JoinedCalls(redis, ECHO)
    for _ in range(2):
        await redis.script_flush()
        assert await asyncio.gather(*(echo(["k"], [each]) for each in "ab")) == [b"a", b"b"]


async def test_every_call_hears_that_redis_is_away() -> None:
    client = open_redis(f"redis://127.0.0.1:{free_port()}", retry_s=0)
    echo = JoinedCalls(client, ECHO)
    answers = await asyncio.gather(*(echo(["k"], [each]) for each in "ab"), return_exceptions=True)
    await client.aclose()
    assert [isinstance(each, RedisConnectionError | OSError) for each in answers] == [True, True]
