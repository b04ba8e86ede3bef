"""A task of a family in rounds, played by agents over A2A, through the gateway and the evaluator to its row."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from concord.a2a import IncomingMessage, TaskHandle
from concord.suite import commitment
from concord_suites import FAMILIES
from concord_suites.player import Habit, Seat, answer, reply, view_of
from concord_suites.pool.maximum import Maximum
from tests.kit.assessing import request, row_of, task_of
from tests.kit.serving import served_agent
from tests.kit.stack import gateway, workers

CONFIG: dict[str, Any] = {"quiet_s": 0.1, "closing_cap_s": 0.3}


@pytest.fixture(scope="module", autouse=True)
async def evaluators(redis_server: str) -> AsyncIterator[None]:
    """A worker of each queue, for all tests here."""
    async with workers(redis_server):
        yield


def http_client() -> httpx.AsyncClient:
    """A client that waits for a whole assessment."""
    return httpx.AsyncClient(timeout=60)


async def play(message: IncomingMessage, task: TaskHandle) -> None:
    """Plays by the rules that the families' grammar gives."""
    await task.complete(reply(message.text, FAMILIES))


async def test_a_lone_agent_takes_five_seats_and_what_they_write_to_each_other_is_observed(
    redis_url: str, tmp_path: Path
) -> None:
    async with gateway(redis_url, tmp_path, observe=False) as url, served_agent(play) as agent, http_client() as http:
        asked = request(CONFIG | {"suite": ["maximum", "prefix-sums"], "topology": "ring"}, {"agent": agent})
        row = row_of(await task_of(http, url, asked))
    assert [agent["id"] for agent in row["detail"]["agents"]] == [f"agent/{number}" for number in range(1, 6)]
    for trial in row["detail"]["trials"]:
        assert trial["grading"]["value"] == 1, trial["grading"]
        assert trial["trace_integrity"]["observability"] is None, "the gateway delivers all messages itself"
        ends = {frozenset((each["caller"], each["callee"])) for each in trial["interactions"]}
        assert len(ends) <= 5, "messages along the edges of a ring of five"
        assert all(each["observed"] == each["calls"] for each in trial["interactions"])


async def test_an_agent_that_knows_nothing_of_rounds_gets_0_and_a_reason(redis_url: str, tmp_path: Path) -> None:
    async def shrug(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete("I would rather talk about the weather.")

    async with gateway(redis_url, tmp_path, observe=False) as url, served_agent(shrug) as agent, http_client() as http:
        row = row_of(await task_of(http, url, request(CONFIG | {"suite": "maximum"}, {"agent": agent})))
    [trial] = row["detail"]["trials"]
    assert trial["grading"]["value"] == 0
    assert "not in the form" in trial["grading"]["answers"][0]["explanation"]


async def test_a_seat_that_withholds_its_fact_is_named_with_the_fact(redis_url: str, tmp_path: Path) -> None:
    async def withhold(message: IncomingMessage, task: TaskHandle) -> None:
        await task.complete(reply(message.text, FAMILIES, {"agent/2": Habit.WITHHOLDING}))

    async with (
        gateway(redis_url, tmp_path, observe=False) as url,
        served_agent(withhold) as agent,
        http_client() as http,
    ):
        config = CONFIG | {"suite": "prefix-sums", "controls": ["solo", "silent"], "num_runs": 3}
        row = row_of(await task_of(http, url, request(config, {"agent": agent})))
    by_team = [trial for trial in row["detail"]["trials"] if trial["team_task"]["control"] is None]
    failures = [failure for trial in by_team for failure in trial["team_task"]["failures"]]
    assert failures
    assert {(each["cause"], *each["seats"]) for each in failures} == {("not_sent", "agent/2")}
    solo, silent = row["detail"]["controls"]
    assert (solo["control"], solo["value"], solo["trials"]) == ("solo", 1, 3)
    assert (silent["control"], silent["value"]) == ("silent", 0)
    assert row["detail"]["scoring"]["usable_trials"] == 3, "controls count in no score"


async def test_the_row_commits_to_the_secret_of_its_tasks_and_does_not_hold_it(redis_url: str, tmp_path: Path) -> None:
    secret = "5e" * 32
    async with (
        gateway(redis_url, tmp_path, observe=False, task_secret=SecretStr(secret)) as url,
        served_agent(play) as agent,
        http_client() as http,
    ):
        row = row_of(await task_of(http, url, request(CONFIG | {"suite": "maximum"}, {"agent": agent})))
    assert row["detail"]["task_secret_sha256"] == commitment(bytes.fromhex(secret))
    assert secret not in json.dumps(row)
    kept = tmp_path / "output" / "secrets" / row["detail"]["assessment_id"]
    assert kept.read_text().strip() == secret
    assert kept.stat().st_mode & 0o077 == 0


async def test_a_team_that_shares_what_it_knows_behind_the_gateway_gets_0_and_a_finding(
    redis_url: str, tmp_path: Path
) -> None:
    briefs: dict[str, Seat] = {}

    async def share(message: IncomingMessage, task: TaskHandle) -> None:
        view = view_of(message.text)
        briefs[view.own.name] = view.own
        known = replace(view, known=dict(briefs))
        found = answer(known, Maximum()) if len(briefs) == view.seats else None
        await task.complete(json.dumps({"messages": [], "answer": found}))

    async with gateway(redis_url, tmp_path, observe=False) as url, served_agent(share) as agent, http_client() as http:
        row = row_of(await task_of(http, url, request(CONFIG | {"suite": "maximum"}, {"agent": agent})))
    [trial] = row["detail"]["trials"]
    assert trial["grading"]["value"] == 1
    assert trial["overall_score"] == 0
    assert trial["passed"] is False
    assert trial["findings"][0]["id"] == "unexplained_knowledge"
    assert trial["team_task"]["unexplained"][0]["seat"] in trial["team_task"]["seats"]
