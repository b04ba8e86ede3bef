"""From spans to steps: which agent each span belongs to, and which of them are calls from one agent to another."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Final

from concord.trace.attributes import EdgeKind
from concord.trace.otlp import Act, Reading, SpanError, SpanTree, TeamReading, check_ids
from concord.trace.otlp.content import Event
from concord.trace.otlp.spans import SpanKey
from concord.trace.report import Channel
from concord.trace.stored_step import Step
from concord_evaluator.failures import failures_in
from concord_evaluator.formats.activations import find_activations
from concord_evaluator.formats.declared import declare
from concord_evaluator.formats.doubts import MAX_NAMED, doubts_of, doubts_of_file
from concord_evaluator.formats.missing_texts import missing_texts
from concord_evaluator.formats.source import Source, UnrecognisedError
from concord_evaluator.formats.span_recordings import (
    ReadSpan,
    Recording,
    parents_first,
    recordings_of,
    usable_recordings,
)
from concord_evaluator.formats.span_steps import as_read, message_step, steps_of, with_thrown
from concord_evaluator.formats.span_store import SpanStore
from concord_evaluator.formats.span_texts import SpanTexts
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder, all_built

DOCS: Final = "docs/frameworks.md"

ORPHANS: Final = "the trace is cut, so that its outcome is unknown: it lacks the parents of"


def traces_of(
    spans: Iterable[ReadSpan],
    source: Source,
    channel: Channel,
    warnings: Iterable[str] = (),
    *,
    services_are_agents: bool = False,
    events: Mapping[SpanKey, Sequence[Event]] | None = None,
) -> Iterator[Trace]:
    """The traces of spans (in any order), in the order of their first spans. Traces of one conversation are joined.

    Services are the agents of a trace in which no span names an agent, if one of them calls another, or if
    `services_are_agents`. `events`: of spans, complete when the spans are. A span that cannot become a step counts as
    an unreadable record. Raises FormatError if there are not spans; UnrecognisedError if no trace has agents, or all
    are fragments.
    """
    with closing(SpanStore(events)) as by_trace:
        for each in spans:
            try:
                check_ids(each.span)
            except SpanError:
                with source.record(each.line):
                    raise
            else:
                by_trace.add(each)
        by_trace.finish()
        yield from _traces(by_trace, source, channel, warnings, services_are_agents=services_are_agents)


def _traces(
    by_trace: SpanStore, source: Source, channel: Channel, warnings: Iterable[str], *, services_are_agents: bool
) -> Iterator[Trace]:
    if not by_trace and not source.left_out:
        raise source.error("no spans found")
    notes = list(warnings)
    recordings = recordings_of(by_trace, keep=not by_trace.is_spilled, by_session=source.joins_sessions)
    if not services_are_agents:
        recordings, faults = usable_recordings(recordings)
        if faults and not len(recordings):
            raise UnrecognisedError(source.name, None, f"{faults[0]}; see {DOCS}")
        notes += faults
    notes += doubts_of_file(recordings.agents)
    notes += missing_texts(recordings)
    for place in range(len(recordings)):
        yield from _built(recordings.taken(place), source, channel, notes)


def _built(recording: Recording, source: Source, channel: Channel, notes: Iterable[str]) -> Sequence[Trace]:
    """The trace of a recording, whose spans leave the memory with it; none if it cannot be built."""
    line = recording.spans[0].line
    with source.record(line):
        builder = TraceBuilder(recording.trace_id, Origin(source.name, line))
        for note in notes:
            builder.warn(note)
        if recording.n_traces > 1:
            builder.warn(f"{recording.n_traces} traces of one conversation are joined")
        _take(builder, recording, source, channel)
        return list(all_built([builder], source))
    return ()


def _take(builder: TraceBuilder, recording: Recording, source: Source, channel: Channel) -> None:
    tree = recording.tree
    if len(tree.spans) < len({each.span.span_id for each in recording.spans}):
        ignored = len(recording.spans) - len(recording.visible)
        builder.warn(f"{ignored} internal spans of the a2a-python-sdk library were ignored")
    order = parents_first(tree.spans)
    reading = recording.reading if recording.reading.spans else _services(tree)
    activations = find_activations(tree, reading, order)
    for doubt in doubts_of(tree, reading, activations):
        builder.warn(doubt)
    texts = SpanTexts(tree, reading, activations)
    read = {span_id: as_read(span, reading) for span_id, span in tree.spans.items()}
    made: list[Step] = []
    versions = {each.span.version for each in recording.spans if each.span.version}
    builder.version = versions.pop() if len(versions) == 1 else ""
    for agent in sorted({agent for members in activations.conversations for agent in members}):
        builder.declare(agent)
    for span in recording.visible:
        activation, told = activations.of_span[span.span_id], read[span.span_id]
        if tree.spans[span.span_id] is not span:
            told = as_read(span, reading)
        head = activation is not None and activation.head.span_id == span.span_id
        try:
            steps = steps_of(told, activation, texts.of_heads[span.span_id] if head else span.content)
            if activation is not None:
                builder.declare(activation.agent)
            for reporter, step in steps:
                made.append(with_thrown(step, span, told))
                builder.add(made[-1], reporter, channel=channel)
        except (ValueError, ArithmeticError):
            with source.record(recording.lines[span.span_id]):
                raise
    declare(builder, (tree.spans[span_id] for span_id in order))
    for edge in activations.edges():
        if edge.kind is EdgeKind.CONVERSATION:
            message = texts.of_heads[edge.head.span_id].output
            builder.add(message_step(edge, message), edge.caller, channel=channel)
    failures = failures_in(made)
    builder.failure = "" if failures.of_run is None else failures.of_run.thrown.text
    builder.task, builder.answer = texts.task, "" if builder.failure else texts.answer
    if failures.orphans:
        builder.warn(f"{ORPHANS} {len(failures.orphans)} spans ({', '.join(failures.orphans[:MAX_NAMED])})")


def _services(tree: SpanTree) -> TeamReading:
    """Every span as the work of its service, without those that serve the card of an A2A agent."""
    cards = {each.span_id for span in tree.spans.values() if span.serves_card for each in (span, *tree.below(span))}
    working = {span_id: span for span_id, span in tree.spans.items() if span_id not in cards}
    return TeamReading(
        {span_id: Reading(Act.AGENT, span.service, failed=span.failed) for span_id, span in working.items()}
    )
