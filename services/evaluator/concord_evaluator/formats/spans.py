"""From spans to steps: which agent each span belongs to, and which of them are calls from one agent to another."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from concord.assessment.roster import UNKNOWN_AGENT
from concord.trace.attributes import EDGE_KIND, EdgeKind
from concord.trace.otlp import Act, Reading, Span, SpanTree, TeamReading, check_ids, to_step, without_internals
from concord.trace.report import Channel
from concord.trace.step import AgentInvocation, CallType, InteractionStep, StepAction
from concord_evaluator.formats.activations import Activation, agent_id, find_activations
from concord_evaluator.formats.source import Source, UnrecognisedError
from concord_evaluator.formats.span_runs import ReadSpan, Run, parents_first, runs_of, usable_runs
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder, all_built

DOCS: Final = "docs/frameworks.md"


def traces_of(
    spans: Iterable[ReadSpan],
    source: Source,
    channel: Channel,
    warnings: Iterable[str] = (),
    *,
    services_are_agents: bool = False,
) -> Iterator[Trace]:
    """The traces of spans (in any order), in the order of their first spans. Traces of one conversation are joined.

    Services are the agents of a trace in which no span names an agent, if one of them calls another, or if
    `services_are_agents`. A span that cannot become a step counts as an unreadable record. Raises FormatError if there
    are no spans; UnrecognisedError if no trace has agents, or all are fragments.
    """
    by_trace: defaultdict[str, list[ReadSpan]] = defaultdict(list)
    for each in spans:
        with source.record(each.line):
            check_ids(each.span)
            by_trace[each.span.trace_id].append(each)
    if not by_trace and not source.left_out:
        raise source.error("no spans found")
    notes = list(warnings)
    runs = runs_of(by_trace)
    if not services_are_agents:
        runs, faults = usable_runs(runs)
        if faults and not runs:
            raise UnrecognisedError(source.name, None, f"{faults[0]}; see {DOCS}")
        notes += faults
    for run in runs:
        with source.record(run.spans[0].line):
            builder = TraceBuilder(run.trace_id, Origin(source.name, run.spans[0].line))
            for note in notes:
                builder.warn(note)
            if run.n_traces > 1:
                builder.warn(f"{run.n_traces} traces of one conversation are joined")
            _take(builder, run, source, channel)
            yield from all_built([builder], source)


def _take(builder: TraceBuilder, run: Run, source: Source, channel: Channel) -> None:
    tree = run.tree
    if len(tree.spans) < len({each.span.span_id for each in run.spans}):
        ignored = len(run.spans) - len(list(without_internals(each.span for each in run.spans)))
        builder.warn(f"{ignored} internal spans of the a2a-python-sdk library were ignored")
    order = parents_first(tree.spans)
    reading = run.reading if run.reading.spans else _services(tree)
    activations = find_activations(tree, reading, order)
    lines = {each.span.span_id: each.line for each in run.spans}
    for agent in sorted({agent for members in activations.conversations for agent in members}):
        builder.declare(agent)
    for span in without_internals(each.span for each in run.spans):
        with source.record(lines[span.span_id]):
            activation = activations.of_span[span.span_id]
            read = reading.spans.get(span.span_id)
            told = span if read is None or read.failed == span.failed else replace(span, failed=read.failed)
            steps = list(_steps(told, activation))
            if activation is not None:
                builder.declare(activation.agent)
            for reporter, step in steps:
                builder.add(step, reporter, channel=channel)
    for edge in activations.edges():
        if edge.kind is EdgeKind.CONVERSATION:
            builder.add(_message(edge.head, edge.callee), edge.caller, channel=channel)


def _services(tree: SpanTree) -> TeamReading:
    """Every span as the work of its service."""
    return TeamReading(
        {span_id: Reading(Act.AGENT, span.service, failed=span.failed) for span_id, span in tree.spans.items()}
    )


def _steps(span: Span, activation: Activation | None) -> Iterator[tuple[str, InteractionStep]]:
    """The steps of a span, each with its reporter: a call of each agent that asked, otherwise work or a tool's use."""
    step = to_step(span)
    if activation is None:
        yield UNKNOWN_AGENT, _work(step)
        return
    head = activation.head.span_id == span.span_id
    asked_by = [(caller.agent, kind) for caller, kind in activation.asked_by if caller.agent != activation.agent]
    if not head or not asked_by:
        yield activation.agent, _work(step)
        return
    for number, (caller, kind) in enumerate(asked_by):
        yield caller, _call(step, activation.agent, kind, f"-{number}" if number else "")


def _work(step: InteractionStep) -> InteractionStep:
    if step.kind is CallType.AGENT:
        return step.model_copy(update={"call_type": CallType.HOST, "step_action": None})
    return step


def _call(step: InteractionStep, callee: str, kind: EdgeKind, suffix: str) -> InteractionStep:
    """The step as a call of an agent. `suffix`: of the ids of further calls by the same span."""
    call = step.agent_call or AgentInvocation()
    action = StepAction(agent_invocation=call.model_copy(update={"agent_name": callee}))
    attributes = {name: value for name, value in step.additional_attributes.items() if name != "call_type"}
    if kind is not EdgeKind.DELEGATION:
        attributes[EDGE_KIND] = kind
    changes = {"call_type": CallType.AGENT, "step_action": action, "additional_attributes": attributes}
    return step.model_copy(update={**changes, "step_id": step.step_id + suffix})


def _message(head: Span, heard_by: str) -> InteractionStep:
    """A message of a conversation, at the end of its speaker's work, as one of its members heard it."""
    step = to_step(replace(head, start_ns=head.end_ns, failed=False, attributes={}))
    return _call(step, heard_by, EdgeKind.CONVERSATION, f"-{agent_id(heard_by)[:40]}")
