"""Repeated messages, as from a client that lost the answer: they share one task, whose work is done once."""

import asyncio
import gzip
from typing import Any

import httpx
import pytest

from concord.a2a import IncomingMessage, TaskHandle
from concord.a2a.idempotency import AS_BEFORE
from tests.kit.serving import eventually, served_agent


class CountingAgent:
    """An agent that counts its messages, and answers once `may_end` is set."""

    def __init__(self) -> None:
        self.asked = 0
        self.may_end = asyncio.Event()

    async def __call__(self, message: IncomingMessage, task: TaskHandle, /) -> None:
        self.asked += 1
        await task.working("on it")
        await self.may_end.wait()
        await task.complete(f"{message.text} {self.asked}")


def request(method: str, message_id: str = "m1", text: str = "answer") -> dict[str, Any]:
    parts = [{"kind": "text", "text": text}]
    message = {"kind": "message", "role": "user", "messageId": message_id, "parts": parts}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}


async def task_of(http: httpx.AsyncClient, url: str, **changes: str) -> dict[str, Any]:
    result = (await http.post(url, json=request("message/send", **changes))).json()["result"]
    assert isinstance(result, dict)
    return result


def answer_of(task: dict[str, Any]) -> str:
    text: str = task["artifacts"][0]["parts"][0]["text"]
    return text


async def test_a_message_repeated_while_its_task_runs_gets_the_same_answer() -> None:
    agent = CountingAgent()
    async with served_agent(agent) as url, httpx.AsyncClient(timeout=60) as http:
        first, second = (asyncio.create_task(task_of(http, url)) for _ in range(2))
        await eventually(lambda: agent.asked > 0)
        assert not any(each.done() for each in (first, second))
        agent.may_end.set()
        assert answer_of(await first) == answer_of(await second) == "answer 1"
    assert ((await first)["id"], agent.asked) == ((await second)["id"], 1)


async def test_a_message_repeated_after_its_task_ended_gets_the_same_answer() -> None:
    agent = CountingAgent()
    agent.may_end.set()
    async with served_agent(agent) as url, httpx.AsyncClient(timeout=60) as http:
        first = await task_of(http, url)
        again = await task_of(http, url)
        assert AS_BEFORE in str(again.pop("status"))
        assert again == {key: value for key, value in first.items() if key != "status"}
        assert AS_BEFORE not in str(first)
        streamed = (await http.post(url, json=request("message/stream"))).text
    assert (first["id"] in streamed, "answer 1" in streamed, agent.asked) == (True, True, 1)


@pytest.mark.parametrize("lost_after", ["message/send", "message/stream"])
async def test_a_client_that_was_disconnected_finds_its_task_running(lost_after: str) -> None:
    agent = CountingAgent()
    async with served_agent(agent) as url, httpx.AsyncClient(timeout=60) as http:
        with pytest.raises(httpx.ReadTimeout):
            await http.post(url, json=request(lost_after), timeout=2)
        asyncio.get_running_loop().call_later(0.2, agent.may_end.set)
        streamed = (await http.post(url, json=request("message/stream"))).text
    assert ("answer 1" in streamed, "completed" in streamed, agent.asked) == (True, True, 1)


async def test_another_message_is_another_task_even_with_the_same_message_id() -> None:
    agent = CountingAgent()
    agent.may_end.set()
    async with served_agent(agent) as url, httpx.AsyncClient(timeout=60) as http:
        tasks = [await task_of(http, url, **each) for each in ({}, {"message_id": "m2"}, {"text": "else"})]
    assert [answer_of(task) for task in tasks] == ["answer 1", "answer 2", "else 3"]


async def test_a_rejected_message_may_be_repeated_and_then_starts_a_task() -> None:
    answers = iter(["busy", ""])

    async def work(_: IncomingMessage, task: TaskHandle) -> None:
        if reason := next(answers):
            await task.reject(reason)
        else:
            await task.complete("answer")

    async with served_agent(work) as url, httpx.AsyncClient(timeout=60) as http:
        states = [(await task_of(http, url))["status"]["state"] for _ in range(3)]
    assert states == ["rejected", "completed", "completed"]


@pytest.mark.parametrize(
    ("body", "headers", "status", "said"),
    [
        (gzip.compress(b"{}"), {"content-encoding": "gzip"}, 415, "Content-Encoding 'gzip'"),
        (b"{}", {"content-encoding": "br"}, 415, "Content-Encoding 'br'"),
        (gzip.compress(b"{}"), {}, 200, '"code":-32700'),
        ("{}".encode("utf-16"), {}, 200, '"code":-32700'),
    ],
    ids=["gzip", "brotli", "gzip without its name", "utf-16"],
)
async def test_a_body_that_is_no_plain_json_is_refused_by_its_kind(
    body: bytes, headers: dict[str, str], status: int, said: str
) -> None:
    async with served_agent(CountingAgent()) as url, httpx.AsyncClient(timeout=60) as http:
        answer = await http.post(url, content=body, headers={"content-type": "application/json", **headers})
    assert (answer.status_code, said in answer.text) == (status, True), answer.text
