"""MLflow's exports: traces (`Trace.to_json()`), or their artifact `traces.json`. A span of type AGENT is an agent."""

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from concord.trace.otlp import Span
from concord_evaluator.formats.source import Head
from concord_evaluator.formats.trace_stores import (
    SPAN_ID_BYTES,
    TRACE_ID_BYTES,
    Store,
    hex_id,
    known_attributes,
    listed,
    parsed,
)

_KINDS: Final = {
    "AGENT": "AGENT",
    "TOOL": "TOOL",
    "LLM": "LLM",
    "CHAT_MODEL": "LLM",
    "EMBEDDING": "EMBEDDING",
    "RETRIEVER": "RETRIEVER",
    "RERANKER": "RERANKER",
}
"""By MLflow's type of a span, OpenInference's kind; all others are own work."""


class _Status(BaseModel):
    code: str = ""
    message: str | None = None


class _MlflowSpan(BaseModel):
    model_config = ConfigDict(extra="ignore")

    trace_id: str = Field(min_length=1)
    span_id: str = Field(min_length=1)
    parent_span_id: str | None = None
    name: str
    start_time_unix_nano: int
    end_time_unix_nano: int | None = None
    status: _Status = _Status()
    attributes: dict[str, JsonValue] = {}

    @model_validator(mode="before")
    @classmethod
    def _of_version_2(cls, data: Any) -> Any:  # noqa: ANN401 - pydantic passes any value
        """MLflow 2 wrote the ids into `context`, and other names of the times and the status."""
        if not isinstance(data, dict) or not isinstance(data.get("context"), dict):
            return data
        return {
            **data,
            **data["context"],
            "parent_span_id": data.get("parent_id"),
            "start_time_unix_nano": data.get("start_time"),
            "end_time_unix_nano": data.get("end_time"),
            "status": {"code": data.get("status_code") or "", "message": data.get("status_message")},
        }


def _recognises(head: Head) -> bool:
    return bool(head.json_keys & {"info", "spans"}) and b'"mlflow' in head.data


def _spans_in(value: JsonValue) -> list[JsonValue]:
    data = value.get("data") if isinstance(value, dict) else None
    found = listed(data if isinstance(data, dict) else value, "spans")
    if found is None:
        raise ValueError("no `spans`")
    return found


def _read(written: JsonValue) -> Span:
    found = _MlflowSpan.model_validate(written)
    attributes = {key: parsed(value) for key, value in found.attributes.items()}
    kind = str(attributes.get("mlflow.spanType", "UNKNOWN")).upper()
    own: dict[str, JsonValue] = {"openinference.span.kind": _KINDS.get(kind, "CHAIN")}
    if attributes.get("mlflow.spanInputs") is not None:
        own["input.value"] = attributes["mlflow.spanInputs"]
    # The attributes of a convention that the instrumentation wrote say more than the type.
    kept, content = known_attributes(own | attributes)
    return Span(
        trace_id=hex_id(found.trace_id, TRACE_ID_BYTES),
        span_id=hex_id(found.span_id, SPAN_ID_BYTES),
        parent_id=hex_id(found.parent_span_id, SPAN_ID_BYTES),
        name=found.name,
        scope="mlflow",
        service="",
        start_ns=found.start_time_unix_nano,
        end_ns=found.end_time_unix_nano or 0,
        client=False,
        failed="ERROR" in found.status.code,
        message=found.status.message or "",
        attributes=kept,
        content=content,
    )


FORMAT = Store(
    "MLflow's traces (`data.spans`), or `spans` with `trace_id`, `span_id`, `name`, `start_time_unix_nano`",
    _spans_in,
    _read,
).format(_recognises)
