"""OpenTelemetry spans as interaction steps: one table of attribute names, one mapping, for services and files.

Pure. `protobuf_form`, which is not imported here, reads OTLP/protobuf, because it needs another library.
"""

from concord.trace.otlp.attribute import as_attribute
from concord.trace.otlp.frameworks.langgraph import is_control_flow
from concord.trace.otlp.genai import AttributeValue
from concord.trace.otlp.json_form import as_export, read_json, read_usual, spans_in
from concord.trace.otlp.log_form import LoggedEvent, events_in, with_events
from concord.trace.otlp.mapping import SpanError, check_ids, shortened, step_of, storable, to_step
from concord.trace.otlp.reading import (
    NEXT_AGENT,
    Act,
    Reading,
    SpanTree,
    TeamReading,
    agent_in_arguments,
    name_key,
    tool_arguments,
    tool_name,
)
from concord.trace.otlp.spans import Span, destination, without_internals
from concord.trace.otlp.stored_span import STORED, as_attributes, internals_of, parents_as_attributes, span_of
from concord.trace.otlp.team import conversations_of, names_agents, read_team

__all__ = [
    "NEXT_AGENT",
    "STORED",
    "Act",
    "AttributeValue",
    "LoggedEvent",
    "Reading",
    "Span",
    "SpanError",
    "SpanTree",
    "TeamReading",
    "agent_in_arguments",
    "as_attribute",
    "as_attributes",
    "as_export",
    "check_ids",
    "conversations_of",
    "destination",
    "events_in",
    "internals_of",
    "is_control_flow",
    "name_key",
    "names_agents",
    "parents_as_attributes",
    "read_json",
    "read_team",
    "read_usual",
    "shortened",
    "span_of",
    "spans_in",
    "step_of",
    "storable",
    "to_step",
    "tool_arguments",
    "tool_name",
    "with_events",
    "without_internals",
]
