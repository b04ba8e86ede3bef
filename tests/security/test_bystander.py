"""An assessment with many agents, or agents with many calls, takes the event loop in a share of its own."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from concord.a2a import IncomingMessage, TaskHandle
from concord.wire.assignment import Assignment
from concord_gateway.loop_shares import LoopShare
from tests.kit.serving import served_agent
from tests.kit.stack import message, rpc, stack

SEATS = 12
CALLS = 12
TEAM = {"suite": "maximum", "exchange": "rounds", "max_rounds": 1, "num_runs": 1, "tasks": None}


@pytest.fixture
def charged(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """The steps that each share was charged with."""
    counted: Counter[int] = Counter()
    shares: list[LoopShare] = []  # keeps their ids apart
    step = LoopShare.step

    def counting(self: LoopShare, *resumed: Any) -> object:  # noqa: ANN401 - as the step has it
        shares.append(self)
        counted[id(self)] += 1
        return step(self, *resumed)

    monkeypatch.setattr(LoopShare, "step", counting)
    return counted


async def _quiet(_: IncomingMessage, task: TaskHandle) -> None:
    await task.complete(json.dumps({"messages": [], "answer": "1"}))


async def test_each_assessment_is_charged_with_the_calls_of_its_own_seats(
    redis_url: str, tmp_path: Path, charged: Counter[int]
) -> None:
    async with stack(redis_url, tmp_path) as running, served_agent(_quiet) as url:
        await asyncio.gather(*(running.row({"agent": url}, seats=seats, **TEAM) for seats in (2, SEATS)))
    few, many = sorted(charged.values())
    assert many > few + SEATS


async def test_calls_between_agents_are_charged_to_their_assessment(
    redis_url: str, tmp_path: Path, charged: Counter[int]
) -> None:
    before: list[int] = []

    async def calling(asked: IncomingMessage, task: TaskHandle) -> None:
        assignment = Assignment.from_metadata(asked.metadata)
        assert assignment is not None
        assert assignment.token is not None
        before.append(charged.total())
        url = f"{running.gateway}/a2a/{assignment.token.get_secret_value()}/friend/"
        async with httpx.AsyncClient(timeout=60) as http:
            await asyncio.gather(*(http.post(url, json=rpc("message/send", **message("hi"))) for _ in range(CALLS)))
        before.append(charged.total())
        await task.complete("done")

    async with stack(redis_url, tmp_path) as running, served_agent(calling) as url, served_agent(_quiet) as friend:
        await running.row({"agent": url, "friend": friend}, num_runs=1, start="agent")
    assert len(charged) == 1
    assert before[1] - before[0] > CALLS
