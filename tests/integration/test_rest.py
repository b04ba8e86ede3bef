"""A2A's HTTP+JSON binding at the gateway: the same agent as by JSON-RPC, with the same keys, tasks and limits."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from a2a.client import Client, ClientConfig, create_client
from a2a.types import a2a_pb2 as pb
from google.protobuf.json_format import ParseDict
from pydantic import SecretStr

from concord_gateway.app import create_app
from concord_gateway.settings import GatewaySettings
from tests.integration.test_push_notifications import Receiver
from tests.kit.assessing import PATTERN
from tests.kit.serving import eventually, reserved, served, url_of
from tests.kit.stack import workers

KEY, OTHER_KEY = "0123456789abcdef", "fedcba9876543210"
VERSION = {"a2a-version": "1.0"}
BY_KEY = VERSION | {"authorization": f"Bearer {KEY}"}
ASSESSMENT = json.dumps({"participants": {}, "config": {"interaction_pattern": PATTERN}})


@asynccontextmanager
async def gateway(redis_url: str, folder: Path, **settings: object) -> AsyncIterator[str]:
    """A gateway's base URL, without a trailing slash."""
    place = reserved()
    chosen = GatewaySettings.model_validate(
        {"redis_url": redis_url, "output_dir": folder, "allowed_hosts": "127.0.0.0/8", **settings}
    )
    async with served(create_app(chosen, f"{url_of(place)}/", url_of(place).removeprefix("http://")), place) as url:
        yield url


async def until_ready(url: str) -> None:
    """Waits until workers answer the gateway: an assessment would not wait long for them."""
    async with httpx.AsyncClient(timeout=60) as http, asyncio.timeout(60):
        while not (await http.get(f"{url}/readyz")).is_success:
            await asyncio.sleep(0.1)


@asynccontextmanager
async def sdk_client(url: str) -> AsyncIterator[Client]:
    """The SDK's client, which speaks only HTTP+JSON."""
    await until_ready(url)
    async with httpx.AsyncClient(timeout=60) as http:
        yield await create_client(url, ClientConfig(supported_protocol_bindings=["HTTP+JSON"], httpx_client=http))


def message(text: str = "Hello", **configuration: object) -> dict[str, Any]:
    said = {"messageId": uuid4().hex, "role": "ROLE_USER", "parts": [{"text": text}]}
    return {"message": said, "configuration": configuration}


async def test_the_sdks_client_gets_a_row_by_rest(redis_url: str, tmp_path: Path) -> None:
    async with workers(redis_url), gateway(redis_url, tmp_path) as url, sdk_client(url) as client:
        request = ParseDict(message(ASSESSMENT), pb.SendMessageRequest())
        events = [event async for event in client.send_message(request)]
        task_id = events[0].task.id
        task = await client.get_task(pb.GetTaskRequest(id=task_id))
    assert events[-1].status_update.status.state == pb.TaskState.TASK_STATE_COMPLETED
    assert task.status.state == pb.TaskState.TASK_STATE_COMPLETED
    assert "score" in task.artifacts[0].parts[0].data.struct_value.fields


async def test_the_sdks_client_is_notified_of_an_assessment_that_it_began_by_rest(
    redis_url: str, tmp_path: Path
) -> None:
    receiver = Receiver()
    async with (
        workers(redis_url),
        served(receiver.app()) as hook,
        gateway(redis_url, tmp_path) as url,
        sdk_client(url) as client,
    ):
        webhook = {"url": hook, "token": "a-token", "id": "mine"}
        asked = message(ASSESSMENT, taskPushNotificationConfig=webhook, returnImmediately=True)
        began = [each async for each in client.send_message(ParseDict(asked, pb.SendMessageRequest()))]
        listed = await client.list_task_push_notification_configs(
            pb.ListTaskPushNotificationConfigsRequest(task_id=began[0].task.id)
        )
        await eventually(lambda: any("TASK_STATE_COMPLETED" in str(body) for _, _, body in receiver.got), 30)
    assert [(each.id, each.url) for each in listed.configs] == [("mine", hook)]
    assert {headers["x-a2a-notification-token"] for _, headers, _ in receiver.got} == {"a-token"}
    assert [body for _, _, body in receiver.got if "artifactUpdate" in body]


