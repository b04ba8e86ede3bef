"""Google ADK's spans, its own and those of OpenInference: `agent_run [name]` up to 1.14 and in OpenInference,
`invoke_agent name` later; `transfer_to_agent` hands over."""

import json
import re
from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, SpanTree, TeamReading
from concord.trace.otlp.spans import Span

_SCOPE: Final = "gcp.vertex.agent"
_SCOPES: Final = frozenset({_SCOPE, "openinference.instrumentation.google_adk"})
MARKS: Final = _SCOPES | {f"{_SCOPE}.event_id", f"{_SCOPE}.invocation_id", f"{_SCOPE}.session_id"}
_RUN: Final = re.compile(r"(?:agent_run \[(.+)\]|invoke_agent (.+))")
_TRANSFER: Final = "transfer_to_agent"


def read(tree: SpanTree, reading: TeamReading) -> TeamReading:
    """An agent that calls neither a model nor a remote agent by itself, such as a SequentialAgent, is a team."""
    found: dict[str, Reading] = {}
    runs = {
        span.span_id: run[1] or run[2]
        for span in tree.spans.values()
        if _is_its(span) and (run := _RUN.fullmatch(span.name))
    }
    for span_id, name in runs.items():
        span = tree.spans[span_id]
        others = frozenset(run for run, other in runs.items() if other != name)
        own = (span, *tree.below(span, others))
        act = Act.AGENT if any(_calls_model(each, reading) or each.address for each in own) else Act.TEAM
        found[span_id] = Reading(act, name if act is Act.AGENT else "", failed=span.failed)
    for span in tree.spans.values():
        if _is_its(span) and span.text(genai.TOOL_NAME) == _TRANSFER:
            found[span.span_id] = Reading(
                Act.TOOL, handoff_to=_target(span) or _next(tree, span, runs), failed=span.failed
            )
        elif _is_its(span) and span.span_id not in runs and _calls_model(span, reading):
            found[span.span_id] = Reading(Act.MODEL, failed=span.failed)
    return reading.changed(found)


def _is_its(span: Span) -> bool:
    """Whether a span may be of ADK, in a trace that is. Some stores keep no scopes."""
    return span.scope in _SCOPES or not span.scope


def _calls_model(span: Span, reading: TeamReading) -> bool:
    known = reading.spans.get(span.span_id)
    return span.name == "call_llm" or (known is not None and known.act is Act.MODEL)


def _next(tree: SpanTree, span: Span, runs: dict[str, str]) -> str:
    """The agent that works next: the target of a transfer whose arguments are not recorded."""
    later = [tree.spans[run] for run in runs if tree.spans[run].start_ns >= span.start_ns]
    following = min(later, key=lambda each: (each.start_ns, each.span_id), default=None)
    return "" if following is None else runs[following.span_id]


def _target(span: Span) -> str:
    try:
        arguments = json.loads(span.text((*genai.TRANSFER_ARGUMENTS, *genai.TOOL_ARGUMENTS)))
    except ValueError:
        return ""
    return str(arguments.get("agent_name", "")) if isinstance(arguments, dict) else ""
