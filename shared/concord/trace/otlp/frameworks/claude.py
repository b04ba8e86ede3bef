"""Claude's Agent SDK: the spans of the program that it starts (Claude Code), and those of OpenInference.

Neither names agents. The agent that the user asks is called `main`, as in Claude Code; a subagent has the type that the
tool `Agent` (formerly `Task`) was called with. A subagent in the background goes on after its tool has returned.
"""

from collections.abc import Iterator
from typing import Final

from concord.trace.attributes import KnownBy
from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, SpanTree, TeamReading, agent_in_arguments, tool_arguments
from concord.trace.otlp.spans import Span

MAIN: Final = "main"
_OWN: Final = "com.anthropic.claude_code.tracing"
_OPENINFERENCE: Final = "openinference.instrumentation.claude_agent_sdk"
MARKS: Final = frozenset({_OWN, _OPENINFERENCE})
_SUBAGENT: Final = "ClaudeAgentSDK.Subagent"
"""The span of a subagent whose tool had returned; OpenInference then knows nothing of it."""


def read(tree: SpanTree, reading: TeamReading) -> TeamReading:
    """Names the agents."""
    changed: dict[str, Reading] = {}
    for span in tree.spans.values():
        if span.scope == _OWN:
            changed |= _own(tree, span)
        elif span.scope == _OPENINFERENCE and not span.parent_id:
            changed |= _of_query(tree, reading, span)
    return reading.changed(changed)


def _own(tree: SpanTree, span: Span) -> dict[str, Reading]:
    if span.text(genai.CLAUDE_SPAN) == "interaction":
        return {span.span_id: Reading(Act.AGENT, MAIN, failed=span.failed)}
    subagent = span.text(genai.CLAUDE_SUBAGENT)
    return {
        below.span_id: Reading(Act.AGENT, subagent, failed=below.failed)
        for below in tree.children.get(span.span_id, ())
        if subagent and below.text(genai.CLAUDE_SPAN) == "tool.execution"
    }


def _of_query(tree: SpanTree, reading: TeamReading, query: Span) -> dict[str, Reading]:
    """The main agent's span, and those of its subagents. What runs in the background starts in the order in which it
    was asked for."""
    changed = {query.span_id: Reading(Act.AGENT, MAIN, failed=query.failed)}
    in_background: list[Span] = []
    for span in sorted(tree.below(query), key=lambda span: (span.start_ns, span.span_id)):
        subagent = agent_in_arguments(tool_arguments(span)) if _is(reading, span, Act.TOOL) else ""
        if subagent:
            answering = list(_agents_below(tree, reading, span))
            changed |= {each.span_id: Reading(Act.AGENT, subagent, failed=each.failed) for each in answering}
            in_background += [] if answering else [span]
        elif span.name == _SUBAGENT and in_background:
            asked = in_background.pop(0)
            changed[span.span_id] = Reading(
                Act.AGENT,
                agent_in_arguments(tool_arguments(asked)),
                failed=span.failed,
                within=asked.span_id,
                known_by=KnownBy.TIME if in_background else KnownBy.ARGUMENTS,
            )
    return changed


def _agents_below(tree: SpanTree, reading: TeamReading, tool: Span) -> Iterator[Span]:
    return (each for each in tree.children.get(tool.span_id, ()) if _is(reading, each, Act.AGENT))


def _is(reading: TeamReading, span: Span, act: Act) -> bool:
    known = reading.spans.get(span.span_id)
    return known is not None and known.act is act
