"""Rewording of the purple agents' review by a language model over HTTP."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import SecretStr

from concord.agent.messenger import Messenger
from concord.agent.reporter import TraceReporter
from concord.llm import LLMSettings
from concord.trace.step import ResponseTrace
from concord.wire.assignment import TRACEABILITY_KEY, Assignment
from concord_purple.agent import StepRecorder, reword_review
from tests.integration.purple_agents import free_urls, running_agents
from tests.unit.purple.shipped_tasks import TASKS, share_right

ASSIGNMENT = Assignment(assessment_id="a", trace_id="t", step_id="caller", agent_id="coordinator")
COMPLETION = {
    "id": "1",
    "object": "chat.completion",
    "created": 0,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Well written!"}}],
    "usage": {"prompt_tokens": 40, "completion_tokens": 2, "total_tokens": 42},
}


@contextmanager
def _model(status: int, body: dict[str, Any]) -> Iterator[tuple[LLMSettings, list[dict[str, Any]]]]:
    asked: list[dict[str, Any]] = []

    class Routes(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            answer = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Logs nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Routes) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}/v1"
            yield LLMSettings(api_key=SecretStr("sk-test"), base_url=url, model="m"), asked
        finally:
            server.shutdown()
            thread.join()


def _steps(steps: StepRecorder) -> ResponseTrace:
    return ResponseTrace.model_validate(steps.metadata()[TRACEABILITY_KEY])


async def test_the_model_rewords_the_review_and_its_call_is_a_tool_step() -> None:
    steps = StepRecorder(ASSIGNMENT, TraceReporter())
    with _model(200, COMPLETION) as (settings, asked):
        assert await reword_review("Weak.", "Be kind:", settings, ASSIGNMENT, steps) == "Well written!"
    assert asked[0]["messages"][1] == {"role": "user", "content": "Be kind:\n\nWeak."}
    (step,) = _steps(steps).steps
    assert (step.call_type, step.total_tokens, step.failure) == ("TOOL", 42, None)


async def test_after_a_failed_request_the_review_keeps_its_wording_and_a_warning_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    steps = StepRecorder(ASSIGNMENT, TraceReporter())
    with _model(400, {"error": {"message": "no"}}) as (settings, _):
        assert await reword_review("Weak.", "", settings, ASSIGNMENT, steps) == "Weak."
    assert "the review keeps its plain wording" in caplog.text
    (step,) = _steps(steps).steps
    assert step.failure is not None


async def test_without_an_api_key_no_model_is_asked() -> None:
    steps = StepRecorder(ASSIGNMENT, TraceReporter())
    with _model(200, COMPLETION) as (settings, asked):
        without = settings.model_copy(update={"api_key": None})
        assert await reword_review("Weak.", "", without, ASSIGNMENT, steps) == "Weak."
    assert asked == []


async def test_a_reworded_review_ends_with_the_same_json() -> None:
    task, urls = TASKS["cargo_bikes"], free_urls(["coordinator"])
    with _model(200, COMPLETION) as (settings, _):
        async with (
            running_agents({"coordinator": {}}, urls, llm=settings),
            Messenger(lambda _step, _assignment: None, timeout_s=60) as messenger,
        ):
            answer = await messenger.send(urls["coordinator"], text=task.text)
    assert answer.text.startswith("Well written!\n\n{")
    assert share_right(task, answer.text) == 1
