"""Requests for assessments as a plain client of A2A 0.3 writes them, and workers to evaluate the trials."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx

from concord.assessment.jobs import Queue
from concord.wire.ids import new_step_id
from tests.integration.workers import worker

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


@contextmanager
def workers(redis_url: str, folder: Path, **environment: str) -> Iterator[None]:
    """A running worker for each queue."""
    with ExitStack() as running:
        for queue in Queue:
            running.enter_context(worker(queue, redis_url, folder / queue.value, **environment))
        yield
