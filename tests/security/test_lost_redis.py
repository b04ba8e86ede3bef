"""What is left of an assessment when its Redis is killed, by how that Redis writes to disk."""

import shutil
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
import redis

from tests.redis_servers import PrivateServer
from tests.security.assessing import workers
from tests.security.gateways import Team, begun, ended, gateways, row_of, serving


@pytest.fixture
async def team() -> AsyncIterator[Team]:
    """An agent."""
    async with serving() as team:
        yield team


@pytest.fixture
def evaluators(private_redis: PrivateServer, tmp_path: Path) -> Iterator[None]:
    """A worker of each queue."""
    with workers(private_redis.url, tmp_path):
        yield


def fsync(server: PrivateServer, how: str) -> None:
    """Has a Redis write its append-only file to disk so."""
    with redis.Redis.from_url(server.url) as client:
        client.config_set("appendfsync", how)


@pytest.mark.usefixtures("evaluators")
@pytest.mark.parametrize("how", ["always", "everysec"])
async def test_a_redis_that_is_killed_and_comes_back_costs_the_assessment_nothing(
    private_redis: PrivateServer, tmp_path: Path, team: Team, how: str
) -> None:
    fsync(private_redis, how)
    async with gateways(private_redis.url, tmp_path) as (gateway,):
        held = team.hold("two")
        async with httpx.AsyncClient(timeout=60) as http:
            task_id = await begun(http, gateway, team, "one", "two", "three")
            await team.was_asked("two")
            private_redis.kill()
            private_redis.start()
            held.set()
            row = row_of(await ended(http, gateway, task_id))
    assert team.asked == {"one": 1, "two": 1, "three": 1}
    assert (row["score"], row["detail"]["scoring"]["usable_trials"]) == (100, 3)


async def test_everything_killed_at_once_goes_on_where_it_was(
    private_redis: PrivateServer, tmp_path: Path, team: Team
) -> None:
    fsync(private_redis, "always")
    async with gateways(private_redis.url, tmp_path) as (gateway,):
        with workers(private_redis.url, tmp_path):
            held = team.hold("two")
            async with httpx.AsyncClient(timeout=60) as http:
                task_id = await begun(http, gateway, team, "one", "two")
                await team.was_asked("two")
            gateway.signal(signal.SIGKILL)
            private_redis.kill()
        private_redis.start()
        held.set()
        with workers(private_redis.url, tmp_path):
            await gateway.start()
            async with httpx.AsyncClient(timeout=60) as http:
                row = row_of(await ended(http, gateway, task_id))
    assert team.asked == {"one": 1, "two": 2}
    assert (row["score"], row["detail"]["scoring"]["usable_trials"]) == (100, 2)


@pytest.mark.usefixtures("evaluators")
async def test_a_redis_that_comes_back_empty_fails_the_assessment_in_words_and_not_the_next(
    private_redis: PrivateServer, tmp_path: Path, team: Team
) -> None:
    async with gateways(private_redis.url, tmp_path, CONCORD_EVALUATION_TIMEOUT_S="15") as (gateway,):
        held = team.hold("one")
        async with httpx.AsyncClient(timeout=60) as http:
            task_id = await begun(http, gateway, team, "one")
            await team.was_asked("one")
            private_redis.kill()
            shutil.rmtree(tmp_path / "redis" / "appendonlydir")
            private_redis.start()
            held.set()
            task = await ended(http, gateway, task_id)
            after = row_of(await ended(http, gateway, await begun(http, gateway, team, "two")))
    assert task["status"]["state"] == "failed"
    assert "no result" in task["status"]["message"]["parts"][0]["text"]
    assert after["score"] == 100
