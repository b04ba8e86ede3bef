"""An agent's answer counts wherever A2A servers put it: in an artifact, the status, the history, or a bare message."""

from typing import Any

import pytest
from fastapi import FastAPI, Request

from concord.a2a import A2AClient, Answer
from concord_gateway.drivers.live import text_of
from concord_gateway.proxy.rpc_answer import AnswerReader
from tests.serving import served

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


@pytest.mark.parametrize("place", PLACES)
def test_the_proxy_quotes_the_answer_from_every_place(place: str) -> None:
    reader = AnswerReader()
    reader.read({"jsonrpc": "2.0", "id": 1, "result": PLACES[place]})
    assert (reader.state, reader.text) == ("completed", "521 trees")


def test_what_an_agent_says_while_it_works_is_no_answer() -> None:
    reader = AnswerReader()
    for status in ({"state": "working", "message": said(OTHER)}, {"state": "completed"}):
        reader.read({"id": 1, "result": {"kind": "status-update", "taskId": "t", "status": status}})
    assert (reader.state, reader.text) == ("completed", "")


def test_the_clients_own_message_in_the_history_is_no_answer() -> None:
    reader = AnswerReader()
    reader.read({"id": 1, "result": task(history=[ASKED])})
    assert reader.text == ""
