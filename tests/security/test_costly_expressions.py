"""Costly regular expressions of a client: its request is refused by name, and the requests of others do not wait."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from concord_gateway import app as gateway_app
from tests.kit.assessing import rpc
from tests.kit.stack import message, stack

ATTACKER, OTHER = "the-key-of-the-attacker", "the-key-of-somebody-else"
COSTLY = "[!-\uffff]" * 198
"""A thousand characters, for each of whose sets Python's `re` goes through all characters up to U+FFFF."""

REQUESTS = 4


def request(pattern: str, tasks: int) -> dict[str, Any]:
    """Starts an assessment of so many tasks with that pattern, and does not wait for it."""
    scorers = [{"name": "pattern", "pattern": f"(?i){pattern}{number}"} for number in range(tasks)]
    named = [{"id": f"t{n}", "text": "Say something.", "scorer": scorer} for n, scorer in enumerate(scorers)]
    text = json.dumps({"participants": {"a": "http://127.0.0.1:9"}, "config": {"tasks": named}}, ensure_ascii=False)
    assert len(text) < 10_000
    return rpc("message/send", {**message(text), "configuration": {"blocking": False}})


async def status(http: httpx.AsyncClient, task_id: str) -> dict[str, Any]:
    found = (await http.post("/", json=rpc("tasks/get", {"id": task_id}))).json()["result"]["status"]
    assert isinstance(found, dict)
    return found


async def refusal(http: httpx.AsyncClient, task_id: str) -> str:
    """Waits until the task is rejected. Returns the reason."""
    async with asyncio.timeout(60):
        while (found := await status(http, task_id))["state"] != "rejected":
            await asyncio.sleep(0.05)
    return "".join(part.get("text", "") for part in found["message"]["parts"])


async def test_costly_expressions_are_refused_by_name_while_the_requests_of_others_go_on(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway_app, "CHECK_CPU_S", 1.0)
    async with (
        stack(redis_url, tmp_path, api_keys=f"{ATTACKER},{OTHER}") as running,
        httpx.AsyncClient(base_url=running.gateway, headers={"x-api-key": ATTACKER}, timeout=60) as attacker,
        httpx.AsyncClient(base_url=running.gateway, headers={"x-api-key": OTHER}, timeout=60) as other,
    ):
        costly = [(await attacker.post("/", json=request(COSTLY, 8))).json()["result"]["id"] for _ in range(REQUESTS)]
        [faulty] = [(await other.post("/", json=request("(", 1))).json()["result"]["id"]]

        assert "config.tasks.0.scorer.pattern: is not a regular expression" in await refusal(other, faulty)
        states = [(await status(attacker, each))["state"] for each in costly]
        assert "submitted" in states, "the costly requests were all checked before that of the other client"
        for each in costly:
            assert "exceeded its limit of 1 s of CPU time" in await refusal(attacker, each)
