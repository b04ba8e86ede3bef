"""Langfuse's exports: observations, as rows of a file or an API, or with their trace. An observation of type AGENT is
an agent."""

from datetime import datetime
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from concord.trace.otlp import Span
from concord_evaluator.formats.source import Head
from concord_evaluator.formats.trace_stores import (
    SPAN_ID_BYTES,
    TRACE_ID_BYTES,
    Store,
    hex_id,
    known_attributes,
    listed,
    nanoseconds,
    parsed,
)

_KINDS: Final = {"AGENT", "TOOL", "EMBEDDING", "RETRIEVER"}
_MODEL: Final = "GENERATION"


class _Observation(BaseModel):
    """An observation: the API writes `traceId`, the export to a bucket `trace_id`."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)

    id: str = Field(min_length=1)
    trace_id: str = Field(min_length=1)
    parent_observation_id: str | None = None
    type: str
    name: str | None = None
    start_time: datetime
    end_time: datetime | None = None
    level: str | None = None
    status_message: str | None = None
    session_id: str | None = None
    input: JsonValue = None
    output: JsonValue = None
    model: str | None = None
    provided_model_name: str | None = None
    usage_details: dict[str, JsonValue] | None = None
    metadata: JsonValue = None


def _recognises(head: Head) -> bool:
    keys = head.json_keys
    if keys >= {"id", "type"} and keys & {"traceId", "trace_id"}:
        return True
    if "data" in keys:
        return head.listed("data").keys() >= {"traceId", "type"}
    return keys >= {"id", "timestamp", "name"} and "context" not in keys


def _spans_in(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, dict):
        raise ValueError("not an object")
    session = value.get("sessionId")
    for key in ("observations", "data"):
        if (found := listed(value, key)) is not None:
            return [{"sessionId": session, **each} if isinstance(each, dict) else each for each in found]
    return [value]


def _read(written: JsonValue) -> Span:
    found = _Observation.model_validate(written)
    kind = found.type.upper()
    attributes: dict[str, JsonValue] = {
        "openinference.span.kind": "LLM" if kind == _MODEL else kind if kind in _KINDS else "CHAIN",
        "input.value": found.input,
        "output.value": found.output,
        "gen_ai.request.model": found.model or found.provided_model_name,
        "langfuse.observation.usage_details": found.usage_details,
        "metadata": parsed(found.metadata),
        "session.id": found.session_id,
    }
    kept, content = known_attributes({key: value for key, value in attributes.items() if value is not None})
    return Span(
        trace_id=hex_id(found.trace_id, TRACE_ID_BYTES),
        span_id=hex_id(found.id, SPAN_ID_BYTES),
        parent_id=hex_id(found.parent_observation_id, SPAN_ID_BYTES),
        name=found.name or "",
        scope="langfuse",
        service="",
        start_ns=nanoseconds(found.start_time),
        end_ns=nanoseconds(found.end_time),
        client=False,
        failed=found.level == "ERROR",
        message=found.status_message or "",
        attributes=kept,
        content=content,
    )


FORMAT = Store(
    "Langfuse's observations (`id`, `traceId`, `type`, `startTime`), or a trace with `observations`", _spans_in, _read
).format(_recognises)
