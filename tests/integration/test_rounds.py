"""A task of a family in rounds, played by agents over A2A, through the gateway and the evaluator to its row."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from concord.a2a import IncomingMessage, TaskHandle
from concord_suites import FAMILIES
from concord_suites.player import reply
from tests.security.assessing import request, task_of, workers
from tests.security.gateways import gateways, row_of
from tests.serving import served_agent

CONFIG: dict[str, Any] = {"quiet_s": 0.1, "closing_cap_s": 0.3}


@pytest.fixture(scope="module", autouse=True)
def evaluators(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A worker of each queue, for all tests here."""
    with workers(redis_server, tmp_path_factory.mktemp("workers")):
        yield


async def play(message: IncomingMessage, task: TaskHandle) -> None:
    """Plays by the rules that the families' grammar gives."""
    await task.complete(reply(message.text, FAMILIES))


async def test_a_lone_agent_takes_five_seats_and_what_they_write_to_each_other_is_observed(
    redis_url: str, tmp_path: Path
) -> None:
    async with gateways(redis_url, tmp_path) as (gateway,), served_agent(play) as agent, httpx.AsyncClient() as http:
        http.timeout = httpx.Timeout(60)
        asked = request(CONFIG | {"suite": ["maximum", "prefix-sums"], "topology": "ring"}, {"agent": agent})
        row = row_of(await task_of(http, gateway.url, asked))
    assert [agent["id"] for agent in row["detail"]["agents"]] == [f"agent/{number}" for number in range(1, 6)]
    for trial in row["detail"]["trials"]:
        assert trial["grading"]["value"] == 1, trial["grading"]
        assert trial["trace_integrity"]["observability"] == "full"
        ends = {frozenset((each["caller"], each["callee"])) for each in trial["interactions"]}
        assert len(ends) <= 5, "messages along the edges of a ring of five"
        assert all(each["observed"] == each["calls"] for each in trial["interactions"])


async def test_an_agent_that_knows_nothing_of_rounds_gets_0_and_a_reason(redis_url: str, tmp_path: Path) -> None:
    async def shrug(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete("I would rather talk about the weather.")

    async with gateways(redis_url, tmp_path) as (gateway,), served_agent(shrug) as agent, httpx.AsyncClient() as http:
        http.timeout = httpx.Timeout(60)
        row = row_of(await task_of(http, gateway.url, request(CONFIG | {"suite": "maximum"}, {"agent": agent})))
    [trial] = row["detail"]["trials"]
    assert trial["grading"]["value"] == 0
    assert "not in the form" in trial["grading"]["answers"][0]["explanation"]
