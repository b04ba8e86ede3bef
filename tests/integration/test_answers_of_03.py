"""The data in an answer of A2A 0.3: those that the agent gave, with its task around them."""

import json
from typing import Any, Final
from uuid import uuid4

import httpx
from pydantic import JsonValue

from concord.a2a import IncomingMessage, TaskHandle
from tests.serving import served_agent

DATA: Final[list[JsonValue]] = [
    {},
    {"none": None, "yes": True, "text": 'of {"quotes": null} and \u00e9\u2028', "parts": [{}, [], [None, 0.5, -1e300]]},
    {"": {"a": {"b": {"c": [1, 2.0, 3]}}}},
    ["no", "object"],
    "text",
    3,
]


class Giving:
    """An agent that completes each task with these data."""

    data: JsonValue = None

    async def __call__(self, message: IncomingMessage, task: TaskHandle, /) -> None:
        await task.complete(message.text, data=self.data, metadata={"by": "me"}, status="done")


async def asked(http: httpx.AsyncClient, url: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
    sent = await http.post(url, json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    answer: dict[str, Any] = sent.json()["result"]
    return answer


def message(text: str = "hello", message_id: str | None = None) -> dict[str, Any]:
    return {"role": "user", "messageId": message_id or uuid4().hex, "parts": [{"kind": "text", "text": text}]}


async def test_the_answer_and_the_stored_task_are_equal_whatever_the_data_are() -> None:
    agent = Giving()
    async with served_agent(agent) as url, httpx.AsyncClient(timeout=60) as http:
        for agent.data in DATA:
            answer = await asked(http, url, "message/send", {"message": message()})
            assert answer == await asked(http, url, "tasks/get", {"id": answer["id"]})


async def test_integers_arrive_as_they_were_given() -> None:
    agent = Giving()
    agent.data = {"large": 2**53 + 1, "whole": 3}
    async with served_agent(agent) as url, httpx.AsyncClient(timeout=60) as http:
        answer = await asked(http, url, "message/send", {"message": message()})
    assert json.dumps(answer["artifacts"][0]["parts"][1]["data"]) == '{"large": 9007199254740993, "whole": 3}'


async def test_a_message_that_is_repeated_gets_the_same_data() -> None:
    agent = Giving()
    agent.data = {"score": 1}
    async with served_agent(agent) as url, httpx.AsyncClient(timeout=60) as http:
        first, second = [
            await asked(http, url, "message/send", {"message": message(message_id="m1")}) for _ in range(2)
        ]
    assert first == second


async def test_what_an_agent_does_with_its_data_later_changes_no_answer() -> None:
    class Reusing:
        """An agent with one document for all of its tasks."""

        async def __call__(self, _: IncomingMessage, task: TaskHandle, /) -> None:
            data: dict[str, JsonValue] = {"score": 1}
            await task.complete(data=data)
            data["score"] = 2

    async with served_agent(Reusing()) as url, httpx.AsyncClient(timeout=60) as http:
        answer = await asked(http, url, "message/send", {"message": message()})
    assert answer["artifacts"][0]["parts"][0]["data"] == {"score": 1}
