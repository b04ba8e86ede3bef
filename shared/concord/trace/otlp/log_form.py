"""OTLP/JSON logs: the events of spans that newer conventions record as log records, with their content in the body."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace
from pydantic import JsonValue

from concord.trace.otlp.content import Event, is_content, with_content
from concord.trace.otlp.json_form import hex_id
from concord.trace.otlp.json_structs import LogsExport, Value, converted
from concord.trace.otlp.spans import Span

_NAME = "event.name"


class LoggedEvent(NamedTuple):
    """An event, and the span in whose context it was recorded."""

    trace_id: str
    span_id: str
    event: Event


def events_in(document: JsonValue) -> Iterator[LoggedEvent]:
    """The events about generative AI in an `ExportLogsServiceRequest`. Raises ValueError."""
    export = converted(document, LogsExport)
    for group in export.resource_logs or ():
        for scoped in group.scope_logs or ():
            for record in scoped.log_records or ():
                fields = {each.key: each.plain() for each in record.attributes or ()}
                name = record.event_name or str(fields.get(_NAME, ""))
                if name.startswith("gen_ai.") and record.span_id:
                    found = {**fields, **_body(record.body)}
                    yield LoggedEvent(hex_id(record.trace_id, 16), hex_id(record.span_id, 8), (name, found))


def _body(body: Value | None) -> dict[str, JsonValue]:
    plain = None if body is None else body.plain()
    return plain if isinstance(plain, dict) else {} if plain is None else {"content": plain}


def with_events(span: Span, events: Sequence[Event]) -> Span:
    """The span with the content of these events, where its own attributes do not tell it."""
    told: dict[str, JsonValue] = {name: value for name, value in span.attributes.items() if is_content(name)}
    attributes, content = with_content(dict(span.attributes), told, events)
    return replace(span, attributes=attributes, content=span.content.completed_by(content))
