"""The trace stores: what each calls the facts of a span, and where its exports have their rows."""

from collections.abc import Callable, Iterator
from typing import Final

from pydantic import JsonValue

from concord.trace.otlp.genai import EVALUATIONS, SCORES, TARGET, TASK_ID
from concord_evaluator.formats.format import TraceFormat
from concord_evaluator.formats.source import Head
from concord_evaluator.formats.trace_stores import SPAN_ID_BYTES, TRACE_ID_BYTES, Fields, Row, Store, listed, parsed

_KIND: Final = "openinference.span.kind"
_LANGFUSE_KINDS: Final = {"GENERATION": "LLM", "AGENT": "AGENT", "TOOL": "TOOL"} | {
    kind: kind for kind in ("EMBEDDING", "RETRIEVER")
}
"""By Langfuse's type of an observation, OpenInference's kind; all others are own work."""

_NOT_SPANS: Final = ("pending_span", "log", "span_event")
"""Kinds of Logfire's records beside spans: what a span was when it began, and points in time."""

_LOGFIRE_KEYS: Final = {"span_id", "span_name", "start_timestamp"}


def _rows(key: str) -> Callable[[JsonValue], list[JsonValue]]:
    """The rows of an export: those in the list under a key, or else the object itself."""

    def rows_in(value: JsonValue) -> list[JsonValue]:
        if not isinstance(value, dict):
            raise ValueError("not an object")
        found = listed(value, key)
        return [value] if found is None else found

    return rows_in


def _is_langfuse(head: Head) -> bool:
    keys = head.json_keys
    if keys >= {"id", "type"} and keys & {"traceId", "trace_id"}:
        return True
    if "data" in keys:
        return head.listed("data").keys() >= {"traceId", "type"}
    if keys >= {"trace", "observations"}:
        return True
    return keys >= {"id", "timestamp", "name"} and "context" not in keys


def _observations(value: JsonValue) -> list[JsonValue]:
    """The observations: rows, or with their trace, which the page's download has beside them."""
    if not isinstance(value, dict):
        raise ValueError("not an object")
    trace = value.get("trace")
    whole = trace if isinstance(trace, dict) else value
    of_trace = [each for each in listed(whole, "scores") or () if isinstance(each, dict)]
    scores = {str(each.get("name")): each.get("value") for each in of_trace if not each.get("observationId")}
    shared: dict[str, JsonValue] = {"sessionId": whole.get("sessionId"), "scores": scores or None}
    for key in ("observations", "data"):
        if (found := listed(value, key)) is not None:
            return [{**shared, **each} if isinstance(each, dict) else each for each in found]
    return [value]


def _observation(row: dict[str, JsonValue]) -> Row:
    kind = row.get("type")
    return row if kind is None else {**row, "type": _LANGFUSE_KINDS.get(str(kind).upper(), "CHAIN")}


LANGFUSE: Final = Store(
    "Langfuse's observations (`id`, `traceId`, `type`, `startTime`), or a trace with `observations`",
    Fields(
        trace_id="traceId trace_id",
        span_id="id",
        parent_id="parentObservationId parent_observation_id",
        start="startTime start_time",
        end="endTime end_time",
        failed="level",
        message="statusMessage status_message",
        scope_name="metadata.scope.name",
        service="metadata.resourceAttributes.service.name",
        version="metadata.resourceAttributes.service.version",
        attributes="metadata.attributes",
        own={
            _KIND: "type",
            "input.value": "input",
            "output.value": "output",
            "gen_ai.request.model": "model providedModelName provided_model_name",
            "langfuse.observation.usage_details": "usageDetails usage_details",
            "metadata": "metadata",
            "session.id": "sessionId session_id",
            SCORES[0]: "scores",
        },
        needed=("trace_id", "span_id", _KIND, "start"),
        scope="langfuse",
    ),
    _observations,
    _observation,
).format(_is_langfuse)
"""Source of the form: Langfuse's API reference, and "Download trace as JSON" of its page. What an exporter of
OpenTelemetry sent stands in `metadata`."""


