"""Agents that are busy, fail once, redirect, speak REST or an old version: each has its chance, and the row tells."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.types import Receive, Scope, Send

from concord.a2a import IncomingMessage, RemoteError, TaskHandle
from concord.a2a.agent_card import REST, CardSummary, Interface
from concord.a2a.client import A2AClient
from concord.storage.connection import Storage
from concord_gateway.assignments import TrialCalls
from tests.integration.test_live_driver import drive, storage
from tests.kit.serving import served, served_agent
from tests.kit.stack import Stack, stack

__all__ = ["storage"]  # a fixture

Failure = Callable[[], Response]


@pytest.fixture(scope="module")
async def services(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with stack(redis_server, tmp_path_factory.mktemp("output")) as running:
        yield running


class Dropped(Response):
    """A response whose connection breaks off within its body."""

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})


def busy(status: int, wait: str | None = "0") -> Failure:
    return lambda: Response("busy", status, {} if wait is None else {"retry-after": wait})


def agent(failures: Sequence[Failure] = (), *, path: str = "/", card_path: str = "agent-card", **card: Any) -> FastAPI:  # noqa: ANN401
    """An agent of A2A 0.3 that fails so often, and then answers `something`. It keeps the messages' ids."""
    app = FastAPI()
    app.state.asked, left = [], list(failures)

    @app.get(f"/.well-known/{card_path}.json")
    async def show(request: Request) -> dict[str, Any]:
        url = str(request.base_url).rstrip("/") + path
        return {"name": "raw", "url": url, "protocolVersion": "0.3.0", "capabilities": {}, "skills": [], **card}

    @app.post(path)
    async def answer(request: Request) -> Response:
        body = await request.json()
        app.state.asked.append(body["params"]["message"]["messageId"])
        if left:
            return left.pop(0)()
        said = {"kind": "message", "role": "agent", "messageId": "m", "parts": [{"kind": "text", "text": "something"}]}
        return JSONResponse({"jsonrpc": "2.0", "id": body["id"], "result": said})

    return app


async def assessed(services: Stack, app: FastAPI) -> tuple[float | None, list[str], str]:
    """The score, the warnings and the error of an assessment of an agent alone."""
    async with served(app) as url:
        row = await services.row({"agent": url})
    [trial] = row["detail"]["trials"]
    return row["score"], row["detail"]["warnings"], trial["error"] or ""


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (busy(429), "HTTP 429: busy"),
        (busy(503), "HTTP 503: busy"),
        (lambda: Response("oops", 500), "HTTP 500: oops"),
        (Dropped, "closed the connection before it had answered"),
    ],
    ids=["429", "503", "500", "dropped"],
)
async def test_an_agent_that_fails_once_is_asked_once_more_and_the_row_says_so(
    failure: Failure, said: str, services: Stack
) -> None:
    app = agent([failure])
    score, warnings, _ = await assessed(services, app)
    assert score == 100
    [told] = [each for each in warnings if "agent was asked once more" in each]
    assert said in told
    first, second = app.state.asked
    assert first == second, "it is the same message"


@pytest.mark.parametrize(
    ("failures", "asked", "said"),
    [
        ([busy(500), busy(500)], 2, "HTTP 500"),
        ([busy(429), busy(429)], 2, "HTTP 429"),
        ([busy(429, None)], 1, "HTTP 429"),
        ([busy(503, "60")], 1, "it asks to wait 60 s, and at most 10 s are waited"),
        ([lambda: Response("<html>no</html>")], 1, "it answered no JSON: <html>no</html>"),
        ([lambda: RedirectResponse("http://other.example/", 307)], 1, "it redirects to http://other.example/"),
        ([lambda: RedirectResponse("/else", 302)], 1, "only 307 and 308 keep its body"),
    ],
    ids=["twice 500", "twice 429", "no time", "long wait", "html", "another origin", "302"],
)
async def test_an_agent_is_not_asked_a_third_time_and_its_fault_is_a_sentence(
    failures: list[Failure], asked: int, said: str, services: Stack
) -> None:
    app = agent(failures)
    score, _, error = await assessed(services, app)
    assert score == 0
    assert said in error
    assert len(app.state.asked) == asked


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_within_the_origin_is_followed(status: int) -> None:
    app = agent(path="/v2/")
    app.add_api_route("/old", lambda: RedirectResponse("/v2/", status), methods=["POST"])
    app.add_api_route("/.well-known/agent-card.json", lambda: RedirectResponse("/card", status))
    async with served(app) as url:
        app.add_api_route("/card", lambda: {"url": f"{url}/old", "protocolVersion": "0.3.0"})
        assert await answer_of(url) == "something"


@pytest.mark.parametrize(
    "card", [{"protocolVersion": "0.2.5"}, {"protocolVersion": "0.2.9", "preferredTransport": None}]
)
async def test_an_agent_of_a2a_0_2_is_asked_in_the_form_of_0_3(card: dict[str, Any]) -> None:
    async with served(agent(card_path="agent", **card)) as url:
        assert await answer_of(url) == "something"


@pytest.mark.parametrize(
    ("card", "reason"),
    [
        ({"protocolVersion": "0.1.0"}, "it speaks A2A 0.1.0, and Concord speaks 0.2 to 1.0"),
        ({"preferredTransport": "GRPC"}, "its card offers GRPC only, and Concord speaks JSONRPC and HTTP+JSON"),
        ({"url": ""}, "its card names no address at which the agent answers"),
    ],
)
async def test_a_card_that_cannot_be_used_is_refused_by_name(card: dict[str, Any], reason: str) -> None:
    async with served(agent(**card)) as url:
        with pytest.raises(RemoteError, match=reason.replace("+", r"\+")):
            await answer_of(url)


async def answer_of(url: str) -> str:
    async with await A2AClient.connect(url) as client:
        [*_, last] = [event async for event in client.stream(text="What?")]
    return last.text


@pytest.mark.parametrize("version", ["1.0", "0.3"])
@pytest.mark.parametrize("streaming", [True, False])
async def test_an_agent_that_offers_rest_alone_is_driven_over_it(version: str, *, streaming: bool) -> None:
    async def work(message: IncomingMessage, task: TaskHandle) -> None:
        await task.working("reading")
        await task.complete(f"{message.text} {message.metadata['note']} {message.data_parts}")

    async with served_agent(work, rest=True) as url:
        card = CardSummary("rest", (Interface(url, REST, version),), (), streaming, ())
        async with await A2AClient.connect(url, card=card) as client:
            sent = client.stream(text="seen", data={"number": 1}, metadata={"note": "noted"})
            events = [event async for event in sent]
            [*_, followed] = [event async for event in client.follow(events[-1].task_id)]
    assert events[-1].text == followed.text == "seen noted ({'number': 1.0},)"


@pytest.mark.parametrize("may_have_acted", [False, True])
async def test_an_agent_that_called_others_before_it_failed_is_not_asked_again_as_it_would_do_so_twice(
    storage: Storage, *, may_have_acted: bool
) -> None:
    calls = TrialCalls()

    def fail() -> Response:
        calls.begin("solo", "other")
        return Response("", 500 if may_have_acted else 429, {"retry-after": "0"})

    app = agent([fail])
    async with served(app) as url:
        outcome, _ = await drive(storage, {"solo": url}, calls=calls)
    assert len(app.state.asked) == (1 if may_have_acted else 2)
    assert outcome.state == ("failed" if may_have_acted else "completed")
