"""Reads a trace as the work of a team, with every convention and framework."""

from collections.abc import Iterable
from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.conventions import CONVENTIONS
from concord.trace.otlp.frameworks import FRAMEWORKS, autogen, claude, semantic_kernel
from concord.trace.otlp.frameworks.langgraph import metadata
from concord.trace.otlp.reading import Act, Reading, SpanTree, TeamReading
from concord.trace.otlp.spans import Span

_THREADS: Final = (genai.THREAD, "session_id", "conversation_id")
_NAMING: Final = frozenset(
    (
        *genai.CONVERSATION,
        *genai.SESSION,
        *genai.METADATA,
        *(prefix + entry for prefix in genai.METADATA_PREFIXES for entry in _THREADS),
    )
)
"""The attributes that may name a conversation. Most spans have none of them."""


def read_team(tree: SpanTree) -> TeamReading:
    """The readings of all spans that a convention or a framework recognises."""
    read = TeamReading({span_id: found for span_id, span in tree.spans.items() if (found := _read(span)) is not None})
    for marks, framework in FRAMEWORKS:
        if not marks.isdisjoint(tree.marks):
            read = framework(tree, read)
    return read


def _read(span: Span) -> Reading | None:
    attributes = span.attributes
    for convention in CONVENTIONS:
        if convention.attribute in attributes and (found := convention.read(span)) is not None:
            return found
    return None


def conversations_of(spans: Iterable[Span], *, by_session: bool = False) -> frozenset[str]:
    """The conversations (sessions, threads, teams) that spans name. A user's session counts where a framework needs it
    to tell what is one run, or `by_session`."""
    found: set[str] = set()
    for span in spans:
        if not _NAMING.isdisjoint(span.attributes):
            found.add(span.text(genai.CONVERSATION))
            found.add(span.text(genai.SESSION) if by_session or span.scope in claude.MARKS else "")
            found.update(metadata(span, entry) for entry in _THREADS)
        found.update((autogen.team_of(span), semantic_kernel.team_of(span)))
    return frozenset(found - {""})


def names_agents(reading: TeamReading) -> bool:
    """Whether any span is the work of an agent."""
    return any(each.act is Act.AGENT for each in reading.spans.values())