def _is_phoenix(head: Head) -> bool:
    keys = head.json_keys
    if keys >= {"context", "name"} or "context.span_id" in keys:
        return "span_kind" in keys
    return "span_kind" in head.listed("data")


PHOENIX: Final = Store(
    "Phoenix's spans (`name`, `context`, `span_kind`, `start_time`), one per line or under `data`",
    Fields(
        trace_id="context.trace_id",
        span_id="context.span_id",
        failed="status_code",
        message="status_message",
        own={_KIND: "span_kind", SCORES[0]: "scores"},
        needed=("trace_id", "span_id", "name", _KIND),
        scope="phoenix",
    ),
    _rows("data"),
    lambda row: {**row, "scores": {name: row[key] for key, name in EVALUATIONS.items() if row.get(key)} or None},
).format(_is_phoenix)
"""Spans from Phoenix's API, or rows of a data frame, with columns `context.span_id`, `attributes.…` and `eval.…`."""


def _is_console(head: Head) -> bool:
    context = head.first.get("context")
    return isinstance(context, dict) and "trace_id" in context and head.json_keys >= {"name", "kind", "attributes"}


CONSOLE: Final = Store(
    "spans of OpenTelemetry's Python SDK (`name`, `context`, `kind`, `start_time`), as ConsoleSpanExporter prints them",
    Fields(
        trace_id="context.trace_id",
        span_id="context.span_id",
        client="kind",
        failed="status.status_code",
        message="status.description",
        scope_name="instrumentation_scope.name instrumentation_info.name",
        service="resource.attributes.service.name",
        version="resource.attributes.service.version",
        needed=("trace_id", "span_id", "name", "start"),
    ),
    _rows("spans"),
).format(_is_console)
"""Source of the form: opentelemetry-sdk, `ReadableSpan.to_json`."""


def _is_langsmith(head: Head) -> bool:
    run = head.listed("runs") or head.first
    return run.keys() >= {"id", "run_type", "trace_id"}


def _runs(value: JsonValue) -> list[JsonValue]:
    """The runs in a value: under `runs`, or itself with the runs below it in `child_runs`."""
    return [found for run in _rows("runs")(value) for found in _with_children(run)]


def _with_children(run: JsonValue) -> Iterator[JsonValue]:
    pending = [run]
    while pending:
        each = pending.pop()
        yield each
        pending.extend(reversed(listed(each, "child_runs") or []))


def _run(row: dict[str, JsonValue]) -> Row:
    extra = row.get("extra")
    metadata = extra.get("metadata") if isinstance(extra, dict) else None
    entries = metadata if isinstance(metadata, dict) else {}
    stats = row.get("feedback_stats")
    judged = stats if isinstance(stats, dict) else {}
    return {
        **row,
        "failed": row.get("error") is not None,
        "tool": row.get("name") if row.get("run_type") == "tool" else None,
        "scores": {name: each.get("avg") for name, each in judged.items() if isinstance(each, dict)} or None,
        "attributes": {f"langsmith.metadata.{name}": _metadata(value) for name, value in entries.items()},
    }


def _metadata(value: JsonValue) -> JsonValue:
    """A value of the metadata as langsmith exports it: numbers as text, and objects as they are."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


LANGSMITH: Final = Store(
    "LangSmith's runs (`id`, `trace_id`, `run_type`, `start_time`)",
    Fields(
        span_id="id",
        parent_id="parent_run_id",
        message="error",
        events="",
        own={
            "langsmith.span.kind": "run_type",
            "gen_ai.prompt": "inputs",
            "gen_ai.completion": "outputs",
            "gen_ai.usage.input_tokens": "prompt_tokens",
            "gen_ai.usage.output_tokens": "completion_tokens",
            "gen_ai.request.model": "extra.metadata.ls_model_name",
            "gen_ai.tool.name": "tool",
            "exception.message": "error",
            TASK_ID[0]: "reference_example_id",
            SCORES[0]: "scores",
        },
        needed=("trace_id", "span_id", "langsmith.span.kind", "start"),
        scope="langsmith",
    ),
    _runs,
    lambda row: _run({**row, "trace_id": _without_dashes(row.get("trace_id"))}),
).format(_is_langsmith)
"""Runs as LangSmith's API and SDK write them. Source: github.com/langchain-ai/langsmith-sdk, `schemas.py`, `Run`."""


