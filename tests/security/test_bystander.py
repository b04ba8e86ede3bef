"""The gateway's own work for an assessment with many agents, or many calls, lets the work for others come between."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from concord.a2a import Handler, IncomingMessage, TaskHandle
from concord.plain_http import NO_CERTIFICATES
from concord.wire.assignment import Assignment
from concord_gateway.assignments import OwnWork
from tests.kit.serving import served_agent
from tests.kit.stack import message, rpc, stack

SEATS = 100
CALLS = 12
NESTED = 100
TEAM = {"suite": "maximum", "exchange": "rounds", "num_runs": 1, "tasks": None}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """By whose work each piece was, in the order in which they were made."""
    order: list[int] = []
    works: list[OwnWork] = []  # keeps their ids apart
    piece = OwnWork.piece

    @asynccontextmanager
    async def noting(self: OwnWork) -> AsyncIterator[None]:
        works.append(self)
        async with piece(self):
            order.append(id(self))
            yield

    monkeypatch.setattr(OwnWork, "piece", noting)
    return order


def calling(asked: IncomingMessage, callee: str) -> str:
    """Where the agent that was asked reaches another one."""
    assignment = Assignment.from_metadata(asked.metadata)
    assert assignment is not None
    assert assignment.token is not None
    return f"/a2a/{assignment.token.get_secret_value()}/{callee}/"


async def _quiet(_: IncomingMessage, task: TaskHandle) -> None:
    await task.complete(json.dumps({"messages": [], "answer": "1"}))


async def test_a_bystander_beside_a_hundred_seats_gets_every_second_piece_while_it_asks(
    redis_url: str, tmp_path: Path, made: list[int]
) -> None:
    async with stack(redis_url, tmp_path) as running, served_agent(_quiet) as url:
        await asyncio.gather(
            running.row({"agent": url}, seats=SEATS, max_rounds=1, **TEAM),
            running.row({"agent": url}, seats=5, max_rounds=1, **TEAM),
        )
    bystander, crowd = sorted(Counter(made), key=made.count)
    assert (made.count(bystander), made.count(crowd)) == (5, SEATS)
    own = [place for place, name in enumerate(made) if name == bystander]
    assert max(later - earlier for earlier, later in pairwise(own)) <= 2


async def test_each_call_between_agents_is_a_piece_of_the_work_for_their_assessment(
    redis_url: str, tmp_path: Path, made: list[int]
) -> None:
    async def asking(asked: IncomingMessage, task: TaskHandle) -> None:
        async with httpx.AsyncClient(timeout=60, verify=NO_CERTIFICATES) as http:
            url = running.gateway + calling(asked, "friend")
            await asyncio.gather(*(http.post(url, json=rpc("message/send", **message("hi"))) for _ in range(CALLS)))
        await task.complete("done")

    async with stack(redis_url, tmp_path) as running, served_agent(asking) as url, served_agent(_quiet) as friend:
        await running.row({"agent": url, "friend": friend}, num_runs=1, start="agent")
    [(_, count)] = Counter(made).items()
    assert count >= 3 * CALLS  # each is read, rewritten and answered


async def test_a_chain_of_nested_calls_ends(redis_url: str, tmp_path: Path) -> None:
    depth = 0

    def nesting(callee: str) -> Handler:
        async def ask(asked: IncomingMessage, task: TaskHandle) -> None:
            nonlocal depth
            depth += 1
            if depth < NESTED:
                async with httpx.AsyncClient(timeout=60, verify=NO_CERTIFICATES) as http:
                    url = running.gateway + calling(asked, callee)
                    answer = await http.post(url, json=rpc("message/send", **message("and you?")))
                assert answer.json()["result"]["status"]["state"] == "completed"
            await task.complete("done")

        return ask

    async with (
        stack(redis_url, tmp_path) as running,
        served_agent(nesting("two")) as one,
        served_agent(nesting("one")) as two,
    ):
        row = await running.row({"one": one, "two": two}, num_runs=1, start="one")
    assert depth == NESTED
    assert row["detail"]["trials"][0]["error"] is None
