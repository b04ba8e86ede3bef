"""What a span says about a team, in the terms that all conventions share, and the interface of the mappings."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Final, Protocol

import msgspec
from msgspec.structs import replace

from concord.trace.attributes import KnownBy
from concord.trace.otlp import genai
from concord.trace.otlp.spans import Span

_TRANSFER: Final = re.compile(
    r"(?:^|-)(?:transfer|handoff|hand_off|handover)[ _]?to[ _](.+)$", re.IGNORECASE | re.DOTALL
)
"""Handoff tools, also those with the name of a plug-in before theirs (`Handoff-transfer_to_bob`)."""

NEXT_AGENT: Final = "*"
"""The target of a handoff whose span does not tell it: whichever agent works next."""

_ANY_AGENT: Final = frozenset({"agent", "another_agent", "next_agent", "next", "other_agent", "subagent"})
_AGENT_ARGUMENTS: Final = (
    *("agent_name", "agent_id", "agent", "to_agent", "target_agent", "next_agent", "recipient", "coworker"),
    *("subagent_type", "subagent", "member_id", "member_name"),
)
"""The names of a tool's arguments that name an agent, in the order of preference."""

_MAX_ARGUMENTS: Final = 1 << 16
_NOT_IN_KEY: Final = re.compile(r"[\W_]+")


class Act(StrEnum):
    """What a span is: an agent at work, several agents together, the use of a tool or a model, or other work."""

    AGENT = "agent"
    TEAM = "team"
    TOOL = "tool"
    MODEL = "model"
    WORK = "work"


class Reading(msgspec.Struct, frozen=True, gc=False):
    """What a mapping read from one span.

    `agent`: of an AGENT, the agent that works in the span, or that the span asks. `handoff_to`: the agent that the span
    hands control to. `asks`: the agent that the span asks for work outside of it. `passes_to`: the agent that the span
    sends its agent's work to. `failed`: whether the work failed. `group`: pieces of work with the same one, unless it
    is empty, are parallel, whatever their times. `within`: the id of the span that the work was started in, where that
    is not the span's parent. `known_by`: what tells `handoff_to` or `within`.
    """

    act: Act
    agent: str = ""
    handoff_to: str = ""
    asks: str = ""
    passes_to: str = ""
    failed: bool = False
    group: str = ""
    within: str = ""
    known_by: KnownBy | None = None


@dataclass(frozen=True)
class SpanTree:
    """The spans of a trace by id. A parent outside of `spans` is not a parent."""

    spans: Mapping[str, Span]

    @cached_property
    def children(self) -> Mapping[str, Sequence[Span]]:
        """By span id, the spans below it, by their start. The roots are under ""."""
        children: dict[str, list[Span]] = {}
        for span in sorted(self.spans.values(), key=lambda span: (span.start_ns, span.span_id)):
            children.setdefault(span.parent_id if span.parent_id in self.spans else "", []).append(span)
        return children

    @cached_property
    def marks(self) -> frozenset[str]:
        """The scopes of the spans, and the names of their attributes."""
        marks: set[str] = set()
        for span in self.spans.values():
            marks.add(span.scope)
            marks.update(span.attributes)
        return frozenset(marks)

    def below(self, span: Span, stop: frozenset[str] = frozenset()) -> Iterator[Span]:
        """The spans below a span, without those in `stop` and the spans below them."""
        seen = {span.span_id}
        pending = list(self.children.get(span.span_id, ()))
        while pending:
            each = pending.pop()
            if each.span_id not in seen and each.span_id not in stop:
                seen.add(each.span_id)
                yield each
                pending.extend(self.children.get(each.span_id, ()))


@dataclass(frozen=True, slots=True)
class TeamReading:
    """The readings of a trace by span id, and its conversations: sets of agents of which each hears all others.

    `unseen`: agents that the trace names and of whose work it says nothing, although they may have been asked.
    """

    spans: Mapping[str, Reading]
    conversations: tuple[frozenset[str], ...] = ()
    unseen: tuple[str, ...] = ()

    def changed(self, spans: Mapping[str, Reading], conversations: tuple[frozenset[str], ...] = ()) -> "TeamReading":
        """This reading with other readings of some spans, and more conversations."""
        return TeamReading({**self.spans, **spans}, (*self.conversations, *conversations), self.unseen)


class Framework(Protocol):
    """The mapping of a framework whose spans say more than the convention that they follow: changes the reading."""

    def __call__(self, tree: SpanTree, read: TeamReading, /) -> TeamReading: ...


def name_key(name: str) -> str:
    """The form of an agent's name in which a handoff names it: lower case, words joined by `_`."""
    return _NOT_IN_KEY.sub("_", name.casefold()).strip("_") or name.casefold()


def handoff_target(tool: str, arguments: str = "") -> str:
    """The agent that a handoff tool names: `transfer_to_bob`, `handoff to Bob`, or `handoff_to_agent` in its arguments.

    "" for another tool; `NEXT_AGENT` if the arguments do not tell.
    """
    found = _TRANSFER.search(tool)
    if found is None:
        return ""
    return found[1] if name_key(found[1]) not in _ANY_AGENT else agent_in_arguments(arguments) or NEXT_AGENT


def tool_name(span: Span) -> str:
    """The name of the tool that a span uses."""
    return span.text((*genai.TOOL_NAME, *genai.ENTITY_NAME)) or span.filled_name


def tool_arguments(span: Span) -> str:
    """The arguments of a tool as the span has them, usually in JSON; "" if absent."""
    return span.content.input


@lru_cache(maxsize=1 << 12)
def agent_in_arguments(arguments: str) -> str:
    """The agent that a tool's arguments in JSON name, such as `{"agent_name": "bob"}`; "" if they name none."""
    if len(arguments) > _MAX_ARGUMENTS or not any(name in arguments for name in _AGENT_ARGUMENTS):
        return ""
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        return ""
    if isinstance(given, dict) and isinstance(given.get("kwargs"), dict):
        given = given["kwargs"]
    named = (given.get(name) for name in _AGENT_ARGUMENTS) if isinstance(given, dict) else ()
    return next((name for name in named if isinstance(name, str) and name), "")


def tool_use(span: Span, tool: str, *, failed: bool = False) -> Reading:
    """The reading of a span that uses a tool, which failed if the span did, or if `failed`."""
    target = handoff_target(tool, tool_arguments(span))
    return Reading(Act.TOOL, handoff_to=target, failed=failed or span.failed)


def without_failure(reading: Reading) -> Reading:
    """The same reading of a span that did not fail."""
    return replace(reading, failed=False)
