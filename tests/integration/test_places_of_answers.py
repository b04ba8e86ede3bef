"""An agent's answer counts wherever A2A servers put it: in an artifact, the status, the history, or a bare message."""

import json
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from concord.a2a import A2AClient, Answer
from concord_gateway.drivers.live import text_of
from concord_gateway.proxy.call_recorder import CallAnswer
from tests.kit.serving import served

TEXT = [{"kind": "text", "text": "521 trees"}]
DATA = [{"kind": "data", "data": {"trees": "521"}}]


def task(**parts: Any) -> dict[str, Any]:  # noqa: ANN401 - the JSON of a task
    return {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "completed"}} | parts


def said(parts: list[dict[str, Any]], role: str = "agent", number: int = 1) -> dict[str, Any]:
    return {"kind": "message", "role": role, "messageId": f"m{number}", "parts": parts}


ASKED = said([{"kind": "text", "text": "Count the trees."}], "user", 0)
OTHER = [{"kind": "text", "text": "Done."}]

PLACES = {
    "artifact": task(artifacts=[{"artifactId": "a", "parts": TEXT}]),
    "artifact beside a status message": task(
        artifacts=[{"artifactId": "a", "parts": TEXT}], status={"state": "completed", "message": said(OTHER)}
    ),
    "status message": task(status={"state": "completed", "message": said(TEXT)}),
    "history": task(history=[ASKED, said(TEXT)]),
    "end of the history": task(history=[ASKED, said(OTHER, number=1), said(TEXT, number=2)]),
    "bare message": said(TEXT),
}

DATA_PLACES = {
    "artifact": task(artifacts=[{"artifactId": "a", "parts": DATA}]),
    "artifact beside a status message": task(
        artifacts=[{"artifactId": "a", "parts": DATA}], status={"state": "completed", "message": said(OTHER)}
    ),
    "status message": task(status={"state": "completed", "message": said(DATA)}),
    "history": task(history=[ASKED, said(DATA)]),
}


async def answered(result: dict[str, Any]) -> Answer:
    """The client's answer from a server that sends this result."""
    app = FastAPI()

    @app.get("/.well-known/agent-card.json")
    async def card(request: Request) -> dict[str, Any]:
        modes = {"defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"]}
        about = {"name": "raw", "description": "Answers as it likes.", "version": "1", "skills": []}
        return {"protocolVersion": "0.3.0", "url": str(request.base_url), "capabilities": {}} | modes | about

    @app.post("/")
    async def rpc(request: Request) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": (await request.json())["id"], "result": result}

    async with served(app) as url, await A2AClient.connect(url) as client:
        events = [event async for event in client.stream(text="Count the trees.")]
    [*_, answer] = events
    assert isinstance(answer, Answer)
    return answer


@pytest.mark.parametrize("place", PLACES)
async def test_the_text_of_an_answer_is_found_in_every_place(place: str) -> None:
    assert text_of(await answered(PLACES[place])) == "521 trees"


@pytest.mark.parametrize("place", DATA_PLACES)
async def test_the_data_of_an_answer_is_found_in_every_place(place: str) -> None:
    assert text_of(await answered(DATA_PLACES[place])) == '{"trees": "521"}'


async def streamed(*results: dict[str, Any], keeps_tasks: bool = True) -> tuple[str, list[str]]:
    """The text of the answer from a server that streams these results, and the methods that the client called.

    The server leaves the history out where the client asks for none. The last result is what it keeps of the task.
    """
    app, called = FastAPI(), list[str]()

    @app.get("/.well-known/agent-card.json")
    async def card(request: Request) -> dict[str, Any]:
        modes = {"defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"]}
        about = {"name": "raw", "description": "Answers as it likes.", "version": "1", "skills": []}
        can = {"capabilities": {"streaming": True}}
        return {"protocolVersion": "0.3.0", "url": str(request.base_url)} | can | modes | about

    @app.post("/")
    async def rpc(request: Request) -> Response:
        body = await request.json()
        called.append(body["method"])
        if body["method"] == "tasks/get":
            lost = {"error": {"code": -32001, "message": "Task not found"}}
            return JSONResponse(
                {"jsonrpc": "2.0", "id": body["id"]} | ({"result": results[-1]} if keeps_tasks else lost)
            )
        bare = body["params"]["configuration"].get("historyLength") == 0
        sent = [{key: value for key, value in each.items() if not (bare and key == "history")} for each in results]
        events = (json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": each}) for each in sent)
        return Response("".join(f"data: {event}\n\n" for event in events), media_type="text/event-stream")

    async with served(app) as url, await A2AClient.connect(url) as client:
        events = [event async for event in client.stream(text="Count the trees.")]
    [*_, answer] = events
    assert isinstance(answer, Answer)
    return text_of(answer), called


@pytest.mark.parametrize("place", PLACES)
async def test_the_text_of_a_streamed_answer_is_found_in_every_place(place: str) -> None:
    text, called = await streamed(PLACES[place])
    assert text == "521 trees"
    assert called == ["message/stream", *(["tasks/get"] if "history" in place else [])]


WORKING = {"kind": "status-update", "taskId": "t", "contextId": "c", "final": False}
WORKING |= {"status": {"state": "working", "message": said(OTHER)}}


async def test_the_last_words_at_work_are_the_answer_of_an_agent_that_completes_and_says_nothing_else() -> None:
    text, _ = await streamed(WORKING, task(history=[ASKED, said(OTHER)]))
    assert text == "Done."


@pytest.mark.parametrize("place", PLACES)
async def test_what_an_agent_says_while_it_works_is_no_answer_beside_another(place: str) -> None:
    if place != "bare message":
        told = json.loads(json.dumps(PLACES[place]).replace('"m1"', '"m9"'))
        assert (await streamed(WORKING, told))[0] == "521 trees"


async def test_what_an_agent_says_while_it_works_is_no_answer_of_a_failed_task() -> None:
    text, _ = await streamed(WORKING, task(status={"state": "failed"}))
    assert text == ""


async def test_an_agent_that_keeps_no_tasks_may_answer_nothing() -> None:
    assert await streamed(task(history=[ASKED]), keeps_tasks=False) == ("", ["message/stream", "tasks/get"])


@pytest.mark.parametrize("place", PLACES)
def test_the_proxy_quotes_the_answer_from_every_place(place: str) -> None:
    reader = CallAnswer()
    reader.take({"jsonrpc": "2.0", "id": 1, "result": PLACES[place]})
    assert (reader.state, reader.quoted) == ("completed", "521 trees")


def test_the_proxy_reads_the_last_words_at_work_of_an_agent_that_completes_and_says_nothing_else() -> None:
    reader = CallAnswer()
    for status in ({"state": "working", "message": said(OTHER)}, {"state": "completed"}):
        reader.take({"id": 1, "result": {"kind": "status-update", "taskId": "t", "status": status}})
    assert (reader.state, reader.quoted) == ("completed", "Done.")


def test_the_clients_own_message_in_the_history_is_no_answer() -> None:
    reader = CallAnswer()
    reader.take({"id": 1, "result": task(history=[ASKED])})
    assert reader.text == ""
