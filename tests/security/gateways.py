"""Gateways in processes of their own, which tests can kill, and an agent that counts its messages."""

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
from concord.wire.assignment import Assignment
from tests.forked import ForkedProcess
from tests.integration.purple_processes import free_urls
from tests.security.assessing import request, rpc, task_of
from tests.serving import served_agent

LEASE_S = 3
"""A busy machine may pause a process for a second or two."""
QUICK = {"num_runs": 1, "quiet_s": 0.1, "closing_cap_s": 0.3}


@dataclass(slots=True)
class Gateway:
    """A gateway process that listens at `url`."""

    url: str
    environment: dict[str, str]
    log: Path
    process: ForkedProcess | None = None

    async def start(self) -> None:
        """Starts the process and waits until the gateway answers."""
        self._start()
        async with asyncio.timeout(60), httpx.AsyncClient(timeout=60) as http:
            while True:
                try:
                    (await http.get(f"{self.url}healthz")).raise_for_status()
                except httpx.HTTPError:
                    await asyncio.sleep(0.05)
                else:
                    return

    def _start(self) -> None:
        port = self.url.rstrip("/").rpartition(":")[2]
        variables = os.environ | self.environment
        self.process = ForkedProcess("concord_gateway", "--port", port, env=variables, stdout=self.log, stderr=self.log)

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the process, and waits for the process to end on SIGKILL and SIGTERM."""
        assert self.process is not None
        self.process.send_signal(number)
        if number in {signal.SIGKILL, signal.SIGTERM}:
            self.process.wait()


@asynccontextmanager
async def gateways(redis_url: str, folder: Path, count: int = 1, **environment: str) -> AsyncIterator[list[Gateway]]:
    """Running gateways that share a Redis. They are killed at the end."""
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
class CountingAgent:
    """An agent that answers with the message's text. It counts messages by text and keeps their traces in order."""

    url: str
    received: Counter[str] = field(default_factory=Counter)
    traces: list[str] = field(default_factory=list)
    withheld: dict[str, asyncio.Event] = field(default_factory=dict)

    def withhold(self, text: str) -> asyncio.Event:
        """Makes the agent withhold its answer to this text until the event is set."""
        return self.withheld.setdefault(text, asyncio.Event())

    async def has_received(self, text: str, times: int = 1) -> None:
        """Waits until the agent has received this text so many times."""
        async with asyncio.timeout(60):
            while self.received[text] < times:
                await asyncio.sleep(0.02)


@asynccontextmanager
async def counting_agent() -> AsyncIterator[CountingAgent]:
    """A `CountingAgent` that serves messages."""
    agent = CountingAgent("")

    async def answer(message: IncomingMessage, task: TaskHandle) -> None:
        agent.received[message.text] += 1
        if (assignment := Assignment.from_metadata(message.metadata)) is not None:
            agent.traces.append(assignment.trace_id)
        if (event := agent.withheld.get(message.text)) is not None:
            await event.wait()
        await task.complete(message.text)

    async with served_agent(answer) as url:
        agent.url = url
        yield agent


def tasks(*names: str) -> dict[str, Any]:
    """The configuration of an assessment with these tasks; the right answer to each is its name."""
    return QUICK | {"tasks": [{"id": name, "text": name, "target": name, "scorer": "includes"} for name in names]}


async def begin(http: httpx.AsyncClient, gateway: Gateway, agent: CountingAgent, *names: str) -> str:
    """Starts an assessment of the agent with these tasks and returns the id of its A2A task."""
    received = request(tasks(*names), {"a": agent.url}, blocking=False)
    task_id: str = (await task_of(http, gateway.url, received))["id"]
    return task_id


async def wait_for_end(http: httpx.AsyncClient, gateway: Gateway, task_id: str) -> dict[str, Any]:
    """Waits until a task has ended and returns it."""
    async with asyncio.timeout(60):
        while True:
            answer = (await http.post(gateway.url, json=rpc("tasks/get", {"id": task_id}))).json()
            if "result" in answer and answer["result"]["status"]["state"] not in {"submitted", "working"}:
                task: dict[str, Any] = answer["result"]
                return task
            await asyncio.sleep(0.05)


def row_of(task: dict[str, Any]) -> dict[str, Any]:
    """The row of a task, which must have completed."""
    assert task["status"]["state"] == "completed", task["status"]
    row: dict[str, Any] = task["artifacts"][0]["parts"][0]["data"]
    return row


def contains(log: Path, text: str) -> bool:
    """Whether a log contains the text."""
    return text in log.read_text()


async def until(holds: Callable[[], bool]) -> None:
    """Waits until the condition holds."""
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.05)
