"""Push notifications of a task that several processes of an agent share."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from concord.a2a import AgentProfile, Handler, IncomingMessage, TaskHandle, Webhooks, mount_agent
from concord.storage.connection import Storage, connect
from tests.integration.test_push_notifications import LOOPBACK, Receiver
from tests.kit.serving import eventually, served

VERSION = {"a2a-version": "1.0"}


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    async with connect(redis_url) as opened:
        yield opened


@asynccontextmanager
async def process(storage: Storage, handler: Handler) -> AsyncIterator[str]:
    """A process of an agent, which adopts the tasks of lost ones; yields its base URL."""
    app = FastAPI()
    profile = AgentProfile("own", "Ours.", "1", "http://agent/", (), rest=True)
    hooks = Webhooks(storage.webhooks(), LOOPBACK.pin_webhook)
    agent = mount_agent(app, profile, handler, records=storage.tasks(lease_s=1, keep_s=100), webhooks=hooks)
    agent.take_over()
    try:
        async with served(app) as url:
            yield url
    finally:
        await agent.aclose()


async def wait_for_ever(_: IncomingMessage, task: TaskHandle) -> None:
    await task.working("on it")
    await asyncio.Event().wait()


async def complete(_: IncomingMessage, task: TaskHandle) -> None:
    await task.complete("done")


async def begun(http: httpx.AsyncClient, url: str, hook: str) -> str:
    """The id of a task that has a webhook."""
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "go"}]}
    configuration = {"returnImmediately": True, "taskPushNotificationConfig": {"url": hook}}
    asked: dict[str, Any] = {"message": message, "configuration": configuration}
    answer = await http.post(f"{url}/message:send", json=asked, headers=VERSION)
    return str(answer.raise_for_status().json()["task"]["id"])


async def test_the_process_that_adopts_a_task_notifies_its_webhook(storage: Storage) -> None:
    receiver = Receiver()
    async with served(receiver.app()) as hook, httpx.AsyncClient(timeout=60) as http:
        async with AsyncExitStack() as first:
            url = await first.enter_async_context(process(storage, wait_for_ever))
            await begun(http, url, hook)
            await eventually(lambda: "TASK_STATE_WORKING" in str(receiver.got))
        async with process(storage, complete):
            await eventually(lambda: "TASK_STATE_COMPLETED" in str(receiver.got))


async def test_a_task_that_is_canceled_at_another_process_notifies_its_webhook(storage: Storage) -> None:
    receiver = Receiver()
    async with (
        served(receiver.app()) as hook,
        httpx.AsyncClient(timeout=60) as http,
        process(storage, wait_for_ever) as here,
        process(storage, wait_for_ever) as there,
    ):
        task_id = await begun(http, here, hook)
        canceled = await http.post(f"{there}/tasks/{task_id}:cancel", headers=VERSION)
        assert canceled.json()["status"]["state"] == "TASK_STATE_CANCELED"
        await eventually(lambda: "TASK_STATE_CANCELED" in str(receiver.got))


async def test_a_repeated_message_may_name_a_webhook_for_the_task_that_it_began(storage: Storage) -> None:
    receiver = Receiver()
    async with (
        served(receiver.app()) as hook,
        httpx.AsyncClient(timeout=60) as http,
        process(storage, wait_for_ever) as url,
    ):
        first = await begun(http, url, "http://127.0.0.1:9/")
        assert await begun(http, url, hook) == first
        await http.post(f"{url}/tasks/{first}:cancel", headers=VERSION)
        await eventually(lambda: "TASK_STATE_CANCELED" in str(receiver.got))


async def test_a_client_of_0_3_reads_the_webhook_of_a_task_without_its_id(storage: Storage) -> None:
    async with process(storage, complete) as url, httpx.AsyncClient(timeout=60) as http:
        task_id = await begun(http, url, "http://127.0.0.1:1/hook")
        hook = {"id": "mine", "url": "http://127.0.0.1:1/mine"}
        set_hook = {"taskId": task_id, "pushNotificationConfig": hook}
        for method, params in (("set", set_hook), ("get", {"id": task_id})):
            call = {"jsonrpc": "2.0", "id": 1, "method": f"tasks/pushNotificationConfig/{method}", "params": params}
            result = (await http.post(url, json=call)).json()["result"]
        assert (result["taskId"], result["pushNotificationConfig"]["id"]) in {(task_id, "mine"), (task_id, task_id)}
        call["params"] = {"id": "another task"}
        assert (await http.post(url, json=call)).json()["error"]["code"] == -32001
