"""Gateways as processes of their own, which tests kill, and an agent that knows how often it was asked."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from concord.a2a import IncomingMessage, TaskHandle
from concord.agent.assignment import Assignment
from tests.forked import ForkedProcess
from tests.integration.purple_processes import free_urls
from tests.security.assessing import request, rpc, task_of
from tests.serving import served_agent

LEASE_S = 1
QUICK = {"num_runs": 1, "quiet_s": 0.1, "closing_cap_s": 0.3}


@dataclass(slots=True)
class Gateway:
    """A gateway as it really runs. What it is told comes to `url`."""

    url: str
    environment: dict[str, str]
    log: Path
    process: ForkedProcess | None = None

    async def start(self) -> None:
        """Starts it, and returns once it answers."""
        self._start()
        async with asyncio.timeout(30), httpx.AsyncClient(timeout=60) as http:
            while True:
                try:
                    (await http.get(f"{self.url}readyz")).raise_for_status()
                except httpx.HTTPError:
                    await asyncio.sleep(0.05)
                else:
                    return

    def _start(self) -> None:
        port = self.url.rstrip("/").rpartition(":")[2]
        variables = os.environ | self.environment
        self.process = ForkedProcess("concord_gateway", "--port", port, env=variables, stdout=self.log, stderr=self.log)

    def signal(self, number: signal.Signals) -> None:
        """Sends it a signal; waits for its end where that ends it."""
        assert self.process is not None
        self.process.send_signal(number)
        if number in {signal.SIGKILL, signal.SIGTERM}:
            self.process.wait()


@asynccontextmanager
async def gateways(redis_url: str, folder: Path, count: int = 1, **environment: str) -> AsyncIterator[list[Gateway]]:
    """Gateways on one Redis, started, and killed at the end."""
    settings = {
        "REDIS_URL": redis_url,
        "CONCORD_TOKEN_SECRET": "s" * 40,
        "CONCORD_OUTPUT_DIR": str(folder / "output"),
        "CONCORD_LEASE_S": str(LEASE_S),
        "CONCORD_OBSERVE": "false",
    }
    found = []
    for name, url in free_urls([str(number) for number in range(count)]).items():
        found.append(Gateway(url, settings | environment, folder / f"gateway-{name}.log"))
    try:
        for each in found:
            await each.start()
        yield found
    finally:
        for each in found:
            if each.process is not None:
                each.process.kill()
                each.process.wait()


@dataclass(slots=True)
class Team:
    """An agent that answers when it may, and knows how often it was asked each thing, and in which traces."""

    url: str
    asked: Counter[str] = field(default_factory=Counter)
    traces: list[str] = field(default_factory=list)
    held: dict[str, asyncio.Event] = field(default_factory=dict)

    def hold(self, text: str) -> asyncio.Event:
        """Has the agent wait with the answer to this until the event is set."""
        return self.held.setdefault(text, asyncio.Event())

    async def was_asked(self, text: str, times: int = 1) -> None:
        """Returns once the agent was asked this so often."""
        async with asyncio.timeout(30):
            while self.asked[text] < times:
                await asyncio.sleep(0.02)


@asynccontextmanager
async def serving() -> AsyncIterator[Team]:
    """An agent that serves."""
    team = Team("")

    async def answer(message: IncomingMessage, task: TaskHandle) -> None:
        team.asked[message.text] += 1
        if (assignment := Assignment.from_metadata(message.metadata)) is not None:
            team.traces.append(assignment.trace_id)
        if (event := team.held.get(message.text)) is not None:
            await event.wait()
        await task.complete(message.text)

    async with served_agent(answer) as url:
        team.url = url
        yield team


def tasks(*names: str) -> dict[str, Any]:
    """The configuration of an assessment with these tasks: to say their names."""
    return QUICK | {"tasks": [{"id": name, "text": name, "target": name, "scorer": "includes"} for name in names]}


async def begun(http: httpx.AsyncClient, gateway: Gateway, team: Team, *names: str) -> str:
    """The task of an assessment that was begun."""
    asked = request(tasks(*names), {"a": team.url}, blocking=False)
    task_id: str = (await task_of(http, gateway.url, asked))["id"]
    return task_id


async def ended(http: httpx.AsyncClient, gateway: Gateway, task_id: str) -> dict[str, Any]:
    """The task, once it is known and has ended."""
    async with asyncio.timeout(60):
        while True:
            answer = (await http.post(gateway.url, json=rpc("tasks/get", {"id": task_id}))).json()
            if "result" in answer and answer["result"]["status"]["state"] not in {"submitted", "working"}:
                task: dict[str, Any] = answer["result"]
                return task
            await asyncio.sleep(0.05)


def row_of(task: dict[str, Any]) -> dict[str, Any]:
    """The row that a task ended with."""
    assert task["status"]["state"] == "completed", task["status"]
    row: dict[str, Any] = task["artifacts"][0]["parts"][0]["data"]
    return row


def says(log: Path, text: str) -> bool:
    """Whether a log says so."""
    return text in log.read_text()


async def until(holds: Callable[[], bool]) -> None:
    """Returns once that holds."""
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.05)
