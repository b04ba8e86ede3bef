"""Recordings of a team of two agents as OTLP, and what a reader makes of them."""

import json
from collections.abc import Mapping
from hashlib import blake2b
from io import BytesIO
from pathlib import Path

from concord_evaluator.formats import Source, Trace, read_traces

QUESTION = "Which harbour is open?"


def otlp(answer: str, *, question: str = QUESTION, name: str = "run", **attributes: object) -> str:
    """A document of one trace in which `clerk` answers; `attributes` (with `__` for a dot) are of its root span."""
    trace = blake2b(name.encode(), digest_size=16).hexdigest()
    declared = {key.replace("__", "."): value for key, value in attributes.items()}
    spans = [
        _span(trace, 1, "", "pilot", {"input.value": question, "output.value": answer, **declared}),
        _span(trace, 2, f"{1:016x}", "clerk", {"input.value": question, "output.value": answer}),
    ]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"scope": {"name": "team"}, "spans": spans}]}]})


def trace_of(document: str | bytes) -> Trace:
    """The trace in a document of one."""
    content = document.encode() if isinstance(document, str) else document
    [trace] = read_traces(Source("file", BytesIO(content)))
    return trace


def folder_of(folder: Path, answers: Mapping[str, str], **attributes: object) -> Path:
    """A folder with a recording for each question and its answer."""
    folder.mkdir()
    for number, (question, answer) in enumerate(answers.items()):
        name = f"{folder.name} {number}"
        (folder / f"{number}.json").write_text(otlp(answer, question=question, name=name, **attributes))
    return folder


def _span(trace: str, number: int, parent: str, agent: str, attributes: Mapping[str, object]) -> dict[str, object]:
    kept = {"openinference.span.kind": "AGENT", "agent.name": agent, **attributes}
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "parentSpanId": parent,
        "name": agent,
        "startTimeUnixNano": str(10**18 + number),
        "endTimeUnixNano": str(10**18 + 100 - number),
        "attributes": [{"key": key, "value": {"stringValue": str(value)}} for key, value in kept.items()],
    }
