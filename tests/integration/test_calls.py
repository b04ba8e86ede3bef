"""A task of a family by calls, played by agents over A2A, through the gateway and the evaluator to its row."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from concord.a2a import IncomingMessage, TaskHandle
from concord.assessment.task_spec import Exchange
from concord.storage.connection import connect
from concord.trust.redaction import TOKEN_PREFIX
from concord.wire.roster import RosterEntry
from concord_gateway.calls import Channels, SeatPlace, TrialChannel
from concord_suites.agent import create_app
from concord_suites.player import Habit
from tests.kit.assessing import request, row_of, task_of
from tests.kit.collectors import SECRET, bearer, collector
from tests.kit.serving import reserved, served, served_agent, url_of
from tests.kit.stack import gateway, workers

CONFIG: dict[str, Any] = {"quiet_s": 0.1, "closing_cap_s": 0.3}
TASK_SECRET = SecretStr("5e" * 32)
NUMBER = re.compile(r"\d\d,?\d{3}(?!\d)")


@pytest.fixture(scope="module", autouse=True)
async def evaluators(redis_server: str) -> AsyncIterator[None]:
    """A worker of each queue, for all tests here."""
    async with workers(redis_server):
        yield


@asynccontextmanager
async def sample_agent(habits: dict[str, Habit] | None = None) -> AsyncIterator[str]:
    """The sample agent, whose card announces calls."""
    holder = reserved()
    async with served(create_app(f"{url_of(holder)}/", habits or {}), holder) as url:
        yield f"{url}/"


async def row(redis_url: str, folder: Path, config: dict[str, Any], participants: dict[str, str]) -> dict[str, Any]:
    """The row of an assessment."""
    async with (
        gateway(redis_url, folder, task_secret=TASK_SECRET) as url,
        httpx.AsyncClient(timeout=60) as http,
    ):
        return row_of(await task_of(http, url, request(CONFIG | config, participants)))


async def test_agents_that_announce_calls_play_by_calls_along_the_topology(redis_url: str, tmp_path: Path) -> None:
    async with sample_agent() as agent:
        config = {"suite": ["maximum", "leader-election"], "topology": "chain"}
        found = await row(redis_url, tmp_path, config, {"agent": agent})
    first, second = found["detail"]["trials"]
    for trial in (first, second):
        assert trial["grading"]["value"] == 1, trial["grading"]
        assert trial["team_task"]["exchange"] == "calls"
        assert trial["trace_integrity"]["observability"] == "full"
        ends = {frozenset((each["caller"], each["callee"])) for each in trial["interactions"]}
        assert len(ends) == 4, "calls along the edges of a chain of five"
        assert trial["team_task"]["coverage"][-1] == 1
    assert first["team_task"]["messages"] == first["team_task"]["fewest_messages"] == 4
    assert TOKEN_PREFIX not in json.dumps(found)


async def test_a_seat_that_withholds_its_fact_by_calls_is_named_with_the_fact(redis_url: str, tmp_path: Path) -> None:
    async with sample_agent({"agent/2": Habit.WITHHOLDING}) as agent:
        found = await row(redis_url, tmp_path, {"suite": "prefix-sums"}, {"agent": agent})
    [trial] = found["detail"]["trials"]
    failures = trial["team_task"]["failures"]
    assert {(each["cause"], *each["seats"], *each["facts"]) for each in failures} == {
        ("not_sent", "agent/2", failures[0]["facts"][0])
    }


async def test_controls_are_played_by_calls_as_well(redis_url: str, tmp_path: Path) -> None:
    async with sample_agent() as agent:
        config = {"suite": "maximum", "controls": ["solo", "silent"]}
        found = await row(redis_url, tmp_path, config, {"agent": agent})
    solo, silent = found["detail"]["controls"]
    assert (solo["value"], solo["trials"], silent["value"], silent["trials"]) == (1, 1, 0, 1)
    refused = [each for each in found["detail"]["trials"][2]["calls"] if each["error"] is not None]
    assert {each["error"] for each in refused} == {"no call is carried in this trial"}


async def test_a_team_that_shares_briefs_behind_the_gateway_gets_0_and_a_finding(
    redis_url: str, tmp_path: Path
) -> None:
    heard: list[str] = []

    async def share(message: IncomingMessage, task: TaskHandle) -> None:
        heard.append(message.text)
        highest = max((int(each.replace(",", "")) for text in heard for each in NUMBER.findall(text)), default=None)
        await task.complete(json.dumps({"answer": highest}))

    async with served_agent(share) as agent:
        config = {"suite": "maximum", "exchange": "calls", "difficulty": 1}
        found = await row(redis_url, tmp_path, config, {"agent": agent})
    [trial] = found["detail"]["trials"]
    assert trial["grading"]["value"] == 1
    assert trial["overall_score"] == 0
    assert trial["findings"][0]["id"] == "unexplained_knowledge"


async def test_a_seat_answers_for_itself_alone(redis_url: str, tmp_path: Path) -> None:
    async def speak_for_all(message: IncomingMessage, task: TaskHandle) -> None:
        mine = "You are agent/1." in message.text
        everything = {f"agent/{number}": 48213 for number in range(1, 6)}
        await task.complete(json.dumps({"answer": everything if mine else None, "answers": everything}))

    async with served_agent(speak_for_all) as agent:
        found = await row(redis_url, tmp_path, {"suite": "prefix-sums", "exchange": "calls"}, {"agent": agent})
    [trial] = found["detail"]["trials"]
    given = {each["agent"]: each["explanation"] for each in trial["grading"]["answers"]}
    assert trial["error"].count("its reply has no answer") == 4
    assert trial["grading"]["value"] == 0, given


async def test_an_agent_that_knows_nothing_of_calls_gets_its_brief_the_question_and_a_reason(
    redis_url: str, tmp_path: Path
) -> None:
    received: list[IncomingMessage] = []

    async def shrug(message: IncomingMessage, task: TaskHandle) -> None:
        received.append(message)
        await task.complete("I would rather talk about the weather.")

    async with served_agent(shrug) as agent:
        found = await row(redis_url, tmp_path, {"suite": "maximum", "exchange": "calls"}, {"agent": agent})
    [trial] = found["detail"]["trials"]
    assert trial["grading"]["value"] == 0
    assert "not in the form" in trial["grading"]["answers"][0]["explanation"]
    contexts = [message.context_id for message in received]
    assert len(set(contexts)) == 5, "a context for each seat"
    assert sorted(contexts[:5]) == sorted(contexts[5:]), "all briefs come before the question"
    assert all("What only you know:" in message.text for message in received[:5])
    assert all("The question to the team:" in message.text for message in received[5:])


async def test_calls_that_the_gateway_does_not_observe_are_rejected(redis_url: str, tmp_path: Path) -> None:
    async with (
        gateway(redis_url, tmp_path, observe=False) as url,
        sample_agent() as agent,
        httpx.AsyncClient(timeout=60) as http,
    ):
        asked = request(CONFIG | {"suite": "maximum", "exchange": "calls"}, {"agent": agent})
        task = await task_of(http, url, asked)
    assert task["status"]["state"] == "rejected"
    assert "CONCORD_OBSERVE" in str(task["status"]["message"])


async def test_a_seat_sees_itself_and_its_neighbours_alone(redis_url: str) -> None:
    entries = [RosterEntry(id=f"agent/{number}", url="http://agent:9009/") for number in (1, 2, 3)]
    places = [
        SeatPlace(entry=entry, context_id="c", neighbours=("agent/2",) if entry.id != "agent/2" else ())
        for entry in entries
    ]
    channel = TrialChannel(exchange=Exchange.CALLS, seats=places)
    async with connect(redis_url) as storage, collector(redis_url, open=False, token_secret=SECRET) as client:
        await storage.registry.register("a1", entries)
        await Channels(storage.assessments, storage.registry, "http://gateway:9009/").announce("t1", channel)
        seen = {entry.id: (await client.get("/peers", headers=bearer(entry.id))).json()["peers"] for entry in entries}
    assert [each["id"] for each in seen["agent/1"]] == ["agent/1", "agent/2"]
    assert [each["id"] for each in seen["agent/2"]] == ["agent/2"]
    assert all("/a2a/" in each["url"] for each in seen["agent/1"]), "behind the proxy"
