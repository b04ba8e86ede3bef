"""Stored A2A tasks: an agent keeps a bounded number of messages and bytes."""

import os
from contextlib import AsyncExitStack

import httpx
import pytest
from a2a.server.context import ServerCallContext
from a2a.types import a2a_pb2 as pb

from concord.a2a import IncomingMessage, TaskHandle
from concord.a2a.task_store import MAX_HISTORY, MAX_KEPT_MESSAGE, BoundedTaskStore
from concord.retention import ENDED_TASK_S, ENDED_TASKS_BYTES
from tests.kit.assessing import rpc
from tests.kit.observed import send
from tests.kit.serving import served_agent


async def test_a_task_keeps_its_first_message_and_the_latest_ones() -> None:
    async def talk(_: IncomingMessage, task: TaskHandle) -> None:
        for number in range(3 * MAX_HISTORY):
            await task.working(f"step {number}")
        await task.complete("done")

    async with served_agent(talk) as url, httpx.AsyncClient(timeout=60) as http:
        task = (await http.post(url, json=send("message/send", "begin"))).json()["result"]
    texts = [message["parts"][0]["text"] for message in task["history"]]
    assert len(texts) <= MAX_HISTORY
    assert (texts[0], texts[-1]) == ("begin", f"step {3 * MAX_HISTORY - 1}")


async def test_a_large_message_is_delivered_whole_and_stored_shortened() -> None:
    text, lengths = "x" * (2 * MAX_KEPT_MESSAGE), []

    async def reader(message: IncomingMessage, task: TaskHandle) -> None:
        await task.working("reading")
        lengths.append(len(message.text))
        await task.complete("done")

    async with served_agent(reader) as url, httpx.AsyncClient(timeout=60) as http:
        task = (await http.post(url, json=send("message/send", text))).json()["result"]
    assert lengths == [len(text)]
    assert len(str(task["history"])) < MAX_KEPT_MESSAGE


async def test_the_oldest_ended_tasks_are_deleted_by_total_size() -> None:
    async def verbose(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete(os.urandom(ENDED_TASKS_BYTES // 8).hex())  # half of which can be compressed away

    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(served_agent(verbose))
        http = await stack.enter_async_context(httpx.AsyncClient(timeout=60))
        ids = [(await http.post(url, json=send("message/send"))).json()["result"]["id"] for _ in range(10)]
        kept = [
            task_id
            for task_id in ids
            if "result" in (await http.post(url, json=rpc("tasks/get", {"id": task_id}))).json()
        ]
    assert 4 < len(kept) < 8
    assert kept == ids[-len(kept) :]


async def test_an_ended_task_can_be_read_unchanged() -> None:
    async def answer(message: IncomingMessage, task: TaskHandle) -> None:
        await task.working("thinking")
        await task.complete(message.text.upper(), status="well done")

    async with served_agent(answer) as url, httpx.AsyncClient(timeout=60) as http:
        first = (await http.post(url, json=send("message/send", "hello"))).json()["result"]
        again = (await http.post(url, json=rpc("tasks/get", {"id": first["id"]}))).json()["result"]
    assert again == first
    assert again["artifacts"][0]["parts"][0]["text"] == "HELLO"


async def saved(store: BoundedTaskStore, task_id: str, state: pb.TaskState) -> None:
    await store.save(pb.Task(id=task_id, status=pb.TaskStatus(state=state)), ServerCallContext())


@pytest.mark.parametrize(
    "state",
    [pb.TaskState.TASK_STATE_COMPLETED, pb.TaskState.TASK_STATE_REJECTED, pb.TaskState.TASK_STATE_INPUT_REQUIRED],
)
async def test_a_task_that_nobody_works_on_leaves_memory_after_a_time(state: pb.TaskState) -> None:
    now = 0.0
    store = BoundedTaskStore(10, lambda: now)
    await saved(store, "old", state)
    await saved(store, "running", pb.TaskState.TASK_STATE_WORKING)
    now = ENDED_TASK_S - 1
    assert await store.get("old", ServerCallContext()) is not None
    now = ENDED_TASK_S
    assert await store.get("running", ServerCallContext()) is not None
    assert await store.get("old", ServerCallContext()) is None


async def test_a_task_that_goes_on_after_its_clients_input_is_not_dropped() -> None:
    now = 0.0
    store = BoundedTaskStore(10, lambda: now)
    await saved(store, "task", pb.TaskState.TASK_STATE_INPUT_REQUIRED)
    await saved(store, "task", pb.TaskState.TASK_STATE_WORKING)
    now = 2 * ENDED_TASK_S
    found = await store.get("task", ServerCallContext())
    assert found is not None
    assert found.status.state == pb.TaskState.TASK_STATE_WORKING


async def test_tasks_that_wait_for_input_are_bounded_in_number() -> None:
    store = BoundedTaskStore(10)
    for number in range(20):
        await saved(store, str(number), pb.TaskState.TASK_STATE_INPUT_REQUIRED)
    kept = [number for number in range(20) if await store.get(str(number), ServerCallContext()) is not None]
    assert kept == list(range(10, 20))
