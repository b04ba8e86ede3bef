"""The proxy: calls through it work as direct calls do, and the gateway observes every one of them."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from concord.a2a import (
    A2AClient,
    AgentUnreachableError,
    Answer,
    IncomingMessage,
    TaskHandle,
    TaskState,
    TaskUpdate,
    fetch_card,
)
from concord.a2a.http import MAX_VALUES
from concord.agent.messenger import Messenger
from concord.trace.report import Channel
from concord.trace.step import CallType, InteractionStep, ResponseTrace
from concord.trace.stored_step import Step
from concord.trust.proxy_urls import proxy_url
from concord.wire.assignment import TRACEABILITY_KEY, Assignment
from concord.wire.roster import GREEN_AGENT, new_step_id
from tests.kit.observed import (
    MAX_BODY_BYTES,
    RunningGateway,
    TrialParticipant,
    agent_answering,
    running_gateway,
    send,
)
from tests.kit.ports import free_port
from tests.kit.redis_servers import PrivateServer
from tests.kit.serving import eventually, listening, replying, served_agent
from tests.kit.stack import workers

VERSIONS = pytest.mark.parametrize("version", ["0.3", None], ids=["0.3", "1.0"])


@pytest.fixture
async def gateway(redis_url: str, tmp_path: Path) -> AsyncIterator[RunningGateway]:
    async with running_gateway(redis_url, tmp_path) as opened:
        yield opened


async def echo(message: IncomingMessage, task: TaskHandle) -> None:
    await task.working("thinking")
    await task.complete(f"you said {message.text}", data={"heard": list(message.data_parts)})


async def call_agent(
    caller: TrialParticipant, callee_id: str, text: str = "hello", version: str | None = None
) -> list[TaskUpdate | Answer]:
    """The events that a client gets for a call through the proxy."""
    async with await A2AClient.connect(caller.url_of(callee_id), protocol_version=version) as client:
        return [event async for event in client.stream(text=text)]


def step_of(report_step: Step) -> tuple[str | None, str, str | None]:
    call = report_step.agent_call
    assert call is not None
    return report_step.additional_attributes["agent_name"], call.agent_name, report_step.failure


@VERSIONS
async def test_a_carried_call_gets_the_same_events_as_a_direct_one_and_is_observed(
    gateway: RunningGateway, version: str | None
) -> None:
    async with served_agent(echo) as url:
        participants = await gateway.trial({"a": url, "b": url})
        async with await A2AClient.connect(url, protocol_version=version) as client:
            direct = [event async for event in client.stream(text="hello")]
        carried = await call_agent(participants["a"], "b", version=version)
    assert [type(event) for event in carried] == [type(event) for event in direct]
    answer = carried[-1]
    assert isinstance(answer, Answer)
    assert (answer.state, answer.text, answer.data_parts) == (TaskState.COMPLETED, "you said hello", ({"heard": []},))
    (report,) = await gateway.reports(participants["a"].claims.trace_id, 1)
    assert (report.reporter, report.channel, report.authenticated) == (GREEN_AGENT, Channel.OBSERVED, True)
    assert step_of(report.step) == ("a", "b", None)
    assert report.step.agent_call is not None
    assert (report.step.agent_call.agent_url, report.step.agent_call.requests) == (url, {"text": "hello"})
    assert report.step.additional_attributes["response_text"] == "you said hello"
    assert report.step.latency is not None


async def test_metrics_count_carried_calls_by_outcome(gateway: RunningGateway) -> None:
    async with served_agent(echo) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url, "gone": f"http://127.0.0.1:{free_port()}/"})
        for callee in ("b", "b", "gone"):
            await http.post(participants["a"].url_of(callee), json=send("message/send"))
        await gateway.reports(participants["a"].claims.trace_id, 3)
        exposition = (await http.get(f"{gateway.url}/metrics")).text
    assert 'concord_gateway_carried_calls_total{outcome="answered"} 2.0' in exposition
    assert 'concord_gateway_carried_calls_total{outcome="failed"} 1.0' in exposition
    assert "concord_gateway_exchanges_under_way 0.0" in exposition


async def test_the_callee_gets_its_own_assignment_with_the_callers_step_id(gateway: RunningGateway) -> None:
    received: list[IncomingMessage] = []
    reported: list[InteractionStep] = []

    async def listen(message: IncomingMessage, task: TaskHandle) -> None:
        received.append(message)
        await task.complete("ok")

    async with served_agent(listen) as url:
        participants = await gateway.trial({"a": url, "b": url})
        mine = participants["a"].assignment()
        async with Messenger(lambda step, _: reported.append(step)) as messenger:
            await messenger.send(participants["a"].url_of("b"), text="x", assignment=mine, callee_id="b")
        (report,) = await gateway.reports(mine.trace_id, 1)
    theirs = Assignment.from_metadata(received[0].metadata)
    assert theirs is not None
    assert (theirs.agent_id, theirs.trace_id, theirs.assessment_id) == ("b", mine.trace_id, mine.assessment_id)
    assert theirs.token is not None
    assert theirs.token.get_secret_value() == participants["b"].token
    assert theirs.step_id == report.step.step_id == reported[0].step_id
    assert received[0].metadata["traceparent"] == f"00-{mine.trace_id}-{report.step.step_id}-01"
    assert theirs.collector_url is not None


async def test_an_assignment_in_the_callers_message_is_replaced(gateway: RunningGateway) -> None:
    received: list[IncomingMessage] = []

    async def listen(message: IncomingMessage, task: TaskHandle) -> None:
        received.append(message)
        await task.complete("ok")

    async with served_agent(listen) as url:
        participants = await gateway.trial({"a": url, "b": url})
        forged = Assignment(
            assessment_id="elsewhere", trace_id="elsewhere", step_id="s", agent_id="c", collector_url="http://evil"
        )
        metadata = forged.metadata() | {"kept": "as it is"}
        body = send("message/send", text="x", metadata=metadata)
        body["params"]["metadata"] = forged.metadata()
        async with httpx.AsyncClient(timeout=60) as http:
            await http.post(
                participants["a"].url_of("b"),
                json=body,
                headers={"traceparent": "00-" + "1" * 32 + "-" + "2" * 16 + "-01"},
            )
    theirs = Assignment.from_metadata(received[0].metadata)
    assert theirs is not None
    assert (theirs.agent_id, theirs.trace_id) == ("b", participants["a"].claims.trace_id)
    assert "evil" not in str(received[0].metadata)
    assert received[0].metadata["kept"] == "as it is"


async def test_the_parent_of_a_call_is_the_call_that_its_caller_is_answering(gateway: RunningGateway) -> None:
    participants: dict[str, TrialParticipant] = {}

    async def pass_on(_: IncomingMessage, task: TaskHandle) -> None:
        await call_agent(participants["b"], "c")
        await task.complete("passed on")

    async with served_agent(pass_on) as b, served_agent(echo) as c:
        participants |= await gateway.trial({"a": b, "b": b, "c": c})
        await call_agent(participants["a"], "b")
        reports = await gateway.reports(participants["a"].claims.trace_id, 2)
    steps = {step_of(report.step)[:2]: report.step for report in reports}
    assert steps["b", "c"].parent == steps["a", "b"].step_id


async def test_calls_with_the_same_step_id_are_recorded_under_different_ids(gateway: RunningGateway) -> None:
    async with served_agent(echo) as url:
        participants = await gateway.trial({"a": url, "b": url})
        step_id = new_step_id()
        mine = participants["a"].assignment().for_call(step_id, "b")
        body = send("message/send", text="x", metadata=mine.metadata())
        async with httpx.AsyncClient(timeout=60) as http:
            for participant in (participants["a"], participants["a"], participants["b"]):
                assert (await http.post(participant.url_of("b"), json=body)).json()["result"]["status"][
                    "state"
                ] == "completed"
        reports = await gateway.reports(mine.trace_id, 3)
    assert len({report.step.step_id for report in reports}) == 3
    assert step_id in {report.step.step_id for report in reports}


async def test_a_call_without_an_assignment_gets_the_step_id_of_its_trace_context(gateway: RunningGateway) -> None:
    async with served_agent(echo) as url:
        participants = await gateway.trial({"a": url, "b": url})
        trace_id, span_id = participants["a"].claims.trace_id, new_step_id()
        async with httpx.AsyncClient(timeout=60) as http:
            context = {"traceparent": f"00-{trace_id}-{span_id}-01"}
            await http.post(participants["a"].url_of("b"), json=send("message/send"), headers=context)
        (report,) = await gateway.reports(trace_id, 1)
    assert report.step.step_id == span_id


@VERSIONS
@pytest.mark.parametrize(("ending", "state"), [("fail", TaskState.FAILED), ("reject", TaskState.REJECTED)])
async def test_a_callees_failure_is_passed_on_unchanged_and_recorded_in_the_step(
    gateway: RunningGateway, version: str | None, ending: str, state: TaskState
) -> None:
    async def end(_: IncomingMessage, task: TaskHandle) -> None:
        await (task.fail("a bug") if ending == "fail" else task.reject("a bug"))

    async with served_agent(end) as url:
        participants = await gateway.trial({"a": url, "b": url})
        answer = (await call_agent(participants["a"], "b", version=version))[-1]
        (report,) = await gateway.reports(participants["a"].claims.trace_id, 1)
    assert isinstance(answer, Answer)
    assert (answer.state, answer.status_text) == (state, "a bug")
    assert report.step.failure == f"the agent ended with {state}: a bug"


@pytest.mark.parametrize(
    ("response", "failure"),
    [
        (
            JSONResponse({"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "lost"}}),
            "JSON-RPC error -32001: lost",
        ),
        (JSONResponse({"detail": "busy"}, 503, {"retry-after": "7"}), "HTTP status 503"),
        (PlainTextResponse("what?", 418), "HTTP status 418"),
        (Response(b"", 204), "no answer of A2A: an empty body"),
    ],
    ids=["JSON-RPC error", "status 503", "status 418", "status 204"],
)
async def test_an_error_of_http_or_json_rpc_is_passed_on_unchanged_and_recorded(
    gateway: RunningGateway, response: Response, failure: str | None
) -> None:
    async with agent_answering(response) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url})
        direct = await http.post(url, json=send("message/send"))
        carried = await http.post(participants["a"].url_of("b"), json=send("message/send"))
        (report,) = await gateway.reports(participants["a"].claims.trace_id, 1)
    assert (carried.status_code, carried.content) == (direct.status_code, direct.content)
    for name in ("content-type", "retry-after"):
        assert carried.headers.get(name) == direct.headers.get(name)
    assert report.step.failure == failure


async def test_a_call_of_an_unreachable_agent_gets_502_and_is_recorded_as_failed(gateway: RunningGateway) -> None:
    participants = await gateway.trial({"a": "http://127.0.0.1:1/", "b": f"http://127.0.0.1:{free_port()}/"})
    with pytest.raises(AgentUnreachableError):
        await call_agent(participants["a"], "b")
    async with httpx.AsyncClient(timeout=60) as http:
        answer = await http.post(participants["a"].url_of("b"), json=send("message/send"))
    assert answer.status_code == 502
    # The first call failed at the card.
    reports = await gateway.reports(participants["a"].claims.trace_id, 2)
    failed = ("a", "b", "the agent cannot be reached: ConnectionRefusedError")
    assert [step_of(report.step) for report in reports] == [failed, failed]


async def test_events_of_a_stream_are_passed_on_as_they_arrive(gateway: RunningGateway) -> None:
    go_on = asyncio.Event()

    async def slowly(_: IncomingMessage, task: TaskHandle) -> None:
        await task.working("first")
        await go_on.wait()
        await task.complete("last")

    async with served_agent(slowly) as url:
        participants = await gateway.trial({"a": url, "b": url})
        async with await A2AClient.connect(participants["a"].url_of("b")) as client:
            async for event in client.stream(text="x"):
                if isinstance(event, TaskUpdate) and event.text == "first":
                    go_on.set()  # the callee waits until this event has passed
                last = event
    assert isinstance(last, Answer)
    assert last.text == "last"


async def test_cancelling_a_call_cancels_the_callees_task_through_the_proxy(gateway: RunningGateway) -> None:
    reached, cancelled = asyncio.Event(), asyncio.Event()

    async def work(_: IncomingMessage, task: TaskHandle) -> None:
        await task.working("busy")
        reached.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with served_agent(work) as url, Messenger(lambda *_: None) as messenger:
        participants = await gateway.trial({"a": url, "b": url})
        mine = participants["a"].assignment()
        call = asyncio.create_task(messenger.send(participants["a"].url_of("b"), text="x", assignment=mine))
        await reached.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(60):
            await cancelled.wait()
        (report,) = await gateway.reports(mine.trace_id, 1)
    assert report.step.failure is not None


async def test_a_caller_that_disconnects_disconnects_its_callee(gateway: RunningGateway) -> None:
    reached, left = asyncio.Event(), asyncio.Event()

    async def never(request: Request) -> Response:
        reached.set()
        while not await request.is_disconnected():
            await asyncio.sleep(0.02)
        left.set()
        return Response()

    async with agent_answering(never) as url:
        participants = await gateway.trial({"a": url, "b": url})
        async with httpx.AsyncClient(timeout=60) as http:
            call = asyncio.create_task(http.post(participants["a"].url_of("b"), json=send("message/send")))
            await reached.wait()
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
        async with asyncio.timeout(60):
            await left.wait()
        (report,) = await gateway.reports(participants["a"].claims.trace_id, 1)
    assert report.step.failure == "cancelled by the caller"


async def test_an_answer_that_breaks_off_breaks_off_for_the_caller_and_is_a_failed_call(
    gateway: RunningGateway,
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b'data: {"result": {"kind": "task", "id": "t", "status": {"state": "working"}}}\n\n'
        raise ConnectionError("gone")

    async with agent_answering(StreamingResponse(pieces(), media_type="text/event-stream")) as url:
        participants = await gateway.trial({"a": url, "b": url})
        async with httpx.AsyncClient(timeout=60) as http:
            with pytest.raises(httpx.RemoteProtocolError):
                await http.post(participants["a"].url_of("b"), json=send("message/stream"))
        (report,) = await gateway.reports(participants["a"].claims.trace_id, 1)
    assert report.step.failure is not None


DEEPLY_NESTED = "[" * 100_000
ANSWER_TO_ANOTHER_REQUEST = {"jsonrpc": "2.0", "id": 99, "result": {"kind": "message", "parts": [{"text": "hi"}]}}


@pytest.mark.parametrize(
    ("response", "failure"),
    [
        (Response(b""), "no answer of A2A: an empty body"),
        (PlainTextResponse("<html>Welcome!</html>", media_type="text/html"), "no answer of A2A: no JSON"),
        (Response(b'{"jsonrpc": "2.0", "id": 1, "result": {"kind', media_type="application/json"), "no JSON"),
        (Response(DEEPLY_NESTED, media_type="application/json"), "no answer of A2A: no JSON"),
        (Response(status_code=302, headers={"location": "http://127.0.0.1:1/"}), "HTTP status 302"),
        (JSONResponse({"hello": "world"}), "neither a task nor a message"),
        (JSONResponse({"jsonrpc": "2.0", "id": 1, "result": None}), "neither a task nor a message"),
        (JSONResponse([1, 2]), "neither a task nor a message"),
        (JSONResponse(ANSWER_TO_ANOTHER_REQUEST), "neither a task nor a message for this request"),
        (Response(b"data: {}", media_type="text/event-stream"), "ended within an event"),
        (Response(b": hello\n\n", media_type="text/event-stream"), "neither a task nor a message"),
    ],
    ids=[
        "empty",
        "HTML",
        "truncated JSON",
        "deeply nested",
        "redirect",
        "no JSON-RPC",
        "null result",
        "list",
        "another request's answer",
        "truncated event",
        "comment alone",
    ],
)
async def test_an_answer_that_is_not_a2a_is_a_failed_call_with_the_reason(
    gateway: RunningGateway, response: Response, failure: str
) -> None:
    async with agent_answering(response) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url})
        await http.post(participants["a"].url_of("b"), json=send("message/send"))
        (report,) = await gateway.reports(participants["a"].claims.trace_id, 1)
    assert failure in (report.step.failure or "")


EMPTY_LISTS = json.dumps({"jsonrpc": "2.0", "id": 1, "result": [[]] * MAX_VALUES}).encode()


@pytest.mark.parametrize(
    ("response", "begun"),
    [
        (Response(EMPTY_LISTS, media_type="application/json"), False),
        (Response(b"data: " + EMPTY_LISTS + b"\n\n", media_type="text/event-stream"), True),
        (
            Response(b"data: " + b"\ndata: ".join(EMPTY_LISTS.split(b" ")) + b"\n\n", media_type="text/event-stream"),
            True,
        ),
    ],
    ids=["whole", "event", "event of many lines"],
)
async def test_an_answer_of_very_many_values_is_not_carried(
    gateway: RunningGateway, response: Response, *, begun: bool
) -> None:
    async with agent_answering(response) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url})
        with pytest.raises(httpx.RemoteProtocolError) if begun else nullcontext():
            answer = await http.post(participants["a"].url_of("b"), json=send("message/send"))
            assert answer.status_code == 502
        (report,) = await gateway.reports(participants["a"].claims.trace_id, 1)
    assert f"holds more than {MAX_VALUES} values" in (report.step.failure or "")


async def test_an_invalid_http_status_becomes_502_and_a_failed_call(gateway: RunningGateway) -> None:
    async with listening(replying("799 What")) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url})
        carried = await http.post(participants["a"].url_of("b"), json=send("message/send"))
        (report,) = await gateway.reports(participants["a"].claims.trace_id, 1)
    assert (carried.status_code, report.step.failure) == (502, "HTTP status 799")


@pytest.fixture
async def evaluator(redis_url: str) -> AsyncIterator[None]:
    """A worker of each queue, without which no assessment starts."""
    async with workers(redis_url):
        yield


@pytest.mark.usefixtures("evaluator")
async def test_a_call_open_when_its_trial_closes_is_aborted_and_recorded_once_as_unanswered(
    gateway: RunningGateway,
) -> None:
    called, hanging = asyncio.Event(), asyncio.Event()
    calls, traces = list[asyncio.Task[httpx.Response]](), list[str]()

    async def hang(request: Request) -> Response:
        asked = await request.json()
        called.set()
        await hanging.wait()
        result = {"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "late"}]}
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": result})

    async with agent_answering(hang) as callee, httpx.AsyncClient(timeout=60) as http:

        async def answer_early(message: IncomingMessage, task: TaskHandle) -> None:
            mine = Assignment.from_metadata(message.metadata)
            assert mine is not None
            assert mine.token is not None
            url = proxy_url(gateway.url, "b", mine.token.get_secret_value())
            calls.append(asyncio.create_task(http.post(url, json=send("message/send"), timeout=60)))
            traces.append(mine.trace_id)
            await called.wait()
            await task.complete("done")

        async with served_agent(answer_early) as caller, await A2AClient.connect(gateway.url) as client:
            config = {"task": "count", "start": "a", "closing_cap_s": 0.5, "quiet_s": 0}
            request = json.dumps({"participants": {"a": caller, "b": callee}, "config": config})
            assessing = asyncio.create_task(_last(client.stream(text=request)))
            while not traces:
                await asyncio.sleep(0.05)
            await gateway.reports(traces[0], 3)
            assert (await calls[0]).status_code == 403
            hanging.set()
            assessing.cancel()
            await asyncio.gather(assessing, return_exceptions=True)
            again = await gateway.reports(traces[0])
    failures = [report.step.failure for report in again if report.step.additional_attributes.get("agent_name") == "a"]
    assert ["unanswered when the trial was closed, after " in str(failure) for failure in failures] == [True]


async def _last(events: AsyncIterator[object]) -> None:
    async for _ in events:
        pass


async def test_calls_that_share_a_task_are_recorded_separately_when_it_ends(gateway: RunningGateway) -> None:
    working = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "working"}}

    async def work(request: Request) -> Response:
        body = await request.json()
        done = body["method"] == "tasks/get"
        result = working | ({"status": {"state": "completed"}} if done else {})
        return JSONResponse({"jsonrpc": "2.0", "id": body["id"], "result": result})

    async with agent_answering(work) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url})
        for _ in range(5):
            await http.post(participants["a"].url_of("b"), json=send("message/send"))
        assert await gateway.reports(participants["a"].claims.trace_id) == []
        get = {"jsonrpc": "2.0", "id": 7, "method": "tasks/get", "params": {"id": "t"}}
        await http.post(participants["a"].url_of("b"), json=get)
        reports = await gateway.reports(participants["a"].claims.trace_id, 5)
    assert [(report.step.failure, report.step.additional_attributes["task_state"]) for report in reports] == [
        (None, "completed")
    ] * 5


async def test_a_callee_with_non_ascii_letters_in_its_path_is_reached(gateway: RunningGateway) -> None:
    async def found(request: Request) -> Response:
        text = request.url.path
        result = {"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": text}]}
        return JSONResponse({"jsonrpc": "2.0", "id": (await request.json())["id"], "result": result})

    async with agent_answering(found) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": f"{url}zählen/"})
        carried = await http.post(participants["a"].url_of("b"), json=send("message/send"))
    assert carried.json()["result"]["parts"][0]["text"] == "/zählen/"


async def test_a_non_blocking_call_is_recorded_when_its_task_ends(gateway: RunningGateway) -> None:
    finish = asyncio.Event()

    async def work(_: IncomingMessage, task: TaskHandle) -> None:
        await finish.wait()
        await task.complete("done at last")

    async with served_agent(work) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url})
        callee = participants["a"].url_of("b")
        body = send("message/send")
        body["params"]["configuration"] = {"blocking": False}
        task = (await http.post(callee, json=body)).json()["result"]
        assert task["status"]["state"] in {"submitted", "working"}
        get = {"jsonrpc": "2.0", "id": 2, "method": "tasks/get", "params": {"id": task["id"]}}
        assert (await http.post(callee, json=get)).json()["result"]["status"]["state"] != "completed"
        assert await gateway.reports(participants["a"].claims.trace_id) == []
        finish.set()
        while (await http.post(callee, json=get)).json()["result"]["status"]["state"] != "completed":
            await asyncio.sleep(0.02)
        (report,) = await gateway.reports(participants["a"].claims.trace_id, 1)
    assert report.step.additional_attributes["task_state"] == "completed"
    assert report.step.additional_attributes["response_text"] == "done at last"


async def test_steps_in_band_become_the_callees_own_report(gateway: RunningGateway) -> None:
    async def trace(message: IncomingMessage, task: TaskHandle) -> None:
        mine = Assignment.from_metadata(message.metadata)
        assert mine is not None
        inner = InteractionStep(
            step_id="inner", trace_id=mine.trace_id, parent_step_id=mine.step_id, call_type=CallType.TOOL
        )
        carried = ResponseTrace(trace_id=mine.trace_id, steps=[inner]).model_dump(mode="json", exclude_none=True)
        await task.complete("ok", metadata={TRACEABILITY_KEY: carried})

    async with served_agent(trace) as url:
        participants = await gateway.trial({"a": url, "b": url})
        answer = (await call_agent(participants["a"], "b"))[-1]
        (call,) = await gateway.reports(participants["a"].claims.trace_id, 1)
        (inner,) = await gateway.reports(participants["a"].claims.trace_id, 1, Channel.IN_BAND)
    assert isinstance(answer, Answer)
    assert answer.response_trace is not None
    assert (inner.reporter, inner.step.step_id, inner.step.parent) == ("b", "inner", call.step.step_id)


async def test_a_call_is_carried_while_redis_is_down_and_recorded_once_it_is_back(
    private_redis: PrivateServer, tmp_path: Path
) -> None:
    async with running_gateway(private_redis.url, tmp_path) as gateway, served_agent(echo) as url:
        participants = await gateway.trial({"a": url, "b": url})
        await call_agent(participants["a"], "b", "before")
        await gateway.reports(participants["a"].claims.trace_id, 1)
        private_redis.kill()
        assert text_of(await call_agent(participants["a"], "b", "meanwhile")) == "you said meanwhile"
        private_redis.start()
        reports = await gateway.reports(participants["a"].claims.trace_id, 2)
    assert [report.step.additional_attributes["response_text"] for report in reports] == [
        "you said before",
        "you said meanwhile",
    ]


async def test_the_card_has_the_proxys_url_and_not_the_agents(gateway: RunningGateway) -> None:
    async with served_agent(echo) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url})
        own = participants["a"].url_of("b")
        text = (await http.get(f"{own}.well-known/agent-card.json")).text
        summary = await fetch_card(own)
    assert url.rstrip("/") not in text
    assert summary.urls == (own,)
    assert summary.skill_ids == ("researcher",)


@pytest.mark.parametrize("callee", ["stranger", "green-agent", "..", "b%2f..%2fa", ""])
async def test_a_callee_outside_the_assessment_gets_404(gateway: RunningGateway, callee: str) -> None:
    async with served_agent(echo) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url})
        await gateway.trial({"stranger": url})
        token = participants["a"].token
        answer = await http.post(f"{gateway.url}/a2a/{token}/{callee}", json=send("message/send"))
        assert answer.status_code == 404
        assert await gateway.reports(participants["a"].claims.trace_id) == []


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("admin", "POST", 404),
        ("", "GET", 405),
        ("", "DELETE", 405),
        ("1/", "POST", 404),
        (".well-known/agent-card.json", "POST", 405),
        (".well-known/../admin", "GET", 404),
        ("%2e%2e/%2e%2e/etc/passwd", "GET", 404),
    ],
    ids=[
        "another path",
        "GET",
        "DELETE",
        "another interface",
        "POST to the card",
        "dot segments",
        "encoded dot segments",
    ],
)
async def test_requests_other_than_for_the_card_and_json_rpc_are_refused(
    gateway: RunningGateway, path: str, method: str, status: int
) -> None:
    async with served_agent(echo) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url})
        answer = await http.request(method, participants["a"].url_of("b") + path, content=b"{}")
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"not json", -32700),
        (b'{"jsonrpc": "2.0", "method": "message/send", "params": {"n": NaN}}', -32700),
        (b'{"jsonrpc": "2.0", "method": "message/send", "params": {"n": 1e999}}', -32700),
        (b"[" * 100_000 + b"]" * 100_000, -32700),
        (b"[]", -32600),
        (b'{"jsonrpc": "2.0", "method": 7}', -32600),
        (b"\xff\xfe", -32700),
    ],
    ids=["empty", "no JSON", "NaN", "too large a number", "deeply nested", "list", "method is a number", "not UTF-8"],
)
async def test_an_invalid_request_body_gets_the_error_code_of_json_rpc(
    gateway: RunningGateway, body: bytes, code: int
) -> None:
    async with served_agent(echo) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url})
        answer = await http.post(participants["a"].url_of("b"), content=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (200, code)


async def test_a_body_beyond_the_size_limit_gets_413(gateway: RunningGateway) -> None:
    async with served_agent(echo) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url})
        answer = await http.post(participants["a"].url_of("b"), content=b" " * (MAX_BODY_BYTES + 1))
    assert answer.status_code == 413


async def test_two_hundred_streams_are_carried_at_the_same_time(gateway: RunningGateway) -> None:
    together = asyncio.Barrier(200)

    async def wait_for_all(request: Request) -> Response:
        document = await request.json()
        parts = document["params"]["message"]["parts"]

        async def events() -> AsyncIterator[str]:
            yield event({"kind": "task", "id": document["id"], "status": {"state": "working"}})
            await together.wait()
            yield event({"kind": "message", "role": "agent", "messageId": "m", "parts": parts})

        return StreamingResponse(events(), media_type="text/event-stream")

    limits = httpx.Limits(max_connections=200, max_keepalive_connections=10)
    async with agent_answering(wait_for_all) as url, httpx.AsyncClient(limits=limits, timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url})
        address = participants["a"].url_of("b")
        answers = await asyncio.gather(
            *(http.post(address, json=send("message/stream", f"number {n}")) for n in range(200))
        )
        reports = await gateway.reports(participants["a"].claims.trace_id, 200)
    assert all(f'"number {n}"' in answer.text for n, answer in enumerate(answers))
    assert len({report.step.step_id for report in reports}) == 200
    assert {report.step.additional_attributes["response_text"] for report in reports} == {
        f"number {n}" for n in range(200)
    }


async def test_a_caller_that_floods_gets_429_and_does_not_delay_others(gateway: RunningGateway) -> None:
    release = asyncio.Event()

    async def hold(_: Request) -> Response:
        await release.wait()
        return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": {}})

    limits = httpx.Limits(max_connections=400, max_keepalive_connections=10)
    async with (
        agent_answering(hold) as url,
        served_agent(echo) as b,
        httpx.AsyncClient(limits=limits, timeout=60) as http,
    ):
        participants = await gateway.trial({"a": url, "b": b, "slow": url})
        flood = [
            asyncio.create_task(http.post(participants["a"].url_of("slow"), json=send("message/send"), timeout=120))
            for _ in range(300)
        ]
        await eventually(lambda: sum(call.done() for call in flood) == 44)
        assert text_of(await call_agent(participants["b"], "b")) == "you said hello"
        release.set()
        answers = await asyncio.gather(*flood)
    assert sorted({answer.status_code for answer in answers}) == [200, 429]
    assert all("retry-after" in answer.headers for answer in answers if answer.status_code == 429)


def event(result: dict[str, Any]) -> str:
    """A server-sent event in the form of A2A 0.3."""
    return f"data: {json.dumps({'jsonrpc': '2.0', 'id': 1, 'result': result})}\n\n"


def text_of(events: list[TaskUpdate | Answer]) -> str:
    return events[-1].text
