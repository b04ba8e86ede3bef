"""Lost Redis: an assessment's data after a kill of its Redis, by how that Redis writes to disk."""

import shutil
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
import redis

from tests.faults.gateways import gateways
from tests.kit.assessing import CountingAgent, begin, counting_agent, row_of, wait_for_end
from tests.kit.redis_servers import PrivateServer
from tests.kit.workers import workers

RETRIED_SOON = {"CONCORD_JOB_TIMEOUT_FAST_S": "5", "CONCORD_JOB_TIMEOUT_LLM_S": "5"}
"""Settings of workers, whose jobs are retried after 5 s if a worker is killed."""


@pytest.fixture
async def agent() -> AsyncIterator[CountingAgent]:
    async with counting_agent() as agent:
        yield agent


@pytest.fixture
def evaluators(private_redis: PrivateServer, tmp_path: Path) -> Iterator[None]:
    """A running worker for each queue."""
    with workers(private_redis.url, tmp_path):
        yield


@pytest.mark.usefixtures("evaluators")
@pytest.mark.parametrize("appendfsync", ["always", "everysec"])
async def test_an_assessment_loses_nothing_when_redis_is_killed_and_restarted(
    private_redis: PrivateServer, tmp_path: Path, agent: CountingAgent, appendfsync: str
) -> None:
    with redis.Redis.from_url(private_redis.url) as client:
        client.config_set("appendfsync", appendfsync)
    async with gateways(private_redis.url, tmp_path) as (gateway,):
        withheld = agent.withhold("two")
        async with httpx.AsyncClient(timeout=60) as http:
            task_id = await begin(http, gateway.url, agent, "one", "two", "three")
            await agent.has_received("two")
            private_redis.wait_until_written()
            private_redis.kill()
            private_redis.start()
            withheld.set()
            row = row_of(await wait_for_end(http, gateway.url, task_id))
    assert agent.received == {"one": 1, "two": 1, "three": 1}
    assert (row["score"], row["detail"]["scoring"]["usable_trials"]) == (100, 3)


async def test_an_assessment_continues_after_gateway_workers_and_redis_were_killed(
    private_redis: PrivateServer, tmp_path: Path, agent: CountingAgent
) -> None:
    async with gateways(private_redis.url, tmp_path) as (gateway,):
        with workers(private_redis.url, tmp_path, **RETRIED_SOON):
            withheld = agent.withhold("two")
            async with httpx.AsyncClient(timeout=60) as http:
                task_id = await begin(http, gateway.url, agent, "one", "two")
                await agent.has_received("two")
            gateway.signal(signal.SIGKILL)
            private_redis.kill()
        private_redis.start()
        withheld.set()
        with workers(private_redis.url, tmp_path, **RETRIED_SOON):
            await gateway.start()
            async with httpx.AsyncClient(timeout=60) as http:
                row = row_of(await wait_for_end(http, gateway.url, task_id))
    assert agent.received == {"one": 1, "two": 2}
    assert (row["score"], row["detail"]["scoring"]["usable_trials"]) == (100, 2)


@pytest.mark.usefixtures("evaluators")
async def test_an_assessment_fails_with_a_reason_when_redis_lost_its_data_and_the_next_one_runs(
    private_redis: PrivateServer, tmp_path: Path, agent: CountingAgent
) -> None:
    async with gateways(private_redis.url, tmp_path, CONCORD_EVALUATION_TIMEOUT_S="15") as (gateway,):
        withheld = agent.withhold("one")
        async with httpx.AsyncClient(timeout=60) as http:
            task_id = await begin(http, gateway.url, agent, "one")
            await agent.has_received("one")
            private_redis.kill()
            shutil.rmtree(tmp_path / "redis" / "appendonlydir")
            private_redis.start()
            withheld.set()
            task = await wait_for_end(http, gateway.url, task_id)
            after = row_of(await wait_for_end(http, gateway.url, await begin(http, gateway.url, agent, "two")))
    assert task["status"]["state"] == "failed"
    assert "no result" in task["status"]["message"]["parts"][0]["text"]
    assert after["score"] == 100
