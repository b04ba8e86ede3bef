"""The activations of a trace: the pieces of work of its agents, and the edges between agents that follow from them."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple

from concord.trace.attributes import EdgeKind, KnownBy, Support
from concord.trace.otlp import NEXT_AGENT, Act, Reading, Span, SpanTree, TeamReading, name_key
from concord.wire.roster import MAX_AGENT_LENGTH
from concord_evaluator.formats.trace import shortened_id
from concord_evaluator.formats.witnesses import Witnesses

_NEXT: Final = name_key(NEXT_AGENT)


@dataclass(eq=False, slots=True)
class Activation:
    """One piece of work of an agent. `head`: its outermost span; `within`: the activation that it was started in.

    `causes`: how it came about, an edge each. `to`: its handoffs. `asks`: the agents that it asked to work beside it.
    `passes_to`: the agents that it sent its work to.
    `remote`: whether the head is the caller's side of a call elsewhere. `group`: see `Reading`. `known_by`: what tells
    `within`.
    """

    agent: str
    head: Span
    within: "Activation | None"
    remote: bool = False
    group: str = ""
    known_by: KnownBy = KnownBy.NESTING
    causes: list["Cause"] = field(default_factory=list)
    to: list["Handoff"] = field(default_factory=list)
    asks: list[str] = field(default_factory=list)
    passes_to: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Cause:
    """Why an activation began: `by` another one, with the kind of the edge between them and how it is known."""

    by: Activation
    kind: EdgeKind
    known_by: KnownBy
    support: Support = Support.INFERRED


class Handoff(NamedTuple):
    """The `name_key` of the agent that gets control, "" for the agent that works next; and what tells it."""

    target: str
    known_by: KnownBy


class Edge(NamedTuple):
    """An edge to the agent of an activation or, in a conversation, from it to a member that heard it."""

    caller: str
    callee: str
    kind: EdgeKind
    head: Span
    known_by: KnownBy
    support: Support


@dataclass(frozen=True)
class Activations:
    """By span id, the activation that a span is part of; None outside of the team. `members`: of conversations."""

    of_span: Mapping[str, Activation | None]
    conversations: tuple[frozenset[str], ...]

    @cached_property
    def all(self) -> Sequence[Activation]:
        """The activations by the start of their heads."""
        heads = (each for span_id, each in self.of_span.items() if each is not None and each.head.span_id == span_id)
        return sorted(heads, key=lambda each: (each.head.start_ns, each.head.span_id))

    def edges(self) -> Iterator[Edge]:
        """The edges between different agents."""
        for each in self.all:
            for cause in each.causes:
                if cause.by.agent != each.agent:
                    yield Edge(cause.by.agent, each.agent, cause.kind, each.head, cause.known_by, cause.support)
            for heard in self._heard(each):
                yield Edge(each.agent, heard, EdgeKind.CONVERSATION, each.head, KnownBy.IDS, Support.INFERRED)

    def _heard(self, speaker: Activation) -> Iterable[str]:
        members = next((each for each in self.conversations if speaker.agent in each), frozenset())
        asked_by_member = speaker.within is not None and speaker.within.agent in members
        return () if asked_by_member else sorted(members - {speaker.agent})


def agent_id(name: str) -> str:
    """The id of an agent with this name: the exact name in NFC, without outer white space, and with a digest if it is
    long. A solidus, and the colon after `url`, have a meaning in ids: they become characters that look like them."""
    exact = unicodedata.normalize("NFC", name).strip().replace("/", "\u2215")
    exact = exact.replace("url:", "url\u2236", 1) if exact.startswith("url:") else exact or "agent"
    return shortened_id(exact, limit=MAX_AGENT_LENGTH)


def find_activations(tree: SpanTree, reading: TeamReading, order: Sequence[str]) -> Activations:
    """Finds the activations, and how each came about. `order`: the span ids, parents first."""
    conversations = tuple(frozenset(map(agent_id, members)) for members in reading.conversations)
    sole = _sole_agents(tree, reading)
    of_span: dict[str, Activation | None] = {}
    for span_id in order:
        span, read = tree.spans[span_id], reading.spans.get(span_id)
        above = of_span.get(span.parent_id)
        parent = tree.spans.get(span.parent_id) if span.parent_id in of_span else None
        of_span[span_id] = activation = _activation(span, read, parent, above, sole)
        if activation is not None and read is not None:
            _take(activation, read)
    _move(of_span, reading)
    found = Activations(of_span, conversations)
    of_agents = [span_id for span_id, activation in of_span.items() if activation is not None]
    _connect(found, {agent for members in conversations for agent in members}, Witnesses(tree, reading, of_agents))
    return found


def _activation(
    span: Span,
    read: Reading | None,
    parent: Span | None,
    above: Activation | None,
    sole: Mapping[str, str | None],
) -> Activation | None:
    """The activation of a span: its own, the one above, or that of the service that it enters."""
    if read is not None and read.act is Act.AGENT and (name := agent_id(read.agent)):
        if above is not None and above.agent == name:
            return above
        return Activation(name, span, above, span.client, read.group)
    if parent is None or parent.service == span.service or (above is not None and above.remote) or span.serves_card:
        return above
    agent = sole.get(span.service, agent_id(span.service))
    if agent is None or (above is not None and above.agent == agent):
        return above
    return Activation(agent, span, above) if above is not None or span.service in sole else None


def _take(activation: Activation, read: Reading) -> None:
    """Notes whom an activation's span hands over to, asks, or sends the work to."""
    if read.handoff_to:
        activation.to.append(Handoff(name_key(read.handoff_to), read.known_by or KnownBy.ARGUMENTS))
    if read.asks:
        activation.asks.append(name_key(read.asks))
    if read.passes_to:
        activation.passes_to.append(name_key(read.passes_to))


