"""The recordings of a team in a file of spans: one trace each, or the traces of one conversation."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec
from msgspec.structs import replace

from concord.trace.attributes import KnownBy
from concord.trace.otlp import (
    Act,
    Reading,
    Span,
    SpanTree,
    TeamReading,
    conversations_of,
    names_agents,
    read_team,
    without_internals,
)
from concord_evaluator.formats.activations import find_activations

UNNAMED_SERVICE: Final = "unknown_service"
"""OpenTelemetry's name for a service without a name."""

MAX_SEEN: Final = 5
"""Names of spans that the message about unrecognised spans lists."""


class ReadSpan(msgspec.Struct, frozen=True, gc=False):
    """A span and its line."""

    span: Span
    line: int

    @classmethod
    def of(cls, span: Span, line: int) -> "ReadSpan":
        """Names the service of a span without one."""
        return cls(span if span.service else replace(span, service=UNNAMED_SERVICE), line)


@dataclass(frozen=True)
class Recording:
    """The spans of one trace, or of several traces of a conversation. `reading` names agents, unless it is empty.

    `visible`: the spans without library internals.
    """

    trace_id: str
    spans: list[ReadSpan]
    visible: Sequence[Span]
    n_traces: int
    tree: SpanTree
    reading: TeamReading

    @property
    def agents(self) -> frozenset[str]:
        """The names of the agents at work."""
        return frozenset(each.agent for each in self.reading.spans.values() if each.act is Act.AGENT)

    @cached_property
    def lines(self) -> Mapping[str, int]:
        """The lines of the spans by id; of several with one id, that of the last."""
        return {each.span.span_id: each.line for each in self.spans}


class Recordings:
    """The recordings of spans, in the order of their first traces, each made when it is asked for.

    They are kept in memory if `keep`.
    """

    def __init__(self, by_trace: Mapping[str, list[ReadSpan]], groups: Sequence[Sequence[str]], *, keep: bool) -> None:
        self._by_trace, self._groups, self._keep = by_trace, groups, keep
        self._kept: dict[int, Recording] = {}
        self._agents: dict[int, frozenset[str]] = {}

    def __len__(self) -> int:
        return len(self._groups)

    def __getitem__(self, place: int) -> Recording:
        if (found := self._kept.get(place)) is None:
            found = _recording(self._groups[place], self._by_trace)
            self._agents[place] = found.agents
            if self._keep:
                self._kept[place] = found
        return found

    def __iter__(self) -> Iterator[Recording]:
        return map(self.__getitem__, range(len(self)))

    def taken(self, place: int) -> Recording:
        """A recording that is asked for the last time."""
        found = self[place]
        self._kept.pop(place, None)
        return found

    @property
    def agents(self) -> list[frozenset[str]]:
        """The names of the agents of each recording."""
        return [self._agents[place] if place in self._agents else self[place].agents for place in range(len(self))]

    def only(self, places: Sequence[int]) -> "Recordings":
        """Some of the recordings."""
        some = Recordings(self._by_trace, [self._groups[place] for place in places], keep=self._keep)
        some._kept = {new: self._kept[old] for new, old in enumerate(places) if old in self._kept}
        some._agents = {new: self._agents[old] for new, old in enumerate(places) if old in self._agents}
        return some


def recordings_of(by_trace: Mapping[str, list[ReadSpan]], *, keep: bool = True, by_session: bool = False) -> Recordings:
    """The recordings of spans. `keep`: in memory, where their spans are as well.

    `by_session`: traces of one `session.id` are one.
    """
    return Recordings(by_trace, _conversations(by_trace, by_session=by_session), keep=keep)


def usable_recordings(recordings: Recordings) -> tuple[Recordings, list[str]]:
    """The recordings that figures can be computed for, and what is wrong with the others."""
    idle: list[int] = []
    judged: dict[int, str] = {}
    for place, recording in enumerate(recordings):
        if _has_agents(recording):
            judged[place] = _fault(recording)
        else:
            idle.append(place)
    faults = [fault for fault in judged.values() if fault]
    if idle:
        left_out = recordings.only(idle)
        faults.append(_beside(left_out) if judged else _unrecognised(left_out))
    return recordings.only([place for place, fault in judged.items() if not fault]), faults


def _conversations(by_trace: Mapping[str, Sequence[ReadSpan]], *, by_session: bool) -> list[list[str]]:
    """The trace ids: together those of one conversation and, of all others, those whose roots are linked."""
    named_in: dict[str, frozenset[str]] = {}
    linked: dict[str, frozenset[str]] = {}
    for trace_id, spans in by_trace.items():
        named_in[trace_id] = conversations_of((each.span for each in spans), by_session=by_session)
        if not named_in[trace_id]:
            linked[trace_id] = _linked_traces(spans)
    links = {trace_id: found & linked.keys() for trace_id, found in linked.items()}
    targets = frozenset().union(*links.values())
    group_of: dict[str, list[str]] = {}
    groups: list[list[str]] = []
    for trace_id in by_trace:
        named = named_in[trace_id] | links.get(trace_id, frozenset()) | (targets & {trace_id})
        joined = list({id(group_of[each]): group_of[each] for each in sorted(named) if each in group_of}.values())
        group = joined[0] if joined else []
        if not joined:
            groups.append(group)
        group.append(trace_id)
        for other in joined[1:]:
            group.extend(other)
            other.clear()
            group_of.update({each: group for each, known in group_of.items() if known is other})
        group_of.update(dict.fromkeys(named, group))
    return [group for group in groups if group]


