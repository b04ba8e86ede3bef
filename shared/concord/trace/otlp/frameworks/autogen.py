"""AutoGen's own spans: agents in containers of a runtime, which publish each message to all members of a team."""

import re
from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.reading import SpanTree, TeamReading
from concord.trace.otlp.spans import Span

_TEAM_ID: Final = re.compile(r"(.+?)_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SCOPE: Final = "autogen"
_CONTAINER: Final = "ChatAgentContainer"
_CHATS: Final = re.compile(r"(?!Swarm|GraphFlow)\w*(?:GroupChatManager|Orchestrator)")
"""Managers whose teams talk. In a Swarm, agents hand over; a GraphFlow fixes their order."""


def read(tree: SpanTree, reading: TeamReading) -> TeamReading:
    """The members of a team are the agents in its containers, also those that never speak."""
    members: set[str] = set()
    chats = False
    for span in tree.spans.values():
        kind = span.text(genai.RECIPIENT_CLASS)
        chats = chats or _CHATS.fullmatch(kind) is not None
        named = _TEAM_ID.fullmatch(span.text(genai.RECIPIENT)) if kind == _CONTAINER else None
        if named:
            members.add(named[1])
    return reading.changed({}, (frozenset(members),) if chats and members else ())


def team_of(span: Span) -> str:
    """The id of the team that a span belongs to; "" for a span of another framework, or outside of teams."""
    if not span.scope.startswith(_SCOPE):
        return ""
    found = _UUID.search(span.text((*genai.RECIPIENT, *genai.SENDER)) or span.name)
    return found[0] if found else ""
