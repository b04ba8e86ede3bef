"""Faults that a request plants in the network of a team: what the row says of them, played through the services."""

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from concord.a2a import IncomingMessage, TaskHandle
from concord.bundle import bundle_file, contents_of, read_bundle
from concord_evaluator.recomputation import recomputed_row
from concord_suites import FAMILIES
from concord_suites.player import reply
from tests.kit.serving import served_agent
from tests.kit.stack import Stack, stack

SECRET = SecretStr("5e" * 32)
TEAM: dict[str, Any] = {"tasks": None, "suite": "prefix-sums", "topology": "chain"}


@pytest.fixture
async def services(redis_url: str, tmp_path: Path) -> AsyncIterator[Stack]:
    async with stack(redis_url, tmp_path / "output", task_secret=SECRET, observe=False) as running:
        yield running


async def play(message: IncomingMessage, task: TaskHandle) -> None:
    await task.complete(reply(message.text, FAMILIES))


async def played(services: Stack, *faults: dict[str, object]) -> dict[str, Any]:
    async with served_agent(play) as agent:
        return await services.row({"agent": agent}, **TEAM, faults=list(faults))


def causes(row: dict[str, Any]) -> set[tuple[str, ...]]:
    [trial] = row["detail"]["trials"]
    return {(each["cause"], *each["seats"]) for each in trial["team_task"]["failures"]}


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ({"kind": "drop", "sender": "agent/3"}, ("not_sent", "agent/3")),
        ({"kind": "garble", "sender": "agent/1"}, ("changed", "agent/1")),
        ({"kind": "truncate", "sender": "agent/2", "characters": 20}, ("truncated", "agent/2")),
        ({"kind": "cut", "edge": ["agent/3", "agent/2"]}, ("undelivered", "agent/2", "agent/3")),
        ({"kind": "echo", "seat": "agent/3"}, ("not_sent", "agent/3")),
    ],
)
async def test_the_row_names_the_seat_or_the_edge_and_is_never_ranked(
    services: Stack, fault: dict[str, object], expected: tuple[str, ...]
) -> None:
    row = await played(services, fault)
    assert expected in causes(row)
    assert {seat for _, *seats in causes(row) for seat in seats} <= set(expected)
    detail = row["detail"]
    assert detail["planted_faults"] == 1
    assert detail["scoring"]["ranking_parts"]["tasks"] == "families with planted faults"
    assert "faults_planted" in {each["kind"] for each in detail["verdict"]["unknown"]}


async def test_the_same_team_on_the_same_task_without_faults_loses_nothing(services: Stack) -> None:
    row = await played(services)
    assert (row["score"], causes(row), row["detail"]["planted_faults"]) == (100, set(), 0)


async def test_an_agent_that_is_replaced_is_never_asked_and_the_others_see_no_more_than_silence(
    services: Stack,
) -> None:
    asked = Counter[str]()

    async def count(message: IncomingMessage, task: TaskHandle) -> None:
        asked[message.text.split(",")[0]] += 1
        assert "fault" not in message.text
        await play(message, task)

    async with served_agent(count) as agent:
        row = await services.row({"agent": agent}, **TEAM, faults=[{"kind": "null", "seat": "agent/2"}])
    assert "You are agent/2" not in asked
    assert ("not_sent", "agent/2") in causes(row)


async def test_the_evaluator_does_not_read_the_faults(services: Stack) -> None:
    row = await played(services, {"kind": "drop", "sender": "agent/2"}, {"kind": "garble", "sender": "agent/1"})
    bundle = read_bundle(bundle_file(services.output, row["detail"]["assessment_id"]))
    contents = contents_of(bundle.manifest, bundle.members)
    assert len(contents.plan.config.faults) == 2
    blind = contents.plan.model_copy(update={"config": contents.plan.config.model_copy(update={"faults": []})})
    known = await recomputed_row(contents)
    assert known.detail.trials[0].team_task is not None
    assert known.detail.trials[0].team_task.failures
    contents = type(contents)(blind, contents.request, contents.row_inputs, contents.trials)
    computed = (await recomputed_row(contents)).detail
    assert computed.shard != known.detail.shard, "which names the plan"
    assert computed.model_copy(update={"shard": known.detail.shard}) == known.detail


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({**TEAM, "faults": [{"kind": "drop", "sender": "agent/6"}]}, "'agent/6'"),
        ({**TEAM, "faults": [{"kind": "delay", "sender": "agent/1", "seconds": 1}]}, "`seconds` delay calls"),
        ({"faults": [{"kind": "drop", "sender": "agent"}]}, "team tasks"),
        ({**TEAM, "faults": [{"kind": "explode", "sender": "agent/1"}]}, "explode"),
    ],
)
async def test_faults_that_no_trial_would_have_are_refused_with_the_reason(
    services: Stack, config: dict[str, Any], reason: str
) -> None:
    async with served_agent(play) as agent:
        answer = await services.assess({"agent": agent}, **config)
    assert not answer.data_parts
    assert reason in answer.status_text
