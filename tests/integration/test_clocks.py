"""The common time: processes whose clocks disagree, or jump, agree about tokens, jobs and registrations."""

import time
from collections.abc import AsyncIterator, Callable
from itertools import cycle
from pathlib import Path

import httpx
import pytest
from redis.asyncio import Redis

from concord.a2a import IncomingMessage, TaskHandle
from concord.errors import StorageUnavailableError
from concord.storage.redis.clock import RENEW_S, RedisClock
from concord.storage.redis.connection import open_redis
from concord.wire.assignment import Assignment
from tests.kit.collectors import NO_TLS, batch, bearer_of, step
from tests.kit.redis_servers import PrivateServer
from tests.kit.serving import served_agent
from tests.kit.stack import stack

ROUNDING_S = 0.001
HOURS_3 = 3 * 3600


class HeldClock:
    """A monotonic clock that a test moves."""

    def __init__(self, at: float) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    async with open_redis(redis_url, retry_s=0) as opened:
        yield opened


async def told_by(redis: Redis) -> float:
    """The time of Redis, in seconds."""
    seconds, microseconds = await redis.time()
    return float(seconds + microseconds / 1e6)


class TestRedisClock:
    @pytest.mark.parametrize("origin", [0.0, -120.0, HOURS_3, 1e9])
    async def test_it_tells_the_time_of_redis_whatever_the_machines_clock_says(
        self, redis: Redis, origin: float
    ) -> None:
        before = await told_by(redis)
        now = await RedisClock(redis, HeldClock(origin)).now()
        assert before - ROUNDING_S <= now <= await told_by(redis) + ROUNDING_S

    async def test_it_goes_on_by_the_monotonic_clock_and_is_renewed_each_minute(self, redis: Redis) -> None:
        machine = HeldClock(0.0)
        clock = RedisClock(redis, machine)
        first = await clock.now()
        machine.at = RENEW_S - 1
        assert await clock.now() == pytest.approx(first + RENEW_S - 1)
        machine.at = RENEW_S  # a minute by this machine, and a moment by Redis
        assert first - ROUNDING_S <= await clock.now() <= await told_by(redis) + ROUNDING_S

    async def test_a_lost_redis_does_not_stop_it_once_it_has_been_told_the_time(
        self, private_redis: PrivateServer
    ) -> None:
        machine = HeldClock(0.0)
        async with open_redis(private_redis.url, retry_s=0) as redis:
            clock, untold = RedisClock(redis, machine), RedisClock(redis, machine)
            first = await clock.now()
            private_redis.stop()
            machine.at = 2 * RENEW_S
            assert await clock.now() == pytest.approx(first + 2 * RENEW_S)
            with pytest.raises(StorageUnavailableError):
                await untold.now()


def jumping(monkeypatch: pytest.MonkeyPatch, *by: float) -> None:
    """Has this machine's clock jump with every look at it, for Concord and for arq."""
    told, jumps = time.time, cycle(by)
    look: Callable[[], float] = lambda: told() + next(jumps)  # noqa: E731
    for name in ("time.time", "arq.utils.time"):
        monkeypatch.setattr(name, look)


@pytest.mark.parametrize("by", [[120, -120], [HOURS_3, -HOURS_3, 0]], ids=str)
async def test_an_assessment_completes_and_its_tokens_are_valid_however_the_machines_clock_jumps(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: list[float]
) -> None:
    answered: list[int] = []

    async def look_around(message: IncomingMessage, task: TaskHandle) -> None:
        mine = Assignment.from_metadata(message.metadata)
        assert mine is not None
        assert mine.token is not None
        async with httpx.AsyncClient(verify=NO_TLS) as http:
            bearer = bearer_of(mine.token)
            peers = await http.get(str(mine.peers_url), headers=bearer)
            reported = batch(step(trace_id=mine.trace_id), trace_id=mine.trace_id, reporter=mine.agent_id)
            told = await http.post(f"{mine.collector_url}/traces", json=reported, headers=bearer)
            card = await http.get(f"{peers.json()['peers'][0]['url']}.well-known/agent-card.json")
        answered.extend(each.status_code for each in (peers, told, card))
        await task.complete("something")

    jumping(monkeypatch, *by)
    async with (
        stack(redis_url, tmp_path) as running,
        served_agent(look_around) as one,
        served_agent(look_around) as two,
    ):
        row = await running.row({"writer": one, "critic": two})
    assert row["score"] == 100
    assert set(answered) == {200, 202}
