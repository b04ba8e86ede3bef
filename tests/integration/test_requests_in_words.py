"""Clients that write words instead of JSON: the gateway asks for what is missing, and goes on in the same task."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.serving import eventually, reserved, url_of
from tests.kit.stack import Stack, called, message, stack


@pytest.fixture
async def running(redis_url: str, tmp_path: Path) -> AsyncIterator[Stack]:
    async with stack(redis_url, tmp_path) as running:
        yield running


async def said(running: Stack, text: str, task_id: str | None = None) -> dict[str, Any]:
    """The answer to a message: a task, or an error."""
    params = message(text)
    if task_id is not None:
        params["message"]["taskId"] = task_id
    params["configuration"] = {"blocking": True}
    _, document = await called(running.gateway, "message/send", **params)
    answer: dict[str, Any] = document.get("result") or document["error"]
    return answer


async def test_a_greeting_is_asked_for_the_agents_and_their_urls_begin_the_assessment_in_the_same_task(
    running: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("concord_gateway.plan.RETRY_S", 0)
    greeted = await said(running, "Hello")
    assert greeted["status"]["state"] == "input-required"
    assert "Which agents shall I assess?" in text_of(greeted)
    again = await said(running, "What do you mean?", greeted["id"])
    assert (again["id"], again["status"]["state"]) == (greeted["id"], "input-required")
    with reserved() as nobody:
        begun = await said(running, f"assess the writer: {url_of(nobody)}", greeted["id"])
        assert (begun["id"], begun["status"]["state"]) == (greeted["id"], "failed")
        assert "could not reach writer" in text_of(begun)
        assert (await said(running, "Hello", greeted["id"]))["code"] == -32004


def text_of(task: dict[str, Any]) -> str:
    """What the agent says with the task's state."""
    text: str = task["status"]["message"]["parts"][0]["text"]
    return text


async def test_a_task_that_waits_leaves_memory_and_goes_on_from_storage(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("concord.a2a.server._DURABLE_INTERRUPTED_S", 0.01)
    async with stack(redis_url, tmp_path) as running:
        greeted = await said(running, "Hello")
        await eventually(lambda: not any(greeted["id"] in task.get_name() for task in asyncio.all_tasks()))
        again = await said(running, "What do you mean?", greeted["id"])
    assert (again["id"], again["status"]["state"]) == (greeted["id"], "input-required")


async def test_a_task_that_waits_for_its_client_can_be_canceled(running: Stack) -> None:
    greeted = await said(running, "Hello")
    _, document = await called(running.gateway, "tasks/cancel", id=greeted["id"])
    assert document["result"]["status"]["state"] == "canceled"
