"""The activations of a trace: the pieces of work of its agents, and the edges between agents that follow from them."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from concord.trace.attributes import EdgeKind
from concord.trace.otlp import Act, Reading, Span, SpanTree, TeamReading, name_key
from concord_evaluator.formats.trace import shortened_id

_NOT_IN_NAMES: Final = re.compile(r"[^\w .-]+")


@dataclass(eq=False, slots=True)
class Activation:
    """One piece of work of an agent. `head`: its outermost span; `within`: the activation that it was started in.

    `asked_by`: the agent before it and the kind of that edge, for each edge. `to`: the agents that it handed over to.
    `asks`: the agents that it asked to work beside it.
    `remote`: whether the head is the caller's side of a call elsewhere. `group`: see `Reading`.
    """

    agent: str
    head: Span
    within: "Activation | None"
    remote: bool = False
    group: str = ""
    asked_by: list[tuple["Activation", EdgeKind]] = field(default_factory=list)
    to: list[str] = field(default_factory=list)
    asks: list[str] = field(default_factory=list)


class Edge(NamedTuple):
    """An edge to the agent of an activation or, in a conversation, from it to a member that heard it."""

    caller: str
    callee: str
    kind: EdgeKind
    head: Span


@dataclass(frozen=True, slots=True)
class Activations:
    """By span id, the activation that a span is part of; None outside of the team. `members`: of conversations."""

    of_span: Mapping[str, Activation | None]
    conversations: tuple[frozenset[str], ...]

    @property
    def all(self) -> list[Activation]:
        """The activations by the start of their heads."""
        unique = {id(each): each for each in self.of_span.values() if each is not None}
        return sorted(unique.values(), key=lambda each: (each.head.start_ns, each.head.span_id))

    def edges(self) -> Iterator[Edge]:
        """The edges between different agents."""
        for each in self.all:
            for caller, kind in each.asked_by:
                if caller.agent != each.agent:
                    yield Edge(caller.agent, each.agent, kind, each.head)
            for heard in self._heard(each):
                yield Edge(each.agent, heard, EdgeKind.CONVERSATION, each.head)

    def _heard(self, speaker: Activation) -> Iterable[str]:
        if speaker.within is not None:
            return ()
        members = next((each for each in self.conversations if speaker.agent in each), frozenset())
        return sorted(members - {speaker.agent})


def agent_id(name: str) -> str:
    """The id of an agent with this name: characters that no id has become dashes."""
    return shortened_id(_NOT_IN_NAMES.sub("-", name).strip("- ") or "agent")


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
        if activation is not None and read is not None and read.handoff_to:
            activation.to.append(name_key(read.handoff_to))
        if activation is not None and read is not None and read.asks:
            activation.asks.append(name_key(read.asks))
    found = Activations(of_span, conversations)
    _connect(found, {agent for members in conversations for agent in members})
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


def _sole_agents(tree: SpanTree, reading: TeamReading) -> dict[str, str | None]:
    """By service with agents, its agent; None if it has several. A called agent elsewhere does not count."""
    named: defaultdict[str, set[str]] = defaultdict(set)
    for span_id, read in reading.spans.items():
        span = tree.spans[span_id]
        if read.act is Act.AGENT and not span.client:
            named[span.service].add(agent_id(read.agent))
    return {service: next(iter(agents)) if len(agents) == 1 else None for service, agents in named.items()}


def _connect(found: Activations, talking: set[str]) -> None:
    """Connects each activation with the one that it was started in, or with those before it in the same place."""
    side_by_side: defaultdict[int, list[Activation]] = defaultdict(list)
    for each in found.all:
        if each.within is None:
            side_by_side[0].append(each)
        else:
            kind = EdgeKind.HANDOFF if name_key(each.agent) in each.within.to else EdgeKind.DELEGATION
            each.asked_by.append((each.within, kind))
    for row in side_by_side.values():
        _connect_asked(row)
        _connect_row([each for each in row if each.agent not in talking])


def _connect_asked(row: Sequence[Activation]) -> None:
    """Connects activations, given by their start, with those beside them that asked for them."""
    asking: defaultdict[str, list[Activation]] = defaultdict(list)
    """By agent, the activations that asked it, and whose request it has not taken up yet."""
    for each in row:
        if asking[name_key(each.agent)]:
            each.asked_by.append((asking[name_key(each.agent)].pop(), EdgeKind.DELEGATION))
        for target in each.asks:
            asking[target].append(each)


def _connect_row(row: Sequence[Activation]) -> None:
    """Connects activations outside of any other one, given by their start: by handoffs, or by their order."""
    handing: defaultdict[str, list[Activation]] = defaultdict(list)
    """By agent, the activations that handed over to it and whose handoff it has not taken up yet."""
    latest_ends: list[int] = []
    """By index, the latest end of the activations up to it."""
    for index, each in enumerate(row):
        latest_ends.append(max(each.head.end_ns, latest_ends[-1] if latest_ends else 0))
        key = name_key(each.agent)
        if handing[key]:
            each.asked_by.append((handing[key].pop(), EdgeKind.HANDOFF))
        else:
            for before in _directly_before(row, index, latest_ends):
                _follow(before, each)
        for target in each.to:
            if target != key:
                handing[target].append(each)


def _follow(before: Activation, each: Activation) -> None:
    """Connects an activation with the one before it.

    If control returns to the agent that handed over to the one before, that was a delegation, and this is not an edge.
    """
    returned = False
    for number, (by, kind) in enumerate(before.asked_by):
        if kind is not EdgeKind.SEQUENCE and by.agent == each.agent and not before.to:
            before.asked_by[number] = (by, EdgeKind.DELEGATION)
            returned = True
    if not returned:
        each.asked_by.append((before, EdgeKind.SEQUENCE))


def _directly_before(row: Sequence[Activation], index: int, latest_ends: Sequence[int]) -> Iterator[Activation]:
    """The activations that ended before this one started, and before which no other one ended in between."""
    found: list[Activation] = []
    for earlier in range(index - 1, -1, -1):
        last = found[0] if found else None
        if last is not None and not last.group and latest_ends[earlier] <= last.head.start_ns:
            break
        before = row[earlier]
        if _ended_before(before, row[index]) and not any(_ended_before(before, other) for other in found):
            found.append(before)
        elif last is not None and before.group != last.group and latest_ends[earlier] <= last.head.start_ns:
            break
    return reversed(found)


def _ended_before(earlier: Activation, later: Activation) -> bool:
    parallel = bool(earlier.group) and earlier.group == later.group
    return not parallel and 0 < earlier.head.end_ns <= later.head.start_ns
