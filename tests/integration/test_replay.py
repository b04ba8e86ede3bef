"""Replays of recorded trials with running agents: what turns an outcome, and what does not."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from concord.a2a import IncomingMessage, TaskHandle
from concord.bundle import bundle_file
from concord_cli.commands.arguments import ReplayArguments
from concord_cli.replay.command import replay
from concord_suites import FAMILIES
from concord_suites.player import Habit, reply
from tests.kit.serving import served_agent
from tests.kit.stack import Stack, stack

SECRET = SecretStr("5e" * 32)
TEAM: dict[str, Any] = {"tasks": None, "topology": "chain"}


@pytest.fixture
async def services(redis_url: str, tmp_path: Path) -> AsyncIterator[Stack]:
    async with stack(redis_url, tmp_path / "output", task_secret=SECRET, observe=False) as running:
        yield running


async def replayed(
    services: Stack, capsys: pytest.CaptureFixture[str], habits: Mapping[str, Habit], **config: object
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A trial of the sample agent, and its replays with the same agent, with a repair of each cause."""

    async def play(message: IncomingMessage, task: TaskHandle) -> None:
        await task.complete(reply(message.text, FAMILIES, habits))

    async with served_agent(play) as agent:
        row = await services.row({"agent": agent}, **TEAM | config)
        bundle = bundle_file(services.output, row["detail"]["assessment_id"])
        capsys.readouterr()
        await replay(ReplayArguments(bundle, [f"agent={agent}"], causes=True, as_json=True))
    return row["detail"]["trials"][0], json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("habits", "faults", "cause"),
    [
        ({"agent/2": Habit.WITHHOLDING}, [], "not_sent agent/2"),
        ({"agent/2": Habit.DISTORTING}, [], "changed agent/2"),
        ({"agent/3": Habit.FORGETFUL}, [], "not_passed_on agent/3"),
        ({}, [{"kind": "drop", "sender": "agent/2"}], "not_sent agent/2"),
        ({}, [{"kind": "garble", "sender": "agent/2"}], "changed agent/2"),
        ({}, [{"kind": "cut", "edge": ["agent/2", "agent/3"]}], "undelivered agent/2 and agent/3"),
    ],
)
async def test_the_repair_of_a_proven_cause_turns_what_it_cost_and_without_it_all_is_as_recorded(
    services: Stack,
    capsys: pytest.CaptureFixture[str],
    habits: Mapping[str, Habit],
    faults: list[dict[str, object]],
    cause: str,
) -> None:
    trial, found = await replayed(services, capsys, habits, suite="prefix-sums", difficulty=1, faults=faults)
    assert trial["grading"]["value"] < 1
    turns = {each["change"]: each for each in found}
    assert cause in turns
    assert all(each["turn"]["control_is_equal"] for each in found)
    assert [each["change"] for each in found if not each["turned"]] == []
    assert found[-1]["turn"]["after"] == 1
