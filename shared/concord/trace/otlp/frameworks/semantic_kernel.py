"""Semantic Kernel's own spans of orchestrations: agents in actors of a runtime, which send each other messages."""

import re
from dataclasses import replace
from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, SpanTree, TeamReading
from concord.trace.otlp.spans import Span

_SCOPE: Final = "agent_runtime InProcessRuntime"
MARKS: Final = frozenset({_SCOPE})
_ACTOR: Final = re.compile(r"agent_runtime (process|create) (.+)_[0-9a-f]{32}\.\(")
_TEAM: Final = re.compile(r"([0-9a-f]{32})\.\(")
_MAGENTIC_MANAGER: Final = "MagenticManagerActor"
_ANSWERS: Final = frozenset({"CollectionActor", "GroupChatManagerActor", _MAGENTIC_MANAGER})
"""Actors that collect answers, or say who speaks next."""
_MODEL: Final = "AutoFunctionInvocationLoop"
_SEQUENTIAL: Final = "SequentialRequestMessage"
_CHAT: Final = re.compile(r"GroupChat\w+")
_MAGENTIC: Final = re.compile(r"Magentic\w+")


def read(tree: SpanTree, reading: TeamReading) -> TeamReading:
    """An actor is its agent while that calls a model. A sequential message passes its work on; in a chat, everybody
    hears everybody. (Handoffs are read as every handoff tool.) Whom a Magentic manager asks is not recorded."""
    found: dict[str, Reading] = {}
    members: set[str] = set()
    chats = False
    messages = {span.text(genai.MESSAGE_TYPE) for span in tree.spans.values() if span.scope == _SCOPE}
    unseen = (_MAGENTIC_MANAGER,) if any(map(_MAGENTIC.fullmatch, messages)) else ()
    for span in tree.spans.values():
        actor = _ACTOR.match(span.name) if span.scope == _SCOPE else None
        if actor is None or actor[2] in _ANSWERS:
            continue
        members.add(actor[2])
        message = span.text(genai.MESSAGE_TYPE)
        chats = chats or _CHAT.fullmatch(message) is not None
        if message == _SEQUENTIAL:
            found[span.span_id] = Reading(Act.WORK, passes_to=actor[2], failed=span.failed)
        elif actor[1] == "process" and any(each.name == _MODEL for each in tree.below(span)):
            found[span.span_id] = Reading(Act.AGENT, actor[2], failed=span.failed)
    read = reading.changed(found, (frozenset(members),) if chats else ())
    return replace(read, unseen=(*read.unseen, *unseen))


def team_of(span: Span) -> str:
    """The id of the orchestration that a span belongs to; "" for another span."""
    found = _TEAM.search(span.text(genai.DESTINATION_TYPE) or span.name) if span.scope == _SCOPE else None
    return found[1] if found else ""
