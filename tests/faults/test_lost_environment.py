"""Lost environments of assistants: the assessment says so, a successor starts anew, and no process stays."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from concord_assistant.config import GreenAgentConfig
from concord_assistant.green_agent import GreenAgent
from concord_assistant.scenario.loader import load_scenario
from tests.faults.gateways import Gateway, gateways
from tests.integration.assistant.conftest import FIRST_DAY, Assessor, assistant_of
from tests.integration.assistant.scripted import first_day
from tests.integration.assistant.test_gateway import CONFIG, WAIT, assess
from tests.kit.assessing import request, row_of, task_of, wait_for_end
from tests.kit.stack import workers
from tests.kit.workers import alive, children, gone


@pytest.fixture(autouse=True)
async def evaluators(redis_url: str) -> AsyncIterator[None]:
    """A worker of each queue."""
    async with workers(redis_url):
        yield


def environments_of(gateway: Gateway) -> list[int]:
    """The guards of the gateway's environments, and the environments."""
    assert gateway.process is not None
    guards = children(gateway.process.pid)
    return [*guards, *(child for guard in guards for child in children(guard))]


async def test_a_killed_environment_fails_the_assessment_which_says_so(redis_url: str, tmp_path: Path) -> None:
    killed: list[int] = []

    async def kill(_: httpx.AsyncClient, __: int) -> dict[str, Any]:
        killed.extend(environments_of(gateway))
        os.kill(killed[-1], signal.SIGKILL)
        await asyncio.sleep(60)
        return WAIT

    async with gateways(redis_url, tmp_path, CONCORD_OBSERVE="true") as (gateway,), assistant_of(kill) as (_, url):
        answer, _updates = await assess(gateway.url, {"helper": url})
        assert answer.state == "failed"
        assert "no usable trial: the environment process was ended by SIGKILL" in answer.status_text
        await gone(killed)
        assert environments_of(gateway) == []


async def test_a_killed_gateway_leaves_no_environment_and_its_successor_starts_the_trial_anew(
    redis_url: str, tmp_path: Path
) -> None:
    first = asyncio.Event()

    async def play(environment: httpx.AsyncClient, number: int) -> dict[str, Any]:
        if not first.is_set():
            first.set()
            await asyncio.sleep(60)
        return await first_day(environment, number)

    async with (
        gateways(redis_url, tmp_path, CONCORD_OBSERVE="true") as (gateway,),
        assistant_of(play) as (assistant, url),
        httpx.AsyncClient(timeout=60) as http,
    ):
        task_id = (await task_of(http, gateway.url, request(CONFIG, {"helper": url}, blocking=False)))["id"]
        await asyncio.wait_for(first.wait(), 60)
        found = environments_of(gateway)
        assert len(alive(found)) == 2
        gateway.signal(signal.SIGKILL)
        await gone(found)
        await gateway.start()
        row = row_of(await wait_for_end(http, gateway.url, task_id))
    assert row["score"] == 100
    keys = [each["api_key"] for each in assistant.received if each["message_type"] == "assessment_start"]
    assert len(set(keys)) == 2
    assert len(row["detail"]["assessment_results"]) == 1


async def test_a_killed_environment_fails_the_assessment_at_once_and_leaves_no_process() -> None:
    scenario = await asyncio.to_thread(load_scenario, FIRST_DAY)
    agent = GreenAgent(config=GreenAgentConfig(notify_timeout_s=60))
    await agent.startup()
    assert agent.server.pid is not None
    found = [agent.server.pid, *children(agent.server.pid)]

    async def kill(_: httpx.AsyncClient, __: int) -> dict[str, Any]:
        os.kill(found[1], signal.SIGKILL)
        await asyncio.sleep(60)
        return WAIT

    try:
        async with assistant_of(kill) as (assistant, url), asyncio.timeout(60):
            results = await Assessor(agent, scenario).run(url)
            assert assistant.received[-1] == {"message_type": "assessment_complete", "reason": "error"}
        assert (results.status, results.unjudged) == ("failed", True)
        assert "the environment process was ended by SIGKILL" in (results.error or "")
        assert results.scores.overall.max_score == 0
        async with assistant_of(kill) as (_, url):
            assert "was ended by SIGKILL" in ((await Assessor(agent, scenario).run(url)).error or ""), "still lost"
    finally:
        await agent.shutdown()
    await gone(found)
