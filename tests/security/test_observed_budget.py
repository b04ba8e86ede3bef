"""What the gateway observes of a team is charged to its trial: over the budget, the trial ends by name and counts 0."""

import asyncio
import json
from collections.abc import Awaitable
from pathlib import Path
from typing import cast

import httpx
import pytest

from concord.a2a import IncomingMessage, TaskHandle
from concord.storage import TraceStore
from concord.storage.redis import keys
from concord.wire.assignment import Assignment
from concord.wire.roster import GREEN_AGENT
from concord_gateway import assessment
from concord_gateway.drivers import driver
from tests.kit.serving import served_agent
from tests.kit.stack import message, rpc, stack

CALLS = 12
TASKS = [{"id": name, "text": name, "target": "something", "scorer": "includes"} for name in ("good", "bad")]


async def _echo(message: IncomingMessage, task: TaskHandle) -> None:
    await task.complete(message.text)


class TestObservedCalls:
    async def test_a_team_that_calls_without_end_loses_its_trial_at_once_and_no_other(
        self, redis_url: str, tmp_path: Path
    ) -> None:
        async def play(message_: IncomingMessage, task: TaskHandle) -> None:
            assignment = Assignment.from_metadata(message_.metadata)
            if message_.text == "good" or assignment is None or assignment.token is None:
                await task.complete("something")
                return
            url = f"{running.gateway}/a2a/{assignment.token.get_secret_value()}/friend/"
            async with httpx.AsyncClient(timeout=60) as http:
                for _ in range(CALLS):
                    await http.post(url, json=rpc("message/send", **message("hello")))
            await asyncio.Event().wait()  # it never answers: its trial would last until its time limit

        async with (
            stack(redis_url, tmp_path, max_steps=10) as running,
            served_agent(play) as url,
            served_agent(_echo) as friend,
        ):
            row = await running.row({"agent": url, "friend": friend}, tasks=TASKS, num_runs=1, start="agent")
        [failure] = row["detail"]["infrastructure"]
        assert (failure["loss"], failure["caused_by"]) == ("limit", "participants")
        assert "exceeds a trial's budget of 10 calls or 64 MiB" in failure["message"]
        assert (row["score"], row["detail"]["scoring"]["score_high"]) == (50, 50)
        assert row["detail"]["scoring"]["replayed"] == 0

    async def test_calls_that_another_gateway_carried_count_as_well(
        self, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with stack(redis_url, tmp_path) as running:

            async def settled(_: TraceStore, trace_id: str, *__: object, **___: object) -> None:
                """Waits for nothing; before the trial is closed, another gateway is refused a call of it."""
                await cast(Awaitable[int], running.storage.redis.hincrby(keys.refused(trace_id), GREEN_AGENT, 1))

            monkeypatch.setattr(assessment, "wait_until_settled", settled)
            async with served_agent(_echo) as url:
                answer = await running.assess({"agent": url}, num_runs=1)
        assert "budget" in json.dumps(answer.data_parts) + answer.status_text


async def test_messages_to_invented_seats_are_few_steps(redis_url: str, tmp_path: Path) -> None:
    invented = [f"nobody {number}" for number in range(5_000)]
    reply = json.dumps({"messages": [{"to": invented, "text": "x" * 1000}] * 3, "answer": "1"})

    async def answer(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete(reply)

    config = {"suite": "maximum", "seats": 2, "exchange": "rounds", "max_rounds": 1, "num_runs": 1, "tasks": None}
    async with stack(redis_url, tmp_path) as running, served_agent(answer) as url:
        row = await running.row({"agent": url}, **config)
    [trial] = row["detail"]["trials"]
    assert len(trial["calls"]) + trial["calls_omitted"] <= 2 * 3 * 3 + 2


@pytest.mark.parametrize("exchange", [{"exchange": "rounds", "max_rounds": 1}, {"exchange": "calls"}])
@pytest.mark.parametrize("before", ["", "it's "])
async def test_replies_that_take_too_long_to_read_end_their_trial_by_name(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, exchange: dict[str, object]
) -> None:
    monkeypatch.setattr(driver, "MAX_READING_S", 0.0)

    async def answer(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete(before + json.dumps({"messages": [], "answer": "1"}))

    config = {"suite": "maximum", "seats": 3, "num_runs": 1, "tasks": None, **exchange}
    async with stack(redis_url, tmp_path) as running, served_agent(answer) as url:
        ended = await running.assess({"agent": url}, **config)
    told = json.dumps(ended.data_parts) + ended.status_text
    assert "exceeded a trial's budget of 0 s for the reading of replies" in told
