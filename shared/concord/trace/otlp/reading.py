"""What a span says about a team, in the terms that all conventions share, and the interface of the mappings."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Final, Protocol

from concord.trace.otlp.spans import Span

_TRANSFER: Final = re.compile(r"(?:transfer|handoff|hand_off|handover)[ _]?to[ _](.+)", re.IGNORECASE)
_NOT_IN_KEY: Final = re.compile(r"[\W_]+")


class Act(StrEnum):
    """What a span is: an agent at work, several agents together, the use of a tool or a model, or other work."""

    AGENT = "agent"
    TEAM = "team"
    TOOL = "tool"
    MODEL = "model"
    WORK = "work"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a mapping read from one span.

    `agent`: of an AGENT, the agent that works in the span, or that the span asks. `handoff_to`: the agent that the span
    hands control to. `asks`: the agent that the span asks for work outside of it. `failed`: whether the work failed.
    `group`: pieces of work with the same one, unless it is empty, are parallel, whatever their times.
    """

    act: Act
    agent: str = ""
    handoff_to: str = ""
    asks: str = ""
    failed: bool = False
    group: str = ""


class Convention(Protocol):
    """The mapping of a convention: reads one span alone. None if the span does not follow the convention."""

    def __call__(self, span: Span, /) -> Reading | None: ...


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
    return _NOT_IN_KEY.sub("_", name.casefold()).strip("_")


def handoff_target(tool: str) -> str:
    """The agent in the name of a handoff tool (`transfer_to_bob`, `handoff to Bob`); "" for another tool."""
    found = _TRANSFER.fullmatch(tool)
    return found[1] if found else ""


def tool_use(span: Span, tool: str, *, failed: bool = False) -> Reading:
    """The reading of a span that uses a tool, which failed if the span did, or if `failed`."""
    return Reading(Act.TOOL, handoff_to=handoff_target(tool), failed=failed or span.failed)


def without_failure(reading: Reading) -> Reading:
    """The same reading of a span that did not fail."""
    return replace(reading, failed=False)
