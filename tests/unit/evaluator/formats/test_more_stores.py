"""Jaeger, Tempo, LangSmith and Logfire: golden traces, written as these stores export them, are read as they were."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from concord_evaluator.formats import Trace
from concord_evaluator.formats.registry import recognise
from concord_evaluator.formats.trace_stores import parsed
from tests.kit.sources import agents_of, calls_between, read, read_file, refusal, source

GOLDEN = Path(__file__).parents[3] / "recordings" / "frameworks"
Json = dict[str, Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def plain(value: Json) -> Any:  # noqa: ANN401 - any JSON
    [(kind, inner)] = value.items()
    if kind == "arrayValue":
        return [plain(each) for each in inner.get("values", [])]
    return int(inner) if kind == "intValue" else inner


def attributes(owner: Json) -> Json:
    return {each["key"]: plain(each["value"]) for each in owner.get("attributes", [])}


def golden_spans(name: str) -> list[tuple[Json, Json, Json]]:
    """The spans of a golden trace, each with its resource and its scope."""
    requests = [json.loads(line) for line in (GOLDEN / f"{name}.jsonl").read_text().splitlines() if line.strip()]
    return [
        (span, group.get("resource", {}), scoped.get("scope", {}))
        for request in requests
        for group in request["resourceSpans"]
        for scoped in group["scopeSpans"]
        for span in scoped["spans"]
    ]


def is_failed(span: Json) -> bool:
    return span.get("status", {}).get("code") in (2, "STATUS_CODE_ERROR")


def moment(nanoseconds: str) -> str:
    return (_EPOCH + timedelta(microseconds=int(nanoseconds) // 1000)).isoformat()


def as_jaeger(name: str) -> Json:
    traces: dict[str, Json] = {}
    for span, resource, scope in golden_spans(name):
        trace = traces.setdefault(span["traceId"], {"traceID": span["traceId"], "spans": [], "processes": {}})
        facts = attributes(resource)
        process = f"p{len(trace['processes']) + 1}"
        tags = [{"key": key, "value": value} for key, value in facts.items() if key != "service.name"]
        trace["processes"][process] = {"serviceName": facts.get("service.name", ""), "tags": tags}
        status = [{"key": "otel.status_code", "value": "ERROR"}, {"key": "error", "value": True}]
        kind = {"3": "client", "SPAN_KIND_CLIENT": "client"}.get(str(span.get("kind")), "internal")
        trace["spans"].append(
            {
                "traceID": span["traceId"],
                "spanID": span["spanId"],
                "operationName": span["name"],
                "references": [{"refType": "CHILD_OF", "traceID": span["traceId"], "spanID": span["parentSpanId"]}]
                if span.get("parentSpanId")
                else [],
                "startTime": int(span["startTimeUnixNano"]) // 1000,
                "duration": (int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) // 1000,
                "tags": [
                    *({"key": key, "value": value} for key, value in attributes(span).items()),
                    {"key": "otel.scope.name", "value": scope.get("name", "")},
                    {"key": "span.kind", "value": kind},
                    *(status if is_failed(span) else []),
                ],
                "logs": [
                    {"timestamp": 0, "fields": [{"key": "event", "value": event["name"]}]
                     + [{"key": key, "value": value} for key, value in attributes(event).items()]}
                    for event in span.get("events", [])
                ],
                "processID": process,
                "warnings": None,
            }
        )  # fmt: skip
    return {"data": list(traces.values()), "total": 0, "limit": 0, "errors": None}


def as_tempo(name: str) -> Json:
    batches = [
        {"resource": resource, "scopeSpans": [{"scope": scope, "spans": [span]}]}
        for span, resource, scope in golden_spans(name)
    ]
    return {"batches": batches}


def as_old_tempo(name: str) -> Json:
    batches = [
        {"resource": resource, "instrumentationLibrarySpans": [{"instrumentationLibrary": scope, "spans": [span]}]}
        for span, resource, scope in golden_spans(name)
    ]
    return {"batches": batches}


def as_tempo_2(name: str) -> Json:
    return {"trace": {"resourceSpans": as_tempo(name)["batches"]}, "metrics": {"inspectedBytes": "1"}}


def as_logfire_row(span: Json, resource: Json, scope: Json) -> Json:
    facts = attributes(resource)
    return {
        "kind": "span",
        "trace_id": span["traceId"],
        "span_id": span["spanId"],
        "parent_span_id": span.get("parentSpanId") or None,
        "span_name": span["name"],
        "start_timestamp": moment(span["startTimeUnixNano"]),
        "end_timestamp": moment(span["endTimeUnixNano"]),
        "otel_status_code": "ERROR" if is_failed(span) else "UNSET",
        "otel_status_message": span.get("status", {}).get("message"),
        "otel_scope_name": scope.get("name"),
        "service_name": facts.get("service.name"),
        "attributes": attributes(span),
        "otel_events": [
            {"event_name": event["name"], "attributes": attributes(event)} for event in span.get("events", [])
        ],
    }


def as_logfire(name: str) -> Json:
    rows = [as_logfire_row(*each) for each in golden_spans(name)]
    beside = [rows[0] | {"kind": "pending_span", "span_id": "f" * 16}, rows[0] | {"kind": "log", "span_id": "e" * 16}]
    return {"columns": [], "rows": [*rows, *beside]}


def as_logfire_columns(name: str) -> Json:
    rows = as_logfire(name)["rows"]
    written = ({**row, "attributes": json.dumps(row["attributes"])} for row in rows)
    values = list(zip(*(row.values() for row in written), strict=True))
    return {"columns": [{"name": key, "values": list(column)} for key, column in zip(rows[0], values, strict=True)]}


def as_langsmith(name: str) -> Json:
    runs = []
    for span, _, _ in golden_spans(name):
        said = attributes(span)
        prefix = "langsmith.metadata."
        thrown = [attributes(event) for event in span.get("events", []) if event["name"] == "exception"]
        runs.append(
            {
                "id": span["spanId"],
                "trace_id": span["traceId"],
                "parent_run_id": span.get("parentSpanId") or None,
                "name": said.get("gen_ai.tool.name") or span["name"],
                "run_type": said["langsmith.span.kind"],
                "start_time": moment(span["startTimeUnixNano"]),
                "end_time": moment(span["endTimeUnixNano"]),
                "error": thrown[0].get("exception.message") if thrown else None,
                "inputs": parsed(said.get("gen_ai.prompt")),
                "outputs": parsed(said.get("gen_ai.completion")),
                "extra": {"metadata": {key.removeprefix(prefix): said[key] for key in said if key.startswith(prefix)}},
            }
        )  # fmt: skip
    return {"runs": runs, "cursors": {}}


STORES: list[tuple[str, str, Callable[[str], Json]]] = [
    ("jaeger", "langgraph-supervisor-openinference", as_jaeger),
    ("jaeger", "google-adk-a2a", as_jaeger),
    ("tempo", "langgraph-supervisor-openinference", as_tempo),
    ("tempo", "agent-framework-groupchat", as_old_tempo),
    ("tempo", "crewai-hierarchical-openllmetry", as_tempo_2),
    ("logfire", "pydantic-ai-delegation-logfire", as_logfire),
    ("logfire", "langgraph-supervisor-logfire", as_logfire_columns),
    ("langsmith", "langgraph-supervisor-langsmith", as_langsmith),
    ("langsmith", "langgraph-swarm-langsmith", as_langsmith),
]


def said_in(trace: Trace) -> tuple[object, ...]:
    tools = sorted(
        str(action.tool_invocation.tool_name)
        for report in trace.reports()
        if (action := report.step.step_action) is not None and action.tool_invocation is not None
    )
    return trace.task, trace.answer, tools


@pytest.mark.parametrize(("store", "name", "written_by"), STORES)
def test_the_same_spans_in_a_store_s_form_result_in_the_same_graph(
    store: str, name: str, written_by: Callable[[str], Json]
) -> None:
    text = json.dumps(written_by(name))
    golden, traces = read_file(GOLDEN / f"{name}.jsonl"), read(text)
    assert recognise(source(text)) == store
    assert [agents_of(trace) for trace in traces] == [agents_of(trace) for trace in golden]
    assert [calls_between(trace) for trace in traces] == [calls_between(trace) for trace in golden]
    assert [said_in(trace) for trace in traces] == [said_in(trace) for trace in golden]


def test_runs_below_a_run_of_langsmith_and_runs_by_line_are_read() -> None:
    runs = as_langsmith("langgraph-supervisor-langsmith")["runs"]
    roots, below = [run for run in runs if not run["parent_run_id"]], [run for run in runs if run["parent_run_id"]]
    nested = json.dumps([root | {"child_runs": below} for root in roots])
    by_line = "\n".join(map(json.dumps, runs))
    [expected] = read(json.dumps({"runs": runs}))
    for text in (nested, by_line):
        [trace] = read(text)
        assert (agents_of(trace), calls_between(trace)) == (agents_of(expected), calls_between(expected))


def test_the_version_of_a_service_in_jaeger_is_that_of_the_trace() -> None:
    document = as_jaeger("langgraph-supervisor-openinference")
    for process in document["data"][0]["processes"].values():
        process["tags"] = [{"key": "service.version", "type": "string", "value": "1.4"}]
    [trace] = read(json.dumps(document))
    assert trace.version == "1.4"


@pytest.mark.parametrize(
    ("store", "content", "expected"),
    [
        ("jaeger", {"data": [{"traceID": "1"}]}, "no `spans`; expected Jaeger's traces"),
        ("jaeger", {"traceID": "1", "spans": [{"traceID": "1"}]}, "spanID: Field required"),
        ("tempo", {"trace": {}}, "`resourceSpans` (or Tempo's `batches`) is missing"),
        ("langsmith", {"runs": [{"id": "1"}]}, "trace_id: Field required"),
        ("logfire", {"rows": [{"trace_id": "1"}]}, "span_id: Field required"),
        ("logfire", {"columns": [{"name": "a", "values": [1]}, {"name": "b", "values": []}]}, "file.json:1: zip()"),
    ],
)
def test_another_form_is_refused_with_what_is_missing(store: str, content: Json, expected: str) -> None:
    assert expected in refusal(json.dumps(content), store)
