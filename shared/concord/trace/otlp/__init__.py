"""OpenTelemetry spans as interaction steps: one table of attribute names, one mapping, for services and files.

Pure. OTLP/JSON is decoded here, OTLP/protobuf in the collector, because it needs another library.
"""

from concord.trace.otlp.json_form import as_attribute, read_json, spans_in
from concord.trace.otlp.mapping import SpanError, to_step
from concord.trace.otlp.spans import AttributeValue, Span, without_internals

__all__ = [
    "AttributeValue",
    "Span",
    "SpanError",
    "as_attribute",
    "read_json",
    "spans_in",
    "to_step",
    "without_internals",
]