def _move(of_span: Mapping[str, Activation | None], reading: TeamReading) -> None:
    """Moves activations whose spans say where they were started, other than by their parents."""
    for span_id, read in reading.spans.items():
        each = of_span.get(span_id)
        if not read.within or each is None or each.head.span_id != span_id:
            continue
        start = of_span.get(read.within)
        if start is not None and not _encloses(each, start):
            each.within, each.known_by = start, read.known_by or KnownBy.IDS


def _encloses(outer: Activation, inner: Activation) -> bool:
    current: Activation | None = inner
    while current is not None:
        if current is outer:
            return True
        current = current.within
    return False


def _sole_agents(tree: SpanTree, reading: TeamReading) -> dict[str, str | None]:
    """By service with agents, its agent; None if it has several. A called agent elsewhere does not count."""
    named: defaultdict[str, set[str]] = defaultdict(set)
    for span_id, read in reading.spans.items():
        span = tree.spans[span_id]
        if read.act is Act.AGENT and not span.client:
            named[span.service].add(agent_id(read.agent))
    return {service: next(iter(agents)) if len(agents) == 1 else None for service, agents in named.items()}


def _connect(found: Activations, talking: set[str], witnesses: Witnesses) -> None:
    """Connects each activation with the one that it was started in, or with those before it in the same place."""
    outermost: list[Activation] = []
    inside: defaultdict[int, list[Activation]] = defaultdict(list)
    for each in found.all:
        (outermost if each.within is None else inside[id(each.within)]).append(each)
    for row in inside.values():
        _connect_row([each for each in row if each.agent not in talking], in_order=False)
        for each in row:
            if each.within is not None and not each.causes:
                each.causes.append(_started(each, each.within, witnesses))
    _connect_asked(outermost)
    _connect_row([each for each in outermost if each.agent not in talking], in_order=True)
    for each in outermost:
        each.causes[:] = [_checked(each, cause, witnesses) for cause in each.causes]


def _started(each: Activation, within: Activation, witnesses: Witnesses) -> Cause:
    """The edge from the activation that another one was started in."""
    key = name_key(each.agent)
    handed_over = key in _targets(within)
    if handed_over or witnesses.name(each.head, within.head, key):
        support = Support.CONFIRMED
    elif witnesses.contradict(each.head, within.head, key) or 0 < within.head.end_ns < each.head.start_ns:
        support = Support.CONTRADICTED
    else:
        support = Support.INFERRED
    return Cause(within, EdgeKind.HANDOFF if handed_over else EdgeKind.DELEGATION, each.known_by, support)


