"""Faults that a request plants in the calls of a team: what its agents meet, and what the row says of it.

In the chain here, agent/3 has the question. It asks agent/2, which has the answer and asks agent/4; and agent/5, which
asks agent/1.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from concord.bundle import bundle_file, contents_of, read_bundle
from concord_evaluator.recomputation import recomputed_row
from concord_suites.agent import create_app
from tests.kit.serving import reserved, served, url_of
from tests.kit.stack import Stack, stack

SECRET = SecretStr("5e" * 32)
TEAM: dict[str, Any] = {"tasks": None, "suite": "maximum", "topology": "chain", "exchange": "calls"}
CLOSED, LATE = "the agent cannot be reached: the connection was closed", "the agent did not answer in time"


@pytest.fixture
async def services(redis_url: str, tmp_path: Path) -> AsyncIterator[Stack]:
    async with stack(redis_url, tmp_path / "output", task_secret=SECRET) as running:
        yield running


@pytest.fixture
async def agent() -> AsyncIterator[str]:
    holder = reserved()
    async with served(create_app(f"{url_of(holder)}/", {}), holder) as url:
        yield f"{url}/"


def causes(row: dict[str, Any]) -> set[tuple[str, ...]]:
    [trial] = row["detail"]["trials"]
    return {(each["cause"], *sorted(each["seats"])) for each in trial["team_task"]["failures"]}


def calls(row: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    [trial] = row["detail"]["trials"]
    seats = [each for each in trial["calls"] if each["caller"].startswith("agent/")]
    return [(each["caller"][-1], each["callee"][-1], each["error"]) for each in seats]


GOOD = [("3", "2", None), ("2", "4", None), ("3", "5", None), ("5", "1", None)]


@pytest.mark.parametrize(
    ("fault", "expected", "seen"),
    [
        (
            {"kind": "cut", "edge": ["agent/2", "agent/3"]},
            {("undelivered", "agent/2", "agent/3")},
            [("3", "2", CLOSED), ("3", "5", None), ("5", "1", None)],
        ),
        (
            {"kind": "drop", "sender": "agent/3", "receiver": "agent/2"},
            {("undelivered", "agent/2", "agent/3")},
            [("3", "2", LATE), ("3", "5", None), ("5", "1", None)],
        ),
        (
            {"kind": "drop", "sender": "agent/2", "receiver": "agent/3"},
            {("not_sent", "agent/2"), ("not_passed_on", "agent/2")},
            [("3", "2", LATE), *GOOD[1:]],
        ),
        (
            {"kind": "silence", "seat": "agent/3"},
            {("undelivered", "agent/2", "agent/3"), ("undelivered", "agent/3", "agent/5")},
            [("3", "2", LATE), ("3", "5", LATE)],
        ),
    ],
)
async def test_a_lost_message_is_no_more_to_its_caller_than_an_answer_that_never_comes(
    services: Stack,
    agent: str,
    fault: dict[str, object],
    expected: set[tuple[str, ...]],
    seen: list[tuple[str, str, str | None]],
) -> None:
    row = await services.row({"agent": agent}, **TEAM, faults=[fault])
    assert (causes(row), calls(row)) == (expected, seen)
    assert row["detail"]["planted_faults"] == 1
    assert row["detail"]["scoring"]["ranking_parts"]["tasks"] == "families with planted faults"


async def test_a_garbled_number_is_found_with_the_seat_whose_messages_are_garbled(services: Stack, agent: str) -> None:
    garble = {"kind": "garble", "sender": "agent/5"}
    row = await services.row({"agent": agent}, **TEAM | {"suite": "prefix-sums"}, faults=[garble])
    assert row["score"] < 100
    assert causes(row) == {("changed", "agent/5")}


async def test_the_same_team_on_the_same_task_without_faults_loses_nothing(services: Stack, agent: str) -> None:
    row = await services.row({"agent": agent}, **TEAM)
    assert (row["score"], causes(row), calls(row), row["detail"]["planted_faults"]) == (100, set(), GOOD, 0)


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ({"kind": "duplicate", "sender": "agent/2"}, [GOOD[0], GOOD[1], *GOOD[1:]]),
        ({"kind": "delay", "sender": "agent/2", "seconds": 0.1}, GOOD),
    ],
)
async def test_a_team_tolerates_what_arrives_twice_or_later(
    services: Stack, agent: str, fault: dict[str, object], seen: list[tuple[str, str, str | None]]
) -> None:
    row = await services.row({"agent": agent}, **TEAM, faults=[fault])
    assert (row["score"], causes(row), calls(row)) == (100, set(), seen)


async def test_a_call_that_arrives_at_another_seat_is_recorded_where_it_arrives(services: Stack, agent: str) -> None:
    swap = {"kind": "swap", "sender": "agent/3", "receiver": "agent/2", "instead": "agent/5"}
    row = await services.row({"agent": agent}, **TEAM, faults=[swap])
    assert ("3", "5", None) in calls(row)
    assert ("3", "2", None) in calls(row)
    assert calls(row)[0] != GOOD[0]


async def test_the_evaluator_does_not_read_the_faults(services: Stack, agent: str) -> None:
    row = await services.row({"agent": agent}, **TEAM, faults=[{"kind": "drop", "sender": "agent/4"}])
    bundle = read_bundle(bundle_file(services.output, row["detail"]["assessment_id"]))
    contents = contents_of(bundle.manifest, bundle.members)
    blind = contents.plan.model_copy(update={"config": contents.plan.config.model_copy(update={"faults": []})})
    known = (await recomputed_row(contents)).detail
    blind_row = await recomputed_row(type(contents)(blind, contents.request, contents.row_inputs, contents.trials))
    assert blind_row.detail.shard != known.shard, "which names the plan"
    assert blind_row.detail.model_copy(update={"shard": known.shard}) == known


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"kind": "reorder", "sender": "agent/1"}, "reorder cannot exist by calls"),
        ({"kind": "echo", "seat": "agent/1"}, "echo cannot exist by calls"),
        ({"kind": "chatter", "sender": "agent/1"}, "chatter cannot exist by calls"),
        ({"kind": "drop", "sender": "agent/1", "first_round": 2}, "drop names a round"),
        ({"kind": "delay", "sender": "agent/1"}, "needs `seconds`"),
        ({"kind": "drop", "sender": "agent/9"}, "'agent/9'"),
    ],
)
async def test_faults_that_cannot_exist_by_calls_are_refused_by_name(
    services: Stack, agent: str, fault: dict[str, object], reason: str
) -> None:
    answer = await services.assess({"agent": agent}, **TEAM, faults=[fault])
    assert not answer.data_parts
    assert reason in answer.status_text