def _linked_traces(spans: Iterable[ReadSpan]) -> frozenset[str]:
    return frozenset(trace_id for each in spans for trace_id, _ in each.span.links)


def _recording(trace_ids: Sequence[str], by_trace: Mapping[str, list[ReadSpan]]) -> Recording:
    first = trace_ids[0]
    spans = [
        each if each.span.trace_id == first else ReadSpan(replace(each.span, trace_id=first), each.line)
        for trace_id in trace_ids
        for each in by_trace[trace_id]
    ]
    visible = list(without_internals([each.span for each in spans]))
    tree = SpanTree(spans_by_id(visible))
    reading = read_team(tree)
    reading = reading.changed(dict(_linked(tree, reading)))
    return Recording(first, spans, visible, len(trace_ids), tree, reading if names_agents(reading) else TeamReading({}))


def _linked(tree: SpanTree, reading: TeamReading) -> Iterator[tuple[str, Reading]]:
    """The work of agents that began in a span that its root is linked to."""
    for root in tree.children.get("", ()):
        start = next((span_id for _, span_id in root.links if span_id in tree.spans), "")
        start = "" if conversations_of([root]) else start
        for each in (root, *tree.children.get(root.span_id, ())) if start else ():
            read = reading.spans.get(each.span_id)
            if read is not None and read.act is Act.AGENT and not read.within:
                yield each.span_id, replace(read, within=start, known_by=KnownBy.IDS)
                break


def _has_agents(recording: Recording) -> bool:
    """Whether spans name agents, or one service calls another."""
    tree = recording.tree.spans
    parents = ((span, tree.get(span.parent_id)) for span in tree.values())
    calls = any(
        parent is not None and parent.service != span.service and not span.serves_card for span, parent in parents
    )
    return bool(recording.reading.spans) or calls


def _unrecognised(recordings: Iterable[Recording]) -> str:
    """The message about spans without agents: `0 agents recognised in 82 spans (68 host, 14 tool); seen: …`."""
    spans, tools, seen = 0, 0, Counter[str]()
    for recording in recordings:
        spans += len(recording.tree.spans)
        tools += sum(each.act in {Act.TOOL, Act.MODEL} for each in read_team(recording.tree).spans.values())
        seen.update(f"{span.scope or 'no scope'}: {span.name}" for span in recording.tree.spans.values())
    return (
        f"0 agents recognised in {spans} spans ({spans - tools} host, {tools} tool); "
        f"seen: {', '.join(f'{name} ({count})' for name, count in seen.most_common(MAX_SEEN))}"
    )


def _beside(idle: Iterable[Recording]) -> str:
    spans = traces = 0
    for recording in idle:
        spans += len(recording.spans)
        traces += recording.n_traces
    return f"traces of the file without any agent, left out: {traces} (spans: {spans})"


def _fault(recording: Recording) -> str:
    """Why no figure can be computed for a trace; "" if nothing speaks against it.

    The trace names agents whose work it does not contain, or it has several parts that lack a parent and at most one
    edge. (A whole trace may lack one parent, if its client exports no spans.)
    """
    reading, tree = recording.reading, recording.tree.spans
    if reading.unseen:
        return f"trace {recording.trace_id}: no span tells the work of {', '.join(reading.unseen)}"
    tops = [span for span in tree.values() if span.parent_id not in tree]
    missing = sum(bool(top.parent_id) for top in tops)
    if not reading.spans or not missing or len({top.parent_id for top in tops}) == 1:
        return ""
    edges = list(find_activations(recording.tree, reading, parents_first(tree)).edges())
    if len(edges) > 1:
        return ""
    calls = "1 call" if edges else "no call"
    lost = f"the parents of {missing} of its {len(tree)} spans are missing"
    return f"trace {recording.trace_id} is a fragment with {calls}: {lost}"


def spans_by_id(spans: Iterable[Span]) -> dict[str, Span]:
    """The spans by id. Of several with one id, which will conflict, the least, regardless of their order."""
    by_id: dict[str, Span] = {}
    for span in spans:
        known = by_id.setdefault(span.span_id, span)
        if known is not span and _rank(span) < _rank(known):
            by_id[span.span_id] = span
    return by_id


def _rank(span: Span) -> tuple[str, ...]:
    """Everything that an activation depends on."""
    facts = (span.service, span.parent_id, span.name, span.scope, span.start_ns, span.end_ns, span.client, span.failed)
    return (*map(str, facts), str(sorted(span.all_attributes.items())))


def parents_first(spans: Mapping[str, Span]) -> list[str]:
    """The span ids, parents first. In a cycle of parents, the first span by id counts as the root."""
    order: dict[str, None] = {}
    for span_id in sorted(spans):
        chain: dict[str, None] = {}
        current = span_id
        while current in spans and current not in order and current not in chain:
            chain[current] = None
            current = spans[current].parent_id
        order.update(dict.fromkeys(reversed(chain)))
    return list(order)
