"""AG2's own spans of group chats: a manager encloses the agents, which hear each other or hand over."""

import json
import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, SpanTree, TeamReading, handoff_target
from concord.trace.otlp.spans import Span

_SCOPE: Final = "opentelemetry.instrumentation.ag2"
MARKS: Final = frozenset({_SCOPE})
_SELECTION: Final = "speaker_selection"
_TOOL_EXECUTOR: Final = "_Group_Tool_Executor"
"""The member of every group chat that runs the tools of the agent before it, handoffs included."""

_NUMBER: Final = re.compile(r"_\d+$")
"""AG2 numbers the handoffs of an agent: `transfer_to_writer_1`."""


def read(tree: SpanTree, reading: TeamReading) -> TeamReading:
    """An agent with agents directly below is the manager of a group chat, and no agent of the team.

    If an agent of a chat hands over, only its handoffs count. Otherwise everybody hears everybody. Agents that select
    the next speaker for a manager are not agents of the team.
    """
    found: dict[str, Reading] = {}
    conversations: list[frozenset[str]] = []
    for span in tree.spans.values():
        if span.scope != _SCOPE:
            continue
        if span.operation == _SELECTION:
            inside = (each for each in tree.below(span) if _agent(each, reading))
            found |= {each.span_id: Reading(Act.WORK, failed=each.failed) for each in inside}
        elif _agent(span, reading) and (speakers := _speakers(tree, span, reading)):
            found[span.span_id] = Reading(Act.TEAM, failed=span.failed)
            handoffs = _tools(tree, speakers, reading)
            found |= handoffs
            if not any(each.handoff_to for each in handoffs.values()):
                conversations.append(_members(tree, span, speakers, reading))
    return reading.changed(found, tuple(conversations))


def _agent(span: Span, reading: TeamReading) -> str:
    """The agent of a span; "" if it is not the work of an agent."""
    known = reading.spans.get(span.span_id)
    return known.agent if known is not None and known.act is Act.AGENT else ""


def _speakers(tree: SpanTree, manager: Span, reading: TeamReading) -> list[Span]:
    return [each for each in tree.children.get(manager.span_id, ()) if _agent(each, reading)]


def _members(tree: SpanTree, manager: Span, speakers: Sequence[Span], reading: TeamReading) -> frozenset[str]:
    """The agents that speak, and those that a model could select. Names of AG2's own members start with `_`."""
    named = {_agent(each, reading) for each in speakers}
    for each in tree.children.get(manager.span_id, ()):
        named |= _names(each.text(genai.SPEAKER_CANDIDATES))
    return frozenset(name for name in named if not name.startswith("_"))


def _names(written: str) -> set[str]:
    try:
        names = json.loads(written) if written else []
    except ValueError:
        return set()
    return set(map(str, names)) if isinstance(names, list) else set()


def _tools(tree: SpanTree, speakers: Sequence[Span], reading: TeamReading) -> dict[str, Reading]:
    """The executor of tools as the agent that spoke before it, and its handoffs without their number."""
    found: dict[str, Reading] = {}
    speaker = ""
    for span in speakers:
        name = _agent(span, reading)
        if name != _TOOL_EXECUTOR:
            speaker = name
            continue
        found[span.span_id] = Reading(Act.AGENT if speaker else Act.WORK, speaker, failed=span.failed)
        for tool in tree.children.get(span.span_id, ()):
            known = reading.spans.get(tool.span_id)
            if known is not None and (target := handoff_target(tool.text(genai.TOOL_NAME))):
                found[tool.span_id] = replace(known, handoff_to=_NUMBER.sub("", target))
    return found
