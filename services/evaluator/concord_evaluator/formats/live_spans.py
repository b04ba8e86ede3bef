"""Reads the spans that participants export during a trial like spans in files.

The spans of each participant are a separate tree, so that no participant changes the meaning of another participant's
spans.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import replace as changed

from concord.trace.attributes import AGENT_NAME, EdgeKind
from concord.trace.decoding import ReadBatch, spans_in, steps_of_batch
from concord.trace.otlp import (
    Act,
    Span,
    SpanError,
    SpanTree,
    TeamReading,
    name_key,
    names_agents,
    read_team,
    to_step,
    without_internals,
)
from concord.trace.report import MAX_BATCH_STEPS, Channel, ReportBatch, unpack
from concord.trace.stored_step import SerialisedBatch, Step, TraceBatch
from concord.wire.roster import Roster
from concord_evaluator.formats.activations import Activation, Activations, Cause, find_activations
from concord_evaluator.formats.doubts import doubts_of
from concord_evaluator.formats.live_calls import Members, ObservedCall, Outbound, Target, TrialCalls
from concord_evaluator.formats.span_recordings import parents_first, spans_by_id
from concord_evaluator.formats.span_steps import as_read, call_step, known_step, message_step, work_step

MAX_SPANS: Final = 20_000
MAX_ACTIVATIONS: Final = 2_000
MAX_HEARD: Final = 20_000
"""Limits on a participant's spans that are read together, on its agents' pieces of work, and on heard messages."""


class _Exporter(NamedTuple):
    participant: str
    authenticated: bool


@dataclass(frozen=True, slots=True)
class _Run:
    """The spans of a participant below one call to it. `spans`: all of them, also several with one id."""

    spans: Sequence[Span]
    tree: SpanTree
    reading: TeamReading
    activations: Activations


def with_teams(batches: Sequence[ReportBatch], roster: Roster) -> tuple[Sequence[ReportBatch], list[str]]:
    """The batches of a trial, with exported spans as the steps of the agents inside each participant, and warnings.
    Batches without stored spans are unchanged."""
    exported: defaultdict[_Exporter, list[Span]] = defaultdict(list)
    kept: list[ReportBatch] = []
    for batch in batches:
        stored = batch.channel is Channel.OTLP and not isinstance(batch, ReadBatch)
        spans = spans_in(unpack(batch.body)) if stored else ()
        if spans:
            exported[_Exporter(batch.reporter, batch.authenticated)] += spans
        else:
            kept.append(batch)
    if not exported:
        return batches, []
    calls = _calls_of(batches, exported, roster)
    warnings: list[str] = []
    for exporter, spans in exported.items():
        steps, faults = _read(exporter.participant, spans, calls)
        warnings += faults
        kept += _batches(exporter, spans[0].trace_id, steps)
    return kept, warnings


def _calls_of(
    batches: Iterable[ReportBatch], exported: Mapping[_Exporter, Sequence[Span]], roster: Roster
) -> TrialCalls:
    steps = (step for batch in batches if batch.channel is Channel.OBSERVED for step in steps_of_batch(batch))
    observed = {call.step_id: call for step in steps if (call := ObservedCall.of(step, roster)) is not None}
    continued: defaultdict[str, set[str]] = defaultdict(set)
    for exporter, spans in exported.items():
        if exporter.participant in roster:
            own = {span.span_id for span in spans}
            for parent in {span.parent_id for span in spans} - own:
                continued[parent].add(exporter.participant)
    return TrialCalls(Members(roster), observed, {span_id: frozenset(found) for span_id, found in continued.items()})


def _read(participant: str, spans: list[Span], calls: TrialCalls) -> tuple[list[Step], list[str]]:
    """The steps of a participant's spans, and warnings. Too many spans are each read alone."""
    visible = list(without_internals(spans))
    if len(visible) > MAX_SPANS:
        return list(_alone(visible)), [f"{participant}: {len(visible)} spans are too many to find its agents"]
    try:
        runs = [_run(each) for each in _by_call(visible, calls)]
    except (RecursionError, _TooManyError):
        return list(_alone(visible)), [f"{participant}: its spans are nested too deeply, or name too many agents"]
    unseen = [agent for run in runs for agent in run.reading.unseen]
    warnings = [f"{participant}: no span tells the work of {', '.join(unseen)}"] if unseen else []
    doubts = (doubt for run in runs for doubt in doubts_of(run.tree, run.reading, run.activations))
    warnings += dict.fromkeys(f"{participant}: {doubt}" for doubt in doubts)
    return list(_Team(participant, runs, calls).steps()), warnings


def _alone(spans: Iterable[Span]) -> Iterator[Step]:
    for span in spans:
        try:
            yield work_step(to_step(span))
        except SpanError:
            continue


def _by_call(spans: Sequence[Span], calls: TrialCalls) -> list[list[Span]]:
    """The spans below each call to the participant, and all others together."""
    tree = spans_by_id(spans)
    call_of: dict[str, str] = {}
    for span_id in parents_first(tree):
        parent = tree[span_id].parent_id
        call_of[span_id] = call_of.get(parent, parent if parent in calls.observed else "")
    groups: defaultdict[str, list[Span]] = defaultdict(list)
    for span in spans:
        groups[call_of[span.span_id]].append(span)
    return list(groups.values())


