"""The connections to Redis: each command gets its own answer, and waits its turn for a connection."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest
from redis import exceptions
from redis.asyncio import Redis

from concord.storage.redis.clients import TimedPool
from concord.storage.redis.connection import open_redis
from tests.kit.serving import eventually


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    client = open_redis(redis_url, retry_s=1)
    yield client
    await client.aclose()


class TestAnswers:
    async def test_an_answer_that_nobody_read_is_given_to_no_other_command(self, redis: Redis) -> None:
        pool = redis.connection_pool
        for parsed in (False, True):  # left in the stream, and in the parser behind an answer that was read
            left = await pool.get_connection()
            await left.send_packed_command(left.pack_commands([("ECHO", "first"), ("ECHO", "second")]))
            if parsed:
                assert await left.read_response() == b"first"
            else:
                await eventually(lambda: not left._socket_is_empty())  # noqa: B023 - it is awaited here
            await pool.release(left)
            assert await redis.echo("third") == b"third"

    async def test_a_connection_that_the_server_closed_is_replaced(self, redis: Redis, redis_url: str) -> None:
        before = await redis.client_id()
        other = open_redis(redis_url, retry_s=1)
        await other.client_kill_filter(_id=str(before))
        await other.aclose()
        assert await redis.client_id() != before

    async def test_cancelled_commands_leave_every_connection_with_its_own_answers(self, redis: Redis) -> None:
        for steps in range(12):
            sent = [asyncio.create_task(_echo(redis, number)) for number in range(40)]
            for _ in range(steps):
                await asyncio.sleep(0)
            for each in sent[::3]:
                each.cancel()
            answers = await asyncio.gather(*sent, return_exceptions=True)
            assert all(
                answer == str(number).encode() or (number % 3 == 0 and isinstance(answer, asyncio.CancelledError))
                for number, answer in enumerate(answers)
            )


async def _echo(redis: Redis, number: int) -> bytes:
    answer: bytes = await redis.echo(str(number))
    return answer


class TestTurns:
    @pytest.fixture
    async def pool(self, redis_url: str) -> AsyncIterator[TimedPool]:
        pool = TimedPool.from_url(redis_url, max_connections=2, turn_s=60)
        yield pool
        await pool.aclose()

    async def test_commands_at_the_limit_wait_in_turn(self, pool: TimedPool) -> None:
        taken = [await pool.get_connection() for _ in range(2)]
        order: list[int] = []

        async def wait(number: int) -> None:
            connection = await pool.get_connection()
            order.append(number)
            await pool.release(connection)

        waiting = [asyncio.create_task(wait(number)) for number in range(5)]
        await asyncio.sleep(0)
        assert order == []
        await pool.release(taken[0])
        await asyncio.gather(*waiting)
        assert order == [0, 1, 2, 3, 4]

    async def test_a_caller_beside_a_hundred_busy_ones_keeps_at_least_half_their_pace(self, redis: Redis) -> None:
        answered: Counter[int] = Counter()

        async def ask(number: int) -> None:
            while True:
                await redis.ping()
                answered[number] += 1

        busy = [asyncio.create_task(ask(number)) for number in range(100)]
        await eventually(lambda: len(answered) == 100)
        answered.clear()
        for _ in range(20):
            await redis.ping()
        paces = [answered[number] for number in range(100)]
        for each in busy:
            each.cancel()
        await asyncio.wait(busy)
        assert max(paces) <= 2 * 20

    async def test_cancelled_commands_give_their_connections_back(self, pool: TimedPool) -> None:
        redis = Redis(connection_pool=pool)
        for turns in range(30):
            sent = [asyncio.create_task(_echo(redis, number)) for number in range(6)]
            for _ in range(turns):
                await asyncio.sleep(0)
            for each in sent[:5]:
                each.cancel()
            await asyncio.wait(sent)
            taken = await asyncio.gather(*(pool.get_connection() for _ in range(2)))
            await asyncio.gather(*map(pool.release, taken))

    async def test_one_that_waits_in_vain_says_so(self, redis_url: str) -> None:
        pool = TimedPool.from_url(redis_url, max_connections=1, turn_s=0)
        taken = await pool.get_connection()
        with pytest.raises(exceptions.ConnectionError, match="no connection was free"):
            await pool.get_connection()
        await pool.release(taken)
        assert await pool.get_connection() is taken
        await pool.release(taken)
        await pool.aclose()

    async def test_a_connection_that_cannot_be_made_gives_its_turn_back(self) -> None:
        pool = TimedPool.from_url("redis://127.0.0.1:1/", max_connections=1, turn_s=60)
        for _ in range(2):
            with pytest.raises(exceptions.ConnectionError):
                await pool.get_connection()
        await pool.aclose()