def _checked(each: Activation, cause: Cause, witnesses: Witnesses) -> Cause:
    """An edge, where time alone tells it, with what other sources say about it."""
    if cause.known_by is not KnownBy.TIME or cause.kind is not EdgeKind.SEQUENCE:
        return cause
    told_otherwise = cause.by.to or (not each.group and witnesses.enclose(each.head))
    return replace(cause, support=Support.CONTRADICTED) if told_otherwise else cause


def _targets(activation: Activation) -> set[str]:
    return {handoff.target for handoff in activation.to}


def _connect_asked(row: Sequence[Activation]) -> None:
    """Connects activations, given by their start, with those beside them that asked for them, or sent them work."""
    asking: defaultdict[str, list[tuple[Activation, EdgeKind]]] = defaultdict(list)
    """By agent, the activations that named it, and whose message it has not taken up yet."""
    for each in row:
        if asking[name_key(each.agent)]:
            by, kind = asking[name_key(each.agent)].pop()
            each.causes.append(Cause(by, kind, KnownBy.IDS, Support.CONFIRMED))
        for target in each.asks:
            asking[target].append((each, EdgeKind.DELEGATION))
        for target in each.passes_to:
            asking[target].append((each, EdgeKind.SEQUENCE))


def _connect_row(row: Sequence[Activation], *, in_order: bool) -> None:
    """Connects activations in the same place, given by their start: by handoffs, or else, if `in_order`, by time."""
    handing: defaultdict[str, list[tuple[Activation, KnownBy]]] = defaultdict(list)
    """By agent, the activations that handed over to it and whose handoff it has not taken up yet."""
    latest_ends: list[int] = []
    """By index, the latest end of the activations up to it."""
    for index, each in enumerate(row):
        latest_ends.append(max(each.head.end_ns, latest_ends[-1] if latest_ends else 0))
        key = name_key(each.agent)
        if handing[key]:
            by, known_by = handing[key].pop()
            support = Support.CONFIRMED if by is row[index - 1] else Support.INFERRED
            each.causes.append(Cause(by, EdgeKind.HANDOFF, known_by, support))
        elif handing[_NEXT] and handing[_NEXT][-1][0].agent != each.agent:
            by, _ = handing[_NEXT].pop()
            each.causes.append(Cause(by, EdgeKind.HANDOFF, KnownBy.TIME, Support.CONFIRMED))
        elif in_order and not each.causes:
            for before in _directly_before(row, index, latest_ends):
                _follow(before, each)
        for target, known_by in each.to:
            if target != key:
                handing[target].append((each, known_by))


def _follow(before: Activation, each: Activation) -> None:
    """Connects an activation with the one before it.

    If control returns to the agent that handed over to the one before, that was a delegation, and this is not an edge.
    """
    returned = False
    for number, cause in enumerate(before.causes):
        if cause.kind is not EdgeKind.SEQUENCE and cause.by.agent == each.agent and not before.to:
            before.causes[number] = replace(cause, kind=EdgeKind.DELEGATION)
            returned = True
    if not returned:
        each.causes.append(Cause(before, EdgeKind.SEQUENCE, KnownBy.TIME))


def _directly_before(row: Sequence[Activation], index: int, latest_ends: Sequence[int]) -> Iterator[Activation]:
    """The activations that ended before this one started, and before which no other one ended in between; of several
    attempts at one piece of work, the last one."""
    found: list[Activation] = []
    for earlier in range(index - 1, -1, -1):
        last = found[0] if found else None
        if last is not None and not last.group and latest_ends[earlier] <= last.head.start_ns:
            break
        before = row[earlier]
        attempted = any(before.group and (before.agent, before.group) == (each.agent, each.group) for each in found)
        if (
            not attempted
            and _ended_before(before, row[index])
            and not any(_ended_before(before, other) for other in found)
        ):
            found.append(before)
        elif last is not None and before.group != last.group and latest_ends[earlier] <= last.head.start_ns:
            break
    return reversed(found)


def _ended_before(earlier: Activation, later: Activation) -> bool:
    parallel = bool(earlier.group) and earlier.group == later.group
    return not parallel and 0 < earlier.head.end_ns <= later.head.start_ns
