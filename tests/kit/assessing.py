"""Requests for assessments as a plain client of A2A 0.3 writes them, and an agent that counts its messages."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from concord.a2a import IncomingMessage, TaskHandle
from concord.wire.assignment import Assignment
from concord.wire.roster import new_step_id
from tests.kit.serving import served_agent

QUICK = {"num_runs": 1, "quiet_s": 0.1, "closing_cap_s": 0.3}
PATTERN: dict[str, Any] = {
    "agents": ["A", "B", "C"],
    "edges": [{"from": "A", "to": "B"}, {"from": "B", "to": "C"}, {"from": "C", "to": "A"}],
}


def rpc(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def request(
    config: dict[str, Any], participants: dict[str, str] | None = None, *, blocking: bool = True
) -> dict[str, Any]:
    """A JSON-RPC request that starts an assessment."""
    text = json.dumps({"participants": participants or {}, "config": config})
    message = {"kind": "message", "role": "user", "messageId": new_step_id(), "parts": [{"kind": "text", "text": text}]}
    return rpc("message/send", {"message": message, "configuration": {"blocking": blocking}})


async def task_of(http: httpx.AsyncClient, url: str, document: dict[str, Any]) -> dict[str, Any]:
    """The task in the answer to a request."""
    task: dict[str, Any] = (await http.post(url, json=document)).json()["result"]
    return task


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


async def begin(http: httpx.AsyncClient, url: str, agent: CountingAgent, *names: str) -> str:
    """Starts an assessment of the agent with these tasks and returns the id of its A2A task."""
    received = request(tasks(*names), {"a": agent.url}, blocking=False)
    task_id: str = (await task_of(http, url, received))["id"]
    return task_id


async def wait_for_end(http: httpx.AsyncClient, url: str, task_id: str) -> dict[str, Any]:
    """Waits until a task has ended and returns it."""
    async with asyncio.timeout(60):
        while True:
            answer = (await http.post(url, json=rpc("tasks/get", {"id": task_id}))).json()
            if "result" in answer and answer["result"]["status"]["state"] not in {"submitted", "working"}:
                task: dict[str, Any] = answer["result"]
                return task
            await asyncio.sleep(0.05)


def row_of(task: dict[str, Any]) -> dict[str, Any]:
    """The row of a task, which must have completed."""
    assert task["status"]["state"] == "completed", task["status"]
    row: dict[str, Any] = task["artifacts"][0]["parts"][0]["data"]
    return row
