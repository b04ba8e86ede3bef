"""The messenger against real A2A agents: every call leaves a step, whatever its outcome."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import SecretStr

from concord.a2a import (
    A2AClient,
    AgentTimeoutError,
    AgentUnreachableError,
    IncomingMessage,
    RemoteError,
    TaskHandle,
    TaskState,
    TaskUpdate,
)
from concord.a2a.http import MAX_VALUES
from concord.agent.messenger import Messenger
from concord.trace.step import CallType, InteractionStep, ResponseTrace
from concord.trust.redaction import TOKEN_PREFIX
from concord.wire.assignment import ASSIGNMENT_URI, TIMESTAMP_KEY, TRACEABILITY_KEY, Assignment
from concord.wire.roster import new_step_id, new_trace_id
from tests.kit.serving import listening, reserved, served, served_agent, url_of


class StepList:
    """A recorder that keeps the steps of a messenger in `steps`."""

    def __init__(self) -> None:
        self.steps: list[InteractionStep] = []

    def __call__(self, step: InteractionStep, _: Assignment) -> None:
        self.steps.append(step)


def new_assignment() -> Assignment:
    return Assignment(
        assessment_id="a1", trace_id=new_trace_id(), step_id=new_step_id(), agent_id="caller", collector_url="http://c"
    )


async def echo(message: IncomingMessage, task: TaskHandle) -> None:
    await task.working("thinking")
    await task.complete(f"you said {message.text}", data={"heard": list(message.data_parts)})


@asynccontextmanager
async def messenger(timeout_s: float = 60) -> AsyncIterator[tuple[Messenger, StepList]]:
    recorded = StepList()
    async with Messenger(recorded, timeout_s=timeout_s) as opened:
        yield opened, recorded


async def test_a_call_returns_the_answer_and_leaves_a_step_in_the_form_of_the_specification() -> None:
    mine = new_assignment()
    async with served_agent(echo) as url, messenger() as (sender, recorded):
        answer = await sender.send(url, text="hello", data={"n": 1}, assignment=mine, callee_id="echo")
    assert (answer.state, answer.text, answer.data_parts) == (
        TaskState.COMPLETED,
        "you said hello",
        ({"heard": [{"n": 1}]},),
    )
    (step,) = recorded.steps
    assert (step.kind, step.trace_id, step.parent, step.failure) == (CallType.AGENT, mine.trace_id, mine.step_id, None)
    assert step.agent_call is not None
    assert (step.agent_call.agent_url, step.agent_call.agent_name) == (url, "echo")
    assert step.agent_call.requests == {"text": "hello"}
    assert step.latency is not None
    assert step.start_time is not None
    assert step.end_time is not None
    assert step.end_time >= step.start_time


async def test_a_message_carries_the_callees_assignment_and_the_trace_context() -> None:
    received: list[IncomingMessage] = []

    async def listen(message: IncomingMessage, task: TaskHandle) -> None:
        received.append(message)
        await task.complete("ok")

    mine = new_assignment()
    async with served_agent(listen) as url, messenger() as (sender, recorded):
        await sender.send(url, text="x", assignment=mine, callee_id="callee")
    metadata = received[0].metadata
    theirs = Assignment.from_metadata(metadata)
    (step,) = recorded.steps
    assert theirs == mine.model_copy(update={"agent_id": "callee", "step_id": step.step_id})
    assert metadata["traceparent"] == f"00-{mine.trace_id}-{step.step_id}-01"
    assert TIMESTAMP_KEY in metadata


async def test_the_trace_context_is_in_the_header_of_a_call_too() -> None:
    headers: list[httpx.Headers] = []

    async def note(request: httpx.Request) -> None:
        headers.append(request.headers)

    mine = new_assignment()
    async with served_agent(echo) as url, messenger() as (sender, recorded):
        client = await sender._client(url)
        client._http.event_hooks["request"].append(note)
        await sender.send(url, text="x", assignment=mine)
    assert headers[-1]["traceparent"] == f"00-{mine.trace_id}-{recorded.steps[0].step_id}-01"


async def test_the_callees_token_is_in_the_message_and_not_in_the_history_of_its_task() -> None:
    received: list[IncomingMessage] = []
    history: list[object] = []

    async def ask(message: IncomingMessage, task: TaskHandle) -> None:
        received.append(message)
        await task.input_required("?")

    async with served_agent(ask) as url, messenger() as (sender, _), httpx.AsyncClient(timeout=60) as http:
        send = partial(sender.send, url, assignment=new_assignment(), callee_id="callee", token=SecretStr("s3cret"))
        task_id = ""
        for _ in range(3):
            task_id = (await send(text="x", task_id=task_id)).task_id
            asked = {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": task_id}}
            history.append((await http.post(url, json=asked)).json()["result"]["history"])
    for message in received:
        theirs = Assignment.from_metadata(message.metadata)
        assert theirs is not None
        assert theirs.token == SecretStr("s3cret")
    assert "metadata" in str(history[0])
    assert "s3cret" not in str(history)


async def test_the_callers_token_in_the_callees_url_is_in_no_message_and_no_step() -> None:
    received: list[IncomingMessage] = []

    async def listen(message: IncomingMessage, task: TaskHandle) -> None:
        received.append(message)
        await task.complete("ok")

    token = f"{TOKEN_PREFIX}eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ3cml0ZXIifQ.{'x' * 43}"
    mine = new_assignment().model_copy(update={"token": SecretStr(token)})
    async with served_agent(listen) as url, messenger() as (sender, recorded):
        await sender.send(url, text="x", assignment=mine)
        with pytest.raises((AgentUnreachableError, RemoteError)):
            await sender.send(f"{url}a2a/{token}/reader/", text="x", assignment=mine)
    assert token not in str(received) + str([step.model_dump_json() for step in recorded.steps])
    call = recorded.steps[1].agent_call
    assert call is not None
    assert call.agent_url == f"{url}a2a/-/reader/"


async def test_the_extensions_are_requested_in_the_headers_of_both_a2a_versions() -> None:
    headers: list[httpx.Headers] = []
    async with served_agent(echo) as url:
        async with await A2AClient.connect(url) as client:
            await note_headers(client, headers)
        async with await A2AClient.connect(url, protocol_version="0.3") as client:
            await note_headers(client, headers)
    assert all(ASSIGNMENT_URI in sent["a2a-extensions"] for sent in headers)
    assert ASSIGNMENT_URI in headers[1]["x-a2a-extensions"]


async def note_headers(client: A2AClient, headers: list[httpx.Headers]) -> None:
    async def note(request: httpx.Request) -> None:
        headers.append(request.headers)

    client._http.event_hooks["request"].append(note)
    async for _ in client.stream(text="x", extensions=[ASSIGNMENT_URI]):
        pass


async def test_without_an_assignment_a_call_works_and_leaves_no_step() -> None:
    async with served_agent(echo) as url, messenger() as (sender, recorded):
        assert (await sender.send(url, text="hi")).succeeded
    assert recorded.steps == []


async def test_all_calls_to_an_agent_share_a_client_however_its_url_is_written() -> None:
    async with served_agent(echo) as url, messenger() as (sender, _):
        await asyncio.gather(*(sender.send(spelt, text="x") for spelt in (url, url.rstrip("/"), url)))
        assert len(sender._clients) == 1


async def test_a_callees_question_can_be_answered_in_the_same_task() -> None:
    async def ask(message: IncomingMessage, task: TaskHandle) -> None:
        if message.follow_up:
            await task.complete(f"thanks for {message.text}")
        else:
            await task.input_required("which colour?")

    async with served_agent(ask) as url, messenger() as (sender, recorded):
        question = await sender.send(url, text="paint", assignment=new_assignment())
        assert (question.state, question.text) == (TaskState.INPUT_REQUIRED, "which colour?")
        answer = await sender.send(
            url, text="blue", assignment=new_assignment(), task_id=question.task_id, context_id=question.context_id
        )
    assert (answer.state, answer.text) == (TaskState.COMPLETED, "thanks for blue")
    assert answer.task_id == question.task_id
    assert [step.failure for step in recorded.steps] == [None, None]


async def test_a_follow_up_that_names_only_its_task_stays_in_its_context() -> None:
    contexts: list[str] = []

    async def ask(message: IncomingMessage, task: TaskHandle) -> None:
        contexts.append(message.context_id)
        await (task.complete("ok") if message.follow_up else task.input_required("?"))

    async with served_agent(ask) as url, messenger() as (sender, _):
        question = await sender.send(url, text="x")
        await sender.send(url, text="y", task_id=question.task_id)
    assert contexts[0] == contexts[1]


async def test_updates_arrive_while_the_agent_works() -> None:
    updates: list[TaskUpdate] = []
    async with served_agent(echo) as url, messenger() as (sender, _):
        await sender.send(url, text="x", on_update=updates.append)
    assert "thinking" in [update.text for update in updates]


@pytest.mark.parametrize(
    ("ending", "state"), [("fail", TaskState.FAILED), ("reject", TaskState.REJECTED), ("raise", TaskState.FAILED)]
)
async def test_an_agents_failure_is_returned_as_its_answer_and_recorded_in_the_step(
    ending: str, state: TaskState
) -> None:
    async def end(_: IncomingMessage, task: TaskHandle) -> None:
        if ending == "raise":
            raise ValueError("a bug")
        await (task.fail("a bug") if ending == "fail" else task.reject("a bug"))

    async with served_agent(end) as url, messenger() as (sender, recorded):
        answer = await sender.send(url, text="x", assignment=new_assignment())
    assert answer.state == state
    assert "a bug" in answer.status_text
    (step,) = recorded.steps
    assert step.failure is not None
    assert "a bug" in step.failure


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://[::1", "http://127.0.0.1:99999/", "nonsense"])
async def test_a_call_of_an_unreachable_agent_raises_and_leaves_a_failed_step(url: str) -> None:
    async with messenger() as (sender, recorded):
        with pytest.raises(AgentUnreachableError):
            await sender.send(url, text="x", assignment=new_assignment())
    assert recorded.steps[0].failure is not None


async def test_a_call_that_times_out_raises_agent_timeout_error_and_leaves_a_failed_step() -> None:
    async def sleep(_: IncomingMessage, task: TaskHandle) -> None:
        await task.working("any moment now")
        await asyncio.sleep(60)

    async with served_agent(sleep) as url, messenger(timeout_s=0.5) as (sender, recorded):
        with pytest.raises(AgentTimeoutError):
            await sender.send(url, text="x", assignment=new_assignment())
    assert recorded.steps[0].failure is not None
    assert "0.5 s" in recorded.steps[0].failure


@pytest.mark.parametrize("path", ["card", "rpc"])
async def test_a_callee_that_does_not_speak_a2a_is_a_remote_error(path: str) -> None:
    holder = reserved()
    app = FastAPI()
    card: dict[str, object] = {"nonsense": True}
    if path == "rpc":
        card = {"name": "x", "url": f"{url_of(holder)}/", "capabilities": {"streaming": True}, "skills": []}
    app.get("/.well-known/agent-card.json")(lambda: card)
    app.post("/")(lambda: {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "broken"}})
    async with served(app, holder) as url, messenger() as (sender, recorded):
        with pytest.raises(RemoteError):
            await sender.send(url, text="x", assignment=new_assignment())
    assert recorded.steps[0].failure is not None


async def test_cancelling_a_call_cancels_the_callees_task() -> None:
    reached, cancelled = asyncio.Event(), asyncio.Event()

    async def work(_: IncomingMessage, task: TaskHandle) -> None:
        await task.working("busy")
        reached.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with served_agent(work) as url, messenger() as (sender, recorded):
        call = asyncio.create_task(sender.send(url, text="x", assignment=new_assignment()))
        await reached.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(60):
            await cancelled.wait()
    assert recorded.steps[0].failure == "cancelled by the caller"


async def test_steps_in_band_are_in_the_step_of_the_call() -> None:
    inner = InteractionStep(step_id="inner", trace_id="t", call_type=CallType.TOOL)

    async def trace(_: IncomingMessage, task: TaskHandle) -> None:
        carried = ResponseTrace(trace_id="t", steps=[inner]).model_dump(mode="json", exclude_none=True)
        await task.complete("ok", metadata={TRACEABILITY_KEY: carried})

    async with served_agent(trace) as url, messenger() as (sender, recorded):
        await sender.send(url, text="x", assignment=new_assignment())
    call = recorded.steps[0].agent_call
    assert call is not None
    assert call.response_trace is not None
    assert [step.step_id for step in call.response_trace.steps] == ["inner"]


async def test_an_unreadable_trace_in_band_leaves_the_answer_intact() -> None:
    async def lie(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete("ok", metadata={TRACEABILITY_KEY: {"steps": "none of your business"}})

    async with served_agent(lie) as url, messenger() as (sender, recorded):
        assert (await sender.send(url, text="x", assignment=new_assignment())).text == "ok"
    assert recorded.steps[0].agent_call is not None
    assert recorded.steps[0].agent_call.response_trace is None


@pytest.mark.parametrize("part", ["card", "rpc", "stream"])
async def test_an_answer_beyond_the_size_limit_is_a_remote_error(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("concord.a2a.http.MAX_ANSWER_BYTES", 100_000)
    holder = reserved()

    async def long() -> AsyncIterator[bytes]:
        for _ in range(200):
            yield b"x" * 1000

    kind = "text/event-stream" if part == "stream" else "application/json"
    app = FastAPI()
    capabilities = {"streaming": part == "stream"}
    card = {"name": "x", "url": f"{url_of(holder)}/", "capabilities": capabilities, "skills": []}
    app.get("/.well-known/agent-card.json", response_model=None)(
        lambda: StreamingResponse(long()) if part == "card" else card
    )
    app.post("/", response_model=None)(lambda: StreamingResponse(long(), media_type=kind))
    async with served(app, holder) as url, messenger() as (sender, _):
        with pytest.raises(RemoteError, match="longer than 100000 bytes"):
            await sender.send(url, text="x", assignment=new_assignment())


@pytest.mark.parametrize("values", [100_000, 99_990])
async def test_an_answer_of_more_values_than_the_limit_is_a_remote_error(values: int) -> None:
    async def answer(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete("ok", data=[1] * values)

    async with served_agent(answer) as url, messenger() as (sender, _):
        sent = sender.send(url, text="x", assignment=new_assignment())
        if values < MAX_VALUES - 50:
            assert (await sent).text == "ok"
            return
        with pytest.raises(RemoteError, match="more than 100000 values"):
            await sent


async def test_an_answer_that_declares_a_size_beyond_the_limit_is_not_read() -> None:
    async def never_ending(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n")
        await reader.read()
        writer.close()

    async with listening(never_ending) as url, messenger() as (sender, _):
        with pytest.raises(RemoteError, match="100000000 bytes, and the limit is"):
            await sender.send(url, text="x", assignment=new_assignment())


async def test_a_compressed_answer_that_was_not_requested_is_a_remote_error() -> None:
    app = FastAPI()
    packed = Response(gzip.compress(b" " * 1000), headers={"content-encoding": "gzip"})
    app.get("/.well-known/agent-card.json", response_model=None)(lambda: packed)
    async with served(app) as url, messenger() as (sender, _):
        with pytest.raises(RemoteError, match="compressed"):
            await sender.send(url, text="x", assignment=new_assignment())


def impatient(states: list[str]) -> FastAPI:
    """An agent as fasta2a's: without streaming, it answers before its task has ended, and with times without a zone."""
    app = FastAPI()

    @app.get("/.well-known/agent-card.json")
    async def card(request: Request) -> dict[str, Any]:
        modes = {"defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"]}
        about = {"name": "impatient", "description": "Answers at once.", "version": "1", "skills": []}
        return {"protocolVersion": "0.3.0", "url": str(request.base_url), "capabilities": {}} | modes | about

    @app.post("/")
    async def rpc(request: Request) -> dict[str, Any]:
        asked = await request.json()
        if asked["method"] == "message/send" and not asked["params"]["configuration"]["acceptedOutputModes"]:
            raise HTTPException(500)
        state = states.pop(0) if len(states) > 1 else states[0]
        parts = [{"kind": "text", "text": "done"}]
        task = {
            "kind": "task",
            "id": "1",
            "contextId": "1",
            "status": {"state": state, "timestamp": "2026-11-22T13:32:05"},
        }
        return {
            "jsonrpc": "2.0",
            "id": asked["id"],
            "result": task | {"artifacts": [{"artifactId": "1", "parts": parts}]},
        }

    return app


@pytest.mark.parametrize("states", [["completed"], ["submitted", "working", "completed"], ["submitted", "failed"]])
async def test_an_agent_that_answers_before_its_task_has_ended_is_asked_until_it_has(states: list[str]) -> None:
    last = states[-1]
    async with served(impatient(states)) as url, messenger() as (sender, recorded):
        answer = await sender.send(f"{url}/", text="x", assignment=new_assignment())
    assert (answer.state.value, answer.text) == (last, "done")
    assert len(recorded.steps) == 1
