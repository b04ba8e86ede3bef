"""Teams with planted failures, as spans of several conventions."""

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

from concord.assessment import AssessmentConfig
from concord.assessment.recorded_work import Redaction
from concord.assessment.result_row import ResultRow
from concord_evaluator.formats import Source, Trace, read_traces, redactor
from concord_evaluator.offline import evaluate_trace

Attributes = dict[str, Any]
Said = Callable[[str, str, str, str], Attributes]
"""The attributes of a span by kind (agent, tool, model), name, input and output."""


def _messages(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}]) if text else ""


def gen_ai(kind: str, name: str, asked: str, said: str) -> Attributes:
    if kind == "tool":
        own = {"gen_ai.tool.name": name, "gen_ai.tool.call.arguments": asked, "gen_ai.tool.call.result": said}
        return {"gen_ai.operation.name": "execute_tool", **own}
    named = {"gen_ai.agent.name": name} if kind == "agent" else {"gen_ai.request.model": name}
    return {
        "gen_ai.operation.name": "invoke_agent" if kind == "agent" else "chat",
        **named,
        "gen_ai.input.messages": _messages("user", asked),
        "gen_ai.output.messages": _messages("assistant", said),
    }


def openinference(kind: str, name: str, asked: str, said: str) -> Attributes:
    named = {"agent": "agent.name", "tool": "tool.name", "model": "llm.model_name"}[kind]
    return {
        "openinference.span.kind": "LLM" if kind == "model" else kind.upper(),
        named: name,
        "input.value": asked,
        "output.value": said,
    }


def mlflow(kind: str, name: str, asked: str, said: str) -> Attributes:
    asked_in = asked if kind == "tool" else json.dumps([{"role": "user", "content": asked}]) if asked else ""
    return {
        "mlflow.spanType": json.dumps({"model": "LLM"}.get(kind, kind.upper())),
        "gen_ai.request.model": name if kind == "model" else "",
        "mlflow.spanInputs": asked_in,
        "mlflow.spanOutputs": json.dumps(said) if said else "",
    }


def langfuse(kind: str, name: str, asked: str, said: str) -> Attributes:
    return {
        "langfuse.observation.type": "generation" if kind == "model" else kind,
        "langfuse.observation.model.name": name if kind == "model" else "",
        "langfuse.observation.input": asked,
        "langfuse.observation.output": said,
    }


CONVENTIONS: Mapping[str, Said] = {
    "OpenTelemetry": gen_ai,
    "OpenInference": openinference,
    "MLflow": mlflow,
    "Langfuse": langfuse,
}


class Recorder:
    """Records spans one after the other."""

    def __init__(self, said: Said) -> None:
        self._said = said
        self.spans: list[dict[str, Any]] = []
        self._logs: list[dict[str, Any]] = []

    def span(
        self,
        kind: str,
        name: str,
        asked: str = "",
        said: str = "",
        *,
        parent: str = "",
        at: tuple[float, float] = (0, 1),
        error: str = "",
        events: Mapping[str, Attributes] | None = None,
        **more: object,
    ) -> str:
        """Records a span from `at[0]` to `at[1]` seconds, and returns its id."""
        attributes = {} if kind == "plain" else self._said(kind, name, asked, said)
        attributes |= {key.replace("__", "."): value for key, value in more.items()}
        self.spans.append(
            {
                "traceId": "1" * 32,
                "spanId": f"{len(self.spans) + 1:016x}",
                "parentSpanId": parent,
                "name": name,
                "startTimeUnixNano": str(1_700_000_000_000_000_000 + int(at[0] * 1e9)),
                "endTimeUnixNano": str(1_700_000_000_000_000_000 + int(at[1] * 1e9)),
                "status": {"code": 2, "message": error} if error else {},
                "attributes": _written({key: value for key, value in attributes.items() if value != ""}),
                "events": [{"name": event, "attributes": _written(own)} for event, own in (events or {}).items()],
            }
        )
        return str(self.spans[-1]["spanId"])

    def log(self, span_id: str, event: str, body: Mapping[str, Any]) -> None:
        """Records an event as a log record, as newer libraries do."""
        record = {"traceId": "1" * 32, "spanId": span_id, "eventName": event, "body": _value(dict(body))}
        self._logs.append({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]})

    def trace(self) -> Trace:
        scoped = {"scope": {"name": "test"}, "spans": self.spans}
        resource = {"attributes": _written({"service.name": "team"})}
        lines = [*self._logs, {"resourceSpans": [{"resource": resource, "scopeSpans": [scoped]}]}]
        body = "\n".join(map(json.dumps, lines)).encode()
        [trace] = read_traces(Source("team.json", io.BytesIO(body)))
        return trace

    def row(self, redaction: Redaction | None = None) -> ResultRow:
        return evaluate_trace(redactor(redaction)(self.trace()), AssessmentConfig())


def _written(attributes: Attributes) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: object) -> dict[str, Any]:
    if isinstance(value, dict):
        return {"kvlistValue": {"values": _written(value)}}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def bad_team(said: Said) -> Recorder:
    """Three failed calls, a tool that fails five times with the same arguments, and a correction that is ignored."""
    team = Recorder(said)
    lead = team.span("agent", "lead", "Find the ferry on 3 May.", "The ferry costs 40 EUR.", at=(0, 30))
    for number in range(3):
        team.span("agent", "booker", "Book.", parent=lead, at=(1 + number, 2 + number), error="connection refused")
    searcher = team.span("agent", "searcher", "Search on 3 May.", "5 May: 40 EUR.", parent=lead, at=(5, 20))
    for number in range(5):
        failed = "Error: no such harbour"
        team.span("tool", "search", '{"date": "3 May"}', failed, parent=searcher, at=(6 + number, 6.5 + number))
    team.span("agent", "critic", "Is it right?", "No: 3 May, not 5 May.", parent=lead, at=(21, 22))
    return team


def crashed_run(said: Said) -> Recorder:
    """A run that ends with an exception of its model, after one agent had answered."""
    team = Recorder(said)
    lead = team.span("agent", "lead", "Write a report.", at=(0, 5), error="RuntimeError: no model")
    team.span("agent", "writer", "Draft.", "A draft.", parent=lead, at=(1, 2))
    team.span("model", "gpt", "Write a report.", parent=lead, at=(3, 4), error="RuntimeError: no model")
    return team


def right_pipeline(said: Said) -> Recorder:
    """Three agents one after the other, without a fault."""
    team = Recorder(said)
    root = team.span("plain", "pipeline", at=(0, 10))
    texts = ("Find facts.", "Seven hills.", "A text on seven hills.", "Bergen, city of seven hills.")
    for number, name in enumerate(("researcher", "writer", "editor")):
        team.span("agent", name, texts[number], texts[number + 1], parent=root, at=(3 * number, 3 * number + 2))
    return team
