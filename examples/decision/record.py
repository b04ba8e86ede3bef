"""Writes recordings of a small LangGraph team as OpenInference exports them: one OTLP file for each question.

    python record.py first recordings/first
    python record.py second recordings/second
    python record.py third recordings/third

The team has two agents: `clerk` takes the question and hands it to `timetable`, which reads a table with a tool. The
first version does not know that harbours have footnotes, the second does, and the third reads the column of arrivals.
No model and no package is needed.
"""

import json
import sys
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

FERRIES = {
    "Bergen": ("08:15", "11:40", ""),
    "Stavanger": ("09:05", "12:10", ""),
    "Oslo": ("07:30", "15:20", "*"),
    "Molde": ("10:45", "13:55", ""),
    "Bodø": ("06:20", "18:05", "+"),
    "Florø": ("12:35", "14:50", "*"),
    "Svolvær": ("16:10", "19:25", "*"),
    "Kristiansund": ("13:00", "15:45", "+"),
    "Narvik": ("05:55", "09:35", "*"),
    "Ålesund": ("11:25", "16:30", "*"),
}
"""By harbour, when the ferry departs, when it arrives, and its footnote: `+` is a row of its own, `*` another time."""

START_NS = 1_790_000_000_000_000_000


def read_table(version: str, harbour: str) -> tuple[str, str]:
    """What the team's tool finds: a time, or an error."""
    departs, arrives, footnote = FERRIES[harbour]
    if version == "first" and footnote == "+":
        return "", f"KeyError: '{harbour}'"
    if version == "third" or (version == "first" and footnote == "*"):
        return arrives, ""
    return departs, ""


def spans_of(version: str, number: int, harbour: str) -> Iterator[dict[str, object]]:
    """The spans of one run."""
    found, error = read_table(version, harbour)
    question, answer = f"When does the ferry to {harbour} depart?", f"The ferry to {harbour} departs at {found}."
    trace = blake2b(f"{version} {harbour}".encode(), digest_size=16).hexdigest()

    def span(step: int, parent: int, name: str, kind: str, node: str = "", **values: str) -> dict[str, object]:
        noted = {"concord.task_id": f"departure-{harbour}"}
        if node:
            noted |= {"langgraph_node": node, "langgraph_checkpoint_ns": f"{node}:{trace}"}
        attributes = {
            "openinference.span.kind": kind,
            "metadata": json.dumps(noted),
            **{key.replace("_", "."): value for key, value in values.items()},
        }
        begun = START_NS + number * 60_000_000_000 + step * 100_000_000
        failed = bool(error) and name in {"LangGraph", "timetable", "read_table"}
        thrown = {"exception.type": "KeyError", "exception.message": f"'{harbour}'"}
        return {
            "traceId": trace,
            "spanId": f"{step:016x}",
            "parentSpanId": f"{parent:016x}" if parent else "",
            "name": name,
            "startTimeUnixNano": str(begun),
            "endTimeUnixNano": str(begun + 900_000_000 // step),
            "attributes": _pairs(attributes),
            "status": {"code": "STATUS_CODE_ERROR", "message": error} if failed else {"code": "STATUS_CODE_OK"},
            "events": [{"name": "exception", "attributes": _pairs(thrown)}] if failed else [],
        }

    said = "" if error else answer
    yield span(1, 0, "LangGraph", "CHAIN", input_value=_messages(question), output_value=_messages(question, said))
    yield span(2, 1, "clerk", "CHAIN", "clerk", input_value=_messages(question), output_value=_messages(question))
    yield span(3, 2, "ChatModel", "LLM", "clerk", input_value=question, output_value=f"timetable: look up {harbour}.")
    yield span(7, 2, "transfer_to_timetable", "TOOL", "clerk", tool_name="transfer_to_timetable", input_value=question)
    yield span(4, 1, "timetable", "CHAIN", "timetable", input_value=_messages(question), output_value=said)
    yield span(8, 4, "ChatModel", "LLM", "timetable", input_value=question, output_value=f"read_table: {harbour}")
    yield span(5, 4, "read_table", "TOOL", "timetable", tool_name="read_table", input_value=harbour, output_value=found)
    if not error:
        yield span(6, 4, "ChatModel", "LLM", "timetable", input_value=found, output_value=answer)


def _messages(*texts: str) -> str:
    kinds = ("human", "ai")
    return json.dumps(
        {"messages": [{"type": kind, "content": text} for kind, text in zip(kinds, texts, strict=False) if text]}
    )


def _pairs(attributes: dict[str, str]) -> list[dict[str, object]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items() if value]


def main(version: str, folder: Path) -> None:
    """Writes the recordings of a version, `first`, `second` or `third`, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, harbour in enumerate(FERRIES):
        scope = {"scope": {"name": "openinference.instrumentation.langchain"}}
        resource = {"attributes": _pairs({"service.name": "ferries", "service.version": version})}
        document = {
            "resourceSpans": [
                {"resource": resource, "scopeSpans": [{**scope, "spans": list(spans_of(version, number, harbour))}]}
            ]
        }
        (folder / f"run-{number + 1:02}.json").write_text(json.dumps(document), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
