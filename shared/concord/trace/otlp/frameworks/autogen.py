"""AutoGen's own spans: agents in containers of a runtime, which publish each message to all members of a team."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, SpanTree, TeamReading
from concord.trace.otlp.spans import Span


class Delivered(NamedTuple):
    """A message at its delivery (nanoseconds since 1970). `sender`: "" for a message from outside of the team."""

    at_ns: int
    sender: str
    recipient: str
    text: str


_TEAM_ID: Final = re.compile(r"(.+?)_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SCOPE: Final = "autogen"
MARKS: Final = frozenset(genai.RECIPIENT_CLASS)
_CONTAINER: Final = "ChatAgentContainer"
_MAGENTIC: Final = "MagenticOneOrchestrator"
_REQUEST: Final = "GroupChatRequestPublish"
_CHATS: Final = re.compile(r"(?!Swarm|GraphFlow)\w*(?:GroupChatManager|Orchestrator)")
"""Managers whose teams talk. In a Swarm, agents hand over; a GraphFlow fixes their order."""


def read(tree: SpanTree, reading: TeamReading) -> TeamReading:
    """The members of a team are the agents in its containers, also those that never speak.

    The orchestrator of a Magentic-One team asks an agent in each round. Its calls of a model have no spans.
    """
    found: dict[str, Reading] = {}
    members: dict[str, set[str]] = {}
    chats: set[str] = set()
    """The ids of teams that talk. A team may be a tool of an agent of another one."""
    for span in tree.spans.values():
        kind, recipient = span.text(genai.RECIPIENT_CLASS), _TEAM_ID.fullmatch(span.text(genai.RECIPIENT))
        if kind == _MAGENTIC and (requests := list(_requests(tree, span))):
            found[span.span_id] = Reading(Act.AGENT, _MAGENTIC, failed=span.failed)
            found.update(requests)
        if recipient and _CHATS.fullmatch(kind):
            chats.add(recipient[2])
        if recipient and kind == _CONTAINER:
            members.setdefault(recipient[2], set()).add(recipient[1])
    return reading.changed(found, tuple(frozenset(members[team]) for team in sorted(chats & members.keys())))


def _requests(tree: SpanTree, orchestrator: Span) -> Iterator[tuple[str, Reading]]:
    for each in tree.children.get(orchestrator.span_id, ()):
        asked = _TEAM_ID.match(each.text(genai.DESTINATION_TYPE))
        if asked and each.text(genai.MESSAGE_TYPE) == _REQUEST:
            yield each.span_id, Reading(Act.WORK, asks=asked[1], failed=each.failed)


def messages_of(spans: Iterable[Span]) -> list[Delivered]:
    """The messages that members of a team sent each other and their manager, by the start of their delivery."""
    found = [
        Delivered(span.start_ns, _member(span.text(genai.SENDER)), _member(span.text(genai.RECIPIENT)), said)
        for span in spans
        if span.scope.startswith(_SCOPE) and (said := span.content.input)
    ]
    return sorted(each for each in found if each.recipient)


def _member(runtime_name: str) -> str:
    named = _TEAM_ID.fullmatch(runtime_name)
    return named[1] if named else ""


def team_of(span: Span) -> str:
    """The id of the team that a span belongs to; "" for a span of another framework, or outside of teams."""
    if not span.scope.startswith(_SCOPE):
        return ""
    found = _UUID.search(span.text((*genai.RECIPIENT, *genai.SENDER)) or span.name)
    return found[0] if found else ""