class _TooManyError(Exception):
    """The spans have more agents' work, or more messages, than the limits allow."""


def _run(spans: Sequence[Span]) -> _Run:
    tree = SpanTree(spans_by_id(spans))
    reading = read_team(tree)
    if sum(each.act is Act.AGENT for each in reading.spans.values()) > MAX_ACTIVATIONS:
        raise _TooManyError
    activations = find_activations(
        tree, reading if names_agents(reading) else TeamReading({}), parents_first(tree.spans)
    )
    if sum(map(len, activations.conversations)) * len(activations.all) > MAX_HEARD:
        raise _TooManyError
    return _Run(spans, tree, reading, activations)


class _Team:
    """The agents inside one participant. A sole agent, or one with the participant's name, is the participant."""

    def __init__(self, participant: str, runs: Sequence[_Run], calls: TrialCalls) -> None:
        self._participant = participant
        self._runs = runs
        self._outbound = Outbound(participant, calls)
        self._of_spans = self._outbound.of_spans(span for run in runs for span in run.tree.spans.values())
        inside = {agent for run in runs for agent in self._inside(run.activations)}
        self._sole = next(iter(inside)) if len(inside) == 1 else ""

    def steps(self) -> Iterator[Step]:
        """The steps of all runs. A span that cannot become a step has none."""
        for run in self._runs:
            of_agents = self._outbound.of_agents(run.tree, run.activations, self._of_spans)
            for span in run.spans:
                try:
                    yield from self._of_span(run, as_read(span, run.reading), of_agents)
                except SpanError:
                    continue
            conversation = (each for each in run.activations.edges() if each.kind is EdgeKind.CONVERSATION)
            for edge in islice(conversation, MAX_HEARD):
                if not self._outbound.member(edge.caller) and not self._outbound.member(edge.callee):
                    yield _by(message_step(edge), self._inner(edge.caller))

    def _of_span(self, run: _Run, span: Span, of_agents: Mapping[str, Target]) -> Iterator[Step]:
        activation = run.activations.of_span[span.span_id]
        actor = self._inner(self._local(activation))
        step = to_step(span)
        head = activation is not None and activation.head.span_id == span.span_id
        targets = list(self._of_spans.get(span.span_id, ()))
        if (target := of_agents.get(span.span_id)) is not None and head:
            targets.append(target)
        causes = self._causes(activation) if head and activation is not None else []
        taken = {target.step_id or span.span_id for target in targets[:1]}
        if not causes and span.span_id not in taken:
            yield _by(work_step(step), actor)
        for number, cause in enumerate(causes):
            callee = self._inner(activation.agent if activation is not None else "") or self._participant
            call = call_step(step, callee, cause.kind, f"-{number}" if number else "")
            yield _by(known_step(call, cause.known_by, cause.support), self._inner(cause.by.agent))
        for number, target in enumerate(targets):
            call = call_step(step, target.callee, EdgeKind.DELEGATION, url=target.url)
            new_id = target.step_id or span.span_id
            alone = not number and not (causes and new_id == span.span_id)
            yield _by(changed(call, step_id=new_id if alone else f"{new_id}-to-{number}"), actor)

    def _causes(self, activation: Activation) -> list[Cause]:
        """The edges to the agent of an activation from other agents inside this participant."""
        if self._outbound.member_of(activation):
            return []
        return [
            cause
            for cause in activation.causes
            if cause.by.agent != activation.agent and not self._outbound.member_of(cause.by)
        ]

    def _local(self, activation: Activation | None) -> str:
        """The agent inside this participant that works in an activation; "" if none does."""
        while activation is not None and self._outbound.member_of(activation):
            activation = activation.within
        return "" if activation is None else activation.agent

    def _inside(self, activations: Activations) -> Iterator[str]:
        yield from (each.agent for each in activations.all if not self._outbound.member_of(each))
        for members in activations.conversations:
            yield from (agent for agent in members if not self._outbound.member(agent))

    def _inner(self, agent: str) -> str:
        """The name of an agent inside this participant; "" for the participant itself."""
        return "" if agent == self._sole or name_key(agent) == name_key(self._participant) else agent


def _by(step: Step, agent: str) -> Step:
    """The step with an agent inside its reporter as its author."""
    attributes = {name: value for name, value in step.additional_attributes.items() if name != AGENT_NAME}
    return changed(step, additional_attributes=attributes | ({AGENT_NAME: agent} if agent else {}))


def _batches(exporter: _Exporter, trace_id: str, steps: Sequence[Step]) -> Iterator[ReportBatch]:
    for start in range(0, len(steps), MAX_BATCH_STEPS):
        chunk = list(steps[start : start + MAX_BATCH_STEPS])
        batch = TraceBatch(batch_id=f"team-{start}", trace_id=trace_id, reporter=exporter.participant, steps=chunk)
        yield SerialisedBatch.of(batch).received(Channel.OTLP, authenticated=exporter.authenticated)