def _without_dashes(value: JsonValue) -> JsonValue:
    return value.replace("-", "") if isinstance(value, str) else value


def _is_logfire(head: Head) -> bool:
    if head.first.keys() >= _LOGFIRE_KEYS or head.listed("rows").keys() >= _LOGFIRE_KEYS:
        return True
    columns = head.first.get("columns")
    named = columns if isinstance(columns, list) else []
    return {str(each.get("name")) for each in named if isinstance(each, dict)} >= _LOGFIRE_KEYS


def _records(value: JsonValue) -> list[JsonValue]:
    """The records in a value: the rows or the columns of an answer, or itself. Those that are no spans are left out."""
    columns = listed(value, "columns") if listed(value, "rows") is None else None
    rows = _rows("rows")(value) if columns is None else _rows_of(columns)
    return [row for row in rows if not (isinstance(row, dict) and row.get("kind") in _NOT_SPANS)]


def _rows_of(columns: list[JsonValue]) -> list[JsonValue]:
    names = [str(each.get("name")) for each in columns if isinstance(each, dict)]
    values = [listed(each, "values") or [] for each in columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


LOGFIRE: Final = Store(
    "Logfire's records (`trace_id`, `span_id`, `span_name`, `start_timestamp`), alone, in `rows` or in `columns`",
    Fields(
        parent_id="parent_span_id",
        name="span_name",
        start="start_timestamp",
        end="end_timestamp",
        failed="otel_status_code is_exception",
        message="otel_status_message exception_message",
        scope_name="otel_scope_name",
        service="service_name",
        version="service_version",
        events="otel_events",
        own={"exception.type": "exception_type", "exception.message": "exception_message"},
        needed=("trace_id", "span_id", "name", "start"),
    ),
    _records,
).format(_is_logfire)
"""Records as Logfire's query API returns them. A database's JSON stands in them as text or as a value.

Source of the form: Logfire's documentation, "SQL Explorer" (table `records`) and "Query API"."""


def _is_mlflow(head: Head) -> bool:
    return bool(head.json_keys & {"info", "spans"}) and b'"mlflow' in head.data


def _mlflow_spans(value: JsonValue) -> list[JsonValue]:
    data = value.get("data") if isinstance(value, dict) else None
    found = listed(data if isinstance(data, dict) else value, "spans")
    if found is None:
        raise ValueError("no `spans`")
    info = value.get("info") if isinstance(value, dict) else None
    given = [each for each in listed(info, "assessments") or () if isinstance(each, dict)]
    told = {str(each.get("assessment_name")): _first_value(each) for each in given if not each.get("span_id")}
    shared: dict[str, JsonValue] = {"target": told.pop("expected_response", None), "scores": told or None}
    return [{**shared, **each} if isinstance(each, dict) else each for each in found]


def _first_value(assessment: dict[str, JsonValue]) -> JsonValue:
    """The value of an assessment: a judgment (`feedback`), or what was expected."""
    found = assessment.get("feedback") or assessment.get("expectation")
    return found.get("value") if isinstance(found, dict) else None


def _mlflow_span(row: dict[str, JsonValue]) -> Row:
    """MLflow writes the value of each attribute in JSON."""
    attributes = row.get("attributes")
    written = attributes if isinstance(attributes, dict) else {}
    return {**row, "attributes": {key: parsed(value) for key, value in written.items()}}


MLFLOW: Final = Store(
    "MLflow's traces (`data.spans`), or `spans` with `trace_id`, `span_id`, `name`, `start_time_unix_nano`",
    Fields(
        trace_id="context.trace_id trace_id",
        span_id="context.span_id span_id",
        parent_id="parent_span_id parent_id",
        start="start_time_unix_nano start_time",
        end="end_time_unix_nano end_time",
        failed="status.code status_code",
        message="status.message status_message",
        events="",
        own={TARGET[0]: "target", SCORES[0]: "scores"},
        needed=("trace_id", "span_id", "name", "start"),
        scope="mlflow",
    ),
    _mlflow_spans,
    _mlflow_span,
).format(_is_mlflow)
"""Traces (`Trace.to_json()`), or their artifact `traces.json`. MLflow 2 wrote the ids into `context`."""


def _is_jaeger(head: Head) -> bool:
    trace = head.listed("data") or head.first
    return trace.keys() >= {"traceID", "spans"}


def _jaeger_spans(value: JsonValue) -> list[JsonValue]:
    """The spans of one trace, or of the traces in `data`, each with its process."""
    found: list[JsonValue] = []
    for trace in _rows("data")(value):
        spans = listed(trace, "spans")
        if spans is None or not isinstance(trace, dict):
            raise ValueError("no `spans`")
        processes = trace.get("processes")
        named = processes if isinstance(processes, dict) else {}
        for span in spans:
            if isinstance(span, dict) and (process := named.get(str(span.get("processID")))) is not None:
                span = {"process": process, **span}
            found.append(span)
    return found


def _jaeger_span(row: dict[str, JsonValue]) -> Row:
    """A span with its tags and logs as attributes, its end, and its ids in full length, from which zeros may lack."""
    process = row.get("process")
    links = [each for each in listed(row, "references") or () if isinstance(each, dict)]
    above = (each.get("spanID") for each in links if each.get("refType", "CHILD_OF") == "CHILD_OF")
    start, duration = row.get("startTime") or 0, row.get("duration") or 0
    logs = [_tags(each, "fields") for each in listed(row, "logs") or ()]
    return {
        **row,
        "traceID": _full(row.get("traceID"), TRACE_ID_BYTES),
        "spanID": _full(row.get("spanID"), SPAN_ID_BYTES),
        "parentSpanID": _full(next(above, row.get("parentSpanID")), SPAN_ID_BYTES),
        "end": start + duration if isinstance(start, int | float) and isinstance(duration, int | float) else None,
        "tags": _tags(row, "tags"),
        "processTags": _tags(process, "tags"),
        "logs": [{"name": fields.pop("event", ""), "attributes": fields} for fields in logs],
    }


def _full(written: JsonValue, size: int) -> JsonValue:
    return written.zfill(2 * size) if isinstance(written, str) and written else written


def _tags(owner: JsonValue, key: str) -> dict[str, JsonValue]:
    tags = (each for each in listed(owner, key) or () if isinstance(each, dict))
    return {str(tag.get("key")): tag.get("value") for tag in tags}


JAEGER: Final = Store(
    "Jaeger's traces (`data`, or one trace): `traceID`, `spans`, `processes`",
    Fields(
        trace_id="traceID",
        span_id="spanID",
        parent_id="parentSpanID",
        name="operationName",
        start="startTime",
        end="end",
        client="tags.span.kind",
        failed="tags.error tags.otel.status_code",
        message="tags.otel.status_description",
        scope_name="tags.otel.scope.name tags.otel.library.name",
        service="process.serviceName",
        version="processTags.service.version",
        attributes="tags",
        events="logs",
        needed=("trace_id", "span_id", "name"),
        unit=1000,
    ),
    _jaeger_spans,
    _jaeger_span,
).format(_is_jaeger)
"""Traces as Jaeger's API, its page and its files have them, with times in microseconds.

Source of the form: github.com/jaegertracing/jaeger, `internal/uimodel/model.go`. Spans of OpenTelemetry have their
status, kind and scope as tags (OpenTelemetry's specification, "OpenTelemetry to Jaeger Transformation")."""

STORES: Final[dict[str, TraceFormat]] = {
    "console": CONSOLE,
    "jaeger": JAEGER,
    "langfuse": LANGFUSE,
    "langsmith": LANGSMITH,
    "logfire": LOGFIRE,
    "mlflow": MLFLOW,
    "phoenix": PHOENIX,
}
"""The format of each, by name."""
