"""Synthetic spans of teams as a file of OTLP: a planner and its workers, with model calls, tools and their content.

`python -m lab.benchmarks.traces.recorded_spans FILE SPANS TRACES` writes such a file: one export request per line, or
if its name ends with `.binpb`, each in protobuf after its length.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from lab.benchmarks.traces.otlp_forms import protobuf_of

WORKERS: Final = ("researcher", "writer", "critic", "editor", "translator")
TOOLS: Final = ("search", "read_page", "run_code")
MODEL: Final = "some-model"
PROTOBUF: Final = ".binpb"
"""The suffix of files in protobuf, which have a length before each message, as the OpenTelemetry collector writes."""
TEXT: Final = "Compare the figures of both reports, name what differs, and say which of them you trust. " * 4

_START_NS: Final = 1_767_225_600_000_000_000
_TRACE_APART_NS: Final = 300_000_000_000
_MS: Final = 1_000_000

Attributes = dict[str, str | int]


@dataclass
class _Run:
    """One trace: it grows span by span until it has `size` of them. `version`: that of its team."""

    number: int
    size: int
    draw: random.Random
    spans: list[dict[str, Any]] = field(default_factory=list)
    now_ns: int = 0

    @property
    def version(self) -> str:
        return "2.0" if self.number % 2 else "1.0"

    def play(self) -> list[dict[str, Any]]:
        """The planner asks workers in turn, in one of three patterns; each asks a model and uses tools."""
        self.now_ns = _START_NS + self.number * _TRACE_APART_NS
        root = self._open("", "invoke_agent planner", _agent("planner") | _said("Write the report.", "The report."))
        workers = WORKERS[: 2 + self.number % 3]
        turn = 0
        while len(self.spans) < self.size:
            self._model(root)
            if len(self.spans) < self.size:
                self._work(root, workers[turn % len(workers)])
            turn += 1
        self._close(root, failed=False)
        return self.spans

    def _work(self, parent: dict[str, Any], worker: str) -> None:
        work = self._open(parent["spanId"], f"invoke_agent {worker}", _agent(worker) | _said(TEXT, TEXT))
        for _ in range(self.draw.randrange(1, 4)):
            if len(self.spans) < self.size:
                self._model(work)
            if len(self.spans) < self.size:
                self._tool(work)
        self._close(work, failed=self.draw.random() < (0.1 if self.version == "2.0" else 0.02))

    def _model(self, parent: dict[str, Any]) -> None:
        used: Attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": MODEL,
            "gen_ai.usage.input_tokens": self.draw.randrange(300, 3000),
            "gen_ai.usage.output_tokens": self.draw.randrange(20, 400),
        }
        self._close(self._open(parent["spanId"], f"chat {MODEL}", used | _said(TEXT, TEXT)), failed=False)

    def _tool(self, parent: dict[str, Any]) -> None:
        name = self.draw.choice(TOOLS)
        used: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.arguments": json.dumps({"query": f"figure {self.draw.randrange(1000)}"}),
            "gen_ai.tool.call.result": TEXT,
        }
        self._close(self._open(parent["spanId"], f"execute_tool {name}", used), failed=self.draw.random() < 0.01)

    def _open(self, parent_id: str, name: str, attributes: Attributes) -> dict[str, Any]:
        span: dict[str, Any] = {
            "traceId": f"{self.number + 1:032x}",
            "spanId": f"{(self.number + 1) << 24 | len(self.spans) + 1:016x}",
            "parentSpanId": parent_id,
            "name": name,
            "startTimeUnixNano": str(self.now_ns),
            "attributes": [{"key": key, "value": _value(value)} for key, value in attributes.items()],
        }
        self.now_ns += self.draw.randrange(1, 20) * _MS
        self.spans.append(span)
        return span

    def _close(self, span: dict[str, Any], *, failed: bool) -> None:
        self.now_ns += int(self.draw.lognormvariate(6, 0.5)) * _MS
        span["endTimeUnixNano"] = str(self.now_ns)
        span["status"] = {"code": 2, "message": "no answer in time"} if failed else {}


def export_requests(spans: int, traces: int) -> Iterator[dict[str, Any]]:
    """Export requests with so many spans, in traces whose sizes differ by at most one. Deterministic."""
    for number in range(traces):
        size = spans // traces + (number < spans % traces)
        run = _Run(number, size, random.Random(number))  # noqa: S311 - a reproducible draw, not a secret
        played = run.play()
        for start in range(0, len(played), 500):
            yield _request(played[start : start + 500], run.version)


def write(file: Path, spans: int, traces: int) -> None:
    """Writes the file, in the form that its name says."""
    with file.open("wb") as written:
        for request in export_requests(spans, traces):
            if file.suffix == PROTOBUF:
                message = protobuf_of(request).SerializeToString()
                written.write(len(message).to_bytes(4, "big") + message)
            else:
                written.write(json.dumps(request).encode() + b"\n")


def _agent(name: str) -> Attributes:
    return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}


def _said(asked: str, answered: str) -> Attributes:
    messages = {"gen_ai.input.messages": ("user", asked), "gen_ai.output.messages": ("assistant", answered)}
    return {
        key: json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])
        for key, (role, text) in messages.items()
    }


def _request(spans: Sequence[dict[str, Any]], version: str) -> dict[str, Any]:
    facts: Attributes = {"service.name": "reports", "service.version": version}
    resource = {"attributes": [{"key": key, "value": _value(value)} for key, value in facts.items()]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "app"}, "spans": list(spans)}]}]}


def _value(value: str | int) -> dict[str, str]:
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def main() -> None:
    """Parses the arguments and writes the file."""
    parser = argparse.ArgumentParser("lab.benchmarks.traces.recorded_spans", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("spans", type=int)
    parser.add_argument("traces", type=int)
    arguments = parser.parse_args()
    write(arguments.file, arguments.spans, arguments.traces)


if __name__ == "__main__":
    main()