@pytest.fixture
async def rest(redis_url: str, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a gateway with two keys and a small limit on bodies."""
    keys = SecretStr(f"{KEY},{OTHER_KEY}")
    async with (
        gateway(redis_url, tmp_path, api_keys=keys, max_body_bytes=4000) as url,
        httpx.AsyncClient(base_url=url, timeout=60) as client,
    ):
        yield client


async def rejected_task(rest: httpx.AsyncClient, key: str = KEY) -> dict[str, Any]:
    """The task of a message that asks for no assessment."""
    answer = await rest.post("/message:send", json=message("{}"), headers=VERSION | {"x-api-key": key})
    task: dict[str, Any] = answer.raise_for_status().json()["task"]
    return task


async def test_a_request_that_asks_for_no_assessment_is_rejected_in_a_task(rest: httpx.AsyncClient) -> None:
    assert (await rejected_task(rest))["status"]["state"] == "TASK_STATE_REJECTED"


PATHS = [
    ("POST", "/message:send"),
    ("POST", "/message:stream"),
    ("GET", "/tasks"),
    ("GET", "/tasks/t"),
    ("POST", "/tasks/t:cancel"),
    ("POST", "/tasks/t:subscribe"),
    ("GET", "/tasks/t/pushNotificationConfigs"),
    ("POST", "/tasks/t/pushNotificationConfigs"),
    ("DELETE", "/tasks/t/pushNotificationConfigs/x"),
    ("GET", "/extendedAgentCard"),
    ("POST", "/v1/message:send"),
    ("GET", "/v1/tasks/t"),
]


@pytest.mark.parametrize(("method", "path"), PATHS)
async def test_every_path_needs_a_key(rest: httpx.AsyncClient, method: str, path: str) -> None:
    answer = await rest.request(method, path, json={}, headers=VERSION)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


async def test_a_task_belongs_to_the_key_that_began_it_by_either_binding(rest: httpx.AsyncClient) -> None:
    task = await rejected_task(rest)
    call = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": task["id"]}}
    assert (await rest.post("/", json=call, headers=BY_KEY)).json()["result"]["id"] == task["id"]
    of_another = VERSION | {"x-api-key": OTHER_KEY}
    assert (await rest.get(f"/tasks/{task['id']}", headers=of_another)).status_code == 404
    assert (await rest.get(f"/tasks/{task['id']}/pushNotificationConfigs", headers=of_another)).status_code == 404
    assert [each["id"] for each in (await rest.get("/tasks", headers=BY_KEY)).json()["tasks"]] == [task["id"]]


async def test_the_limit_on_bodies_applies(rest: httpx.AsyncClient) -> None:
    assert (await rest.post("/message:send", json=message("x" * 4000), headers=BY_KEY)).status_code == 413


async def test_an_unknown_task_gets_404_in_the_form_of_the_specification(rest: httpx.AsyncClient) -> None:
    error = (await rest.get("/tasks/unknown", headers=BY_KEY)).json()["error"]
    assert (error["code"], error["status"], error["details"][0]["reason"]) == (404, "NOT_FOUND", "TASK_NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/v1/tasks/unknown:subscribe", 404),
        ("GET", "/v1/tasks/unknown:subscribe", 404),
        ("POST", "/v1/message:stream", 400),
    ],
)
async def test_a_stream_of_0_3_that_cannot_begin_gets_a_status(
    rest: httpx.AsyncClient, method: str, path: str, status: int
) -> None:
    answer = await rest.request(method, path, json={}, headers={"x-api-key": KEY})
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, status)


@pytest.mark.parametrize("path", ["/message:send", "/message:stream", "/v1/message:send", "/v1/message:stream"])
@pytest.mark.parametrize("body", [b"[2\x9b", b"{", b"[" * 3900], ids=["not UTF-8", "cut off", "deep"])
async def test_a_body_that_is_not_json_gets_400(rest: httpx.AsyncClient, path: str, body: bytes) -> None:
    headers = {"x-api-key": KEY, **({} if path.startswith("/v1") else VERSION)}
    answer = await rest.post(path, content=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


async def test_an_unknown_version_gets_400(rest: httpx.AsyncClient) -> None:
    answer = await rest.post("/message:send", json=message(), headers=BY_KEY | {"a2a-version": "99.0"})
    assert answer.status_code == 400
    assert answer.json()["error"]["details"][0]["reason"] == "VERSION_NOT_SUPPORTED"


async def test_a_refused_webhook_begins_no_task(rest: httpx.AsyncClient) -> None:
    asked = message(taskPushNotificationConfig={"url": "http://10.0.0.1/"})
    answer = await rest.post("/message:send", json=asked, headers=BY_KEY)
    assert (answer.status_code, "not in an allowed network" in answer.text) == (400, True)
    assert (await rest.get("/tasks", headers=BY_KEY)).json()["tasks"] == []


@pytest.mark.parametrize(("prefix", "headers"), [("", BY_KEY), ("/v1", {"x-api-key": KEY})], ids=["1.0", "0.3"])
async def test_webhooks_of_a_task_are_set_shown_and_deleted(
    rest: httpx.AsyncClient, prefix: str, headers: dict[str, str]
) -> None:
    of_task = f"tasks/{(await rejected_task(rest))['id']}/pushNotificationConfigs"
    await rest.post(f"/{of_task}", json={"id": "a", "url": "http://127.0.0.1:1/"}, headers=BY_KEY)
    at = f"{prefix}/{of_task}/a"
    assert "http://127.0.0.1:1/" in (await rest.get(at, headers=headers)).raise_for_status().text
    assert [(await rest.delete(at, headers=headers)).status_code for _ in range(2)] == [200, 200]
    assert (await rest.get(at, headers=headers)).status_code == 404


async def test_webhooks_of_a_task_are_set_shown_and_deleted_by_json_rpc_of_0_3(rest: httpx.AsyncClient) -> None:
    task_id = (await rejected_task(rest))["id"]

    async def call(method: str, **params: object) -> Any:  # noqa: ANN401 - any JSON
        body = {"jsonrpc": "2.0", "id": 1, "method": f"tasks/pushNotificationConfig/{method}", "params": params}
        return (await rest.post("/", json=body, headers={"x-api-key": KEY})).json()

    webhook = {"id": "a", "url": "http://127.0.0.1:1/", "token": "secret"}
    shown = {"taskId": task_id, "pushNotificationConfig": {"id": "a", "url": "http://127.0.0.1:1/"}}
    assert (await call("set", taskId=task_id, pushNotificationConfig=webhook))["result"] == shown
    assert (await call("get", id=task_id, pushNotificationConfigId="a"))["result"] == shown
    assert (await call("list", id=task_id))["result"] == [shown]
    assert (await call("delete", id=task_id, pushNotificationConfigId="a"))["result"] is None
    assert (await call("get", id=task_id, pushNotificationConfigId="a"))["error"]["code"] == -32001


async def test_a_repeated_message_leads_to_the_same_task(redis_url: str, tmp_path: Path) -> None:
    asked = message(ASSESSMENT)
    async with (
        workers(redis_url),
        gateway(redis_url, tmp_path) as url,
        httpx.AsyncClient(base_url=url, timeout=60) as client,
    ):
        await until_ready(url)
        by_rest = client.post("/message:send", json=asked, headers=VERSION)
        call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": asked}
        by_rpc = client.post("/", json=call, headers=VERSION)
        answers = await asyncio.gather(by_rest, by_rpc)
    assert answers[0].json()["task"]["id"] == answers[1].json()["result"]["task"]["id"]


async def test_a_body_of_more_values_than_the_limit_is_refused_in_both_bindings(redis_url: str, tmp_path: Path) -> None:
    many = message() | {"metadata": {"x": [1] * 100_000}}
    async with gateway(redis_url, tmp_path) as url, httpx.AsyncClient() as http:
        answers = [
            await http.post(f"{url}/message:send", json=many, headers=VERSION),
            await http.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": many}),
        ]
    assert [(answer.status_code, "100000 values" in answer.text) for answer in answers] == [(413, True)] * 2
