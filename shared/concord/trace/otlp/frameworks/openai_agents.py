"""OpenAI Agents SDK under OpenInference, OpenLLMetry and logfire."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from concord.trace.attributes import KnownBy
from concord.trace.otlp import genai
from concord.trace.otlp.reading import NEXT_AGENT, Act, Reading, SpanTree, TeamReading, tool_use
from concord.trace.otlp.spans import Span

_OPENINFERENCE: Final = "openinference.instrumentation.openai_agents"
_OPENLLMETRY: Final = "opentelemetry.instrumentation.openai_agents"
_LOGFIRE: Final = "logfire.openai_agents"
MARKS: Final = frozenset({_OPENINFERENCE, _OPENLLMETRY, _LOGFIRE})
_HANDOFF: Final = "handoff"
_MAX_OPEN: Final = 64
"""The limit of tools, from the latest start back, that an agent is looked for in."""

_RUN: Final = re.compile(r"Agent run: \{name")


def read(tree: SpanTree, reading: TeamReading) -> TeamReading:
    """Reads each instrumentation by its own names."""
    found: dict[str, Reading] = {}
    for span in tree.spans.values():
        known = reading.spans.get(span.span_id)
        if span.scope == _OPENINFERENCE and known is not None and known.act is Act.AGENT:
            found |= {span.span_id: Reading(Act.TEAM, failed=span.failed)} if not _named(span) else {}
        elif span.scope == _OPENLLMETRY and span.operation == _HANDOFF:
            target = span.text(genai.HANDOFF_TO) or NEXT_AGENT
            found[span.span_id] = Reading(Act.TOOL, handoff_to=target, failed=span.failed, known_by=KnownBy.IDS)
        elif span.scope == _LOGFIRE and (told := _told(span)) is not None:
            found[span.span_id] = told
    return reading.changed(found | dict(_in_tools(tree, reading)))


def _named(span: Span) -> bool:
    """Whether a span names its agent. The run's own spans have the same kind and no name."""
    return bool(span.text((*genai.AGENT_NAME, *genai.GRAPH_NODE)))


def _told(span: Span) -> Reading | None:
    """What a span of logfire says, whose name is the template of a message; None for other work."""
    if target := span.text(genai.HANDOFF_TO):
        return Reading(Act.TOOL, handoff_to=target, failed=span.failed, known_by=KnownBy.IDS)
    name = span.text(genai.LOGFIRE_NAME)
    if _RUN.match(span.name) and name:
        return Reading(Act.AGENT, name, failed=span.failed)
    return tool_use(span, name) if span.name == "Function: {name}" else None


def _in_tools(tree: SpanTree, reading: TeamReading) -> Iterator[tuple[str, Reading]]:
    """OpenLLMetry puts the agents that are tools of others beside these. They work within the innermost tool that runs
    all their time."""
    spans = [span for span in tree.spans.values() if span.scope == _OPENLLMETRY and span.span_id in reading.spans]
    tools = sorted((span for span in spans if reading.spans[span.span_id].act is Act.TOOL), key=_start)
    for span in spans:
        agent, started = reading.spans[span.span_id], bisect_right(tools, span.start_ns, key=_start)
        open_then = reversed(tools[max(0, started - _MAX_OPEN) : started])
        tool = next((tool for tool in open_then if span.end_ns <= tool.end_ns), None)
        if agent.act is Act.AGENT and tool is not None:
            yield span.span_id, replace(agent, within=tool.span_id, known_by=KnownBy.TIME)


def _start(span: Span) -> int:
    return span.start_ns
