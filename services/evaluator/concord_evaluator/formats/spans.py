"""From spans to steps: which agent each span belongs to, and which of them are calls from one agent to another."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from concord.assessment.roster import UNKNOWN_AGENT
from concord.trace.attributes import EDGE_KIND, EdgeKind
from concord.trace.otlp import (
    Act,
    Reading,
    Span,
    SpanTree,
    TeamReading,
    check_ids,
    conversations_of,
    names_agents,
    read_team,
    to_step,
    without_internals,
)
from concord.trace.report import Channel
from concord.trace.step import AgentInvocation, CallType, InteractionStep, StepAction
from concord_evaluator.formats.activations import Activation, agent_id, find_activations
from concord_evaluator.formats.source import Source, UnrecognisedError
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder, all_built

UNNAMED_SERVICE: Final = "unknown_service"
"""OpenTelemetry's name for a service without a name."""

MAX_SEEN: Final = 5
"""Names of spans that the message about unrecognised spans lists."""

DOCS: Final = "docs/frameworks.md"


@dataclass(frozen=True, slots=True)
class ReadSpan:
    """A span and its line."""

    span: Span
    line: int

    @classmethod
    def of(cls, span: Span, line: int) -> "ReadSpan":
        """Names the service of a span without one."""
        return cls(span if span.service else replace(span, service=UNNAMED_SERVICE), line)


@dataclass(frozen=True, slots=True)
class _Run:
    """The spans of one trace, or of several traces of a conversation. `reading` names agents, unless it is empty."""

    trace_id: str
    spans: list[ReadSpan]
    n_traces: int
    tree: SpanTree
    reading: TeamReading


def traces_of(
    spans: Iterable[ReadSpan],
    source: Source,
    channel: Channel,
    warnings: Iterable[str] = (),
    *,
    services_are_agents: bool = False,
) -> Iterator[Trace]:
    """The traces of spans (in any order), in the order of their first spans. Traces of one conversation are joined.

    Services are the agents of a trace in which no span names an agent, if several services have spans, or if
    `services_are_agents`. A span that cannot become a step counts as an unreadable record. Raises FormatError if there
    are no spans; UnrecognisedError if no trace has agents.
    """
    by_trace: defaultdict[str, list[ReadSpan]] = defaultdict(list)
    for each in spans:
        with source.record(each.line):
            check_ids(each.span)
            by_trace[each.span.trace_id].append(each)
    if not by_trace and not source.left_out:
        raise source.error("no spans found")
    runs = [_run(group, by_trace) for group in _conversations(by_trace)]
    usable = [run for run in runs if services_are_agents or _has_agents(run)]
    if runs and not usable:
        raise UnrecognisedError(source.name, None, _unrecognised(runs))
    idle = [run for run in runs if run not in usable]
    notes = [*warnings, *([_beside(idle)] if idle else [])]
    fragments: list[str] = []
    n_yielded = 0
    for run in usable:
        if not services_are_agents and (reason := _fragment(run)):
            fragments.append(reason)
            continue
        with source.record(run.spans[0].line):
            builder = TraceBuilder(run.trace_id, Origin(source.name, run.spans[0].line))
            for note in (*notes, *fragments):
                builder.warn(note)
            if run.n_traces > 1:
                builder.warn(f"{run.n_traces} traces of one conversation are joined")
            _take(builder, run, source, channel)
            n_yielded += 1
            yield from all_built([builder], source)
    if fragments and not n_yielded:
        raise UnrecognisedError(source.name, None, f"{fragments[0]}; see {DOCS}")


def _conversations(by_trace: Mapping[str, Sequence[ReadSpan]]) -> list[list[str]]:
    """The trace ids, those of one conversation together."""
    group_of: dict[str, list[str]] = {}
    groups: list[list[str]] = []
    for trace_id, spans in by_trace.items():
        named = conversations_of(each.span for each in spans)
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


def _run(trace_ids: Sequence[str], by_trace: Mapping[str, list[ReadSpan]]) -> _Run:
    first = trace_ids[0]
    spans = [
        each if each.span.trace_id == first else ReadSpan(replace(each.span, trace_id=first), each.line)
        for trace_id in trace_ids
        for each in by_trace[trace_id]
    ]
    visible = without_internals([each.span for each in spans])
    tree = SpanTree(_by_id(visible))
    reading = read_team(tree)
    return _Run(first, spans, len(trace_ids), tree, reading if names_agents(reading) else TeamReading({}))


def _has_agents(run: _Run) -> bool:
    return bool(run.reading.spans) or len({span.service for span in run.tree.spans.values()}) > 1


def _unrecognised(runs: Iterable[_Run]) -> str:
    """The message about spans without agents: `0 agents recognised in 82 spans (68 host, 14 tool); seen: …`."""
    spans = [span for run in runs for span in run.tree.spans.values()]
    reads = [read_team(run.tree) for run in runs]
    tools = sum(each.act in {Act.TOOL, Act.MODEL} for read in reads for each in read.spans.values())
    seen = Counter(f"{span.scope or 'no scope'}: {span.name}" for span in spans).most_common(MAX_SEEN)
    return (
        f"0 agents recognised in {len(spans)} spans ({len(spans) - tools} host, {tools} tool); "
        f"seen: {', '.join(f'{name} ({count})' for name, count in seen)}; see {DOCS}"
    )


def _beside(idle: Sequence[_Run]) -> str:
    spans = sum(len(run.spans) for run in idle)
    traces = sum(run.n_traces for run in idle)
    return f"traces of the file without any agent, left out: {traces} (spans: {spans})"


def _fragment(run: _Run) -> str:
    """Why no figure can be computed for a trace; "" if nothing speaks against it.

    The trace names agents whose work it does not contain, or it has several parts that lack a parent and at most one
    edge. (A whole trace may lack one parent, if its client exports no spans.)
    """
    reading, tree = run.reading, run.tree.spans
    if reading.unseen:
        return f"trace {run.trace_id}: no span tells the work of {', '.join(reading.unseen)}"
    tops = [span for span in tree.values() if span.parent_id not in tree]
    missing = sum(bool(top.parent_id) for top in tops)
    if not reading.spans or not missing or len({top.parent_id for top in tops}) == 1:
        return ""
    edges = list(find_activations(run.tree, reading, _parents_first(tree)).edges())
    if len(edges) > 1:
        return ""
    calls = "1 call" if edges else "no call"
    lost = f"the parents of {missing} of its {len(tree)} spans are missing"
    return f"trace {run.trace_id} is a fragment with {calls}: {lost}"


def _take(builder: TraceBuilder, run: _Run, source: Source, channel: Channel) -> None:
    tree = run.tree
    if len(tree.spans) < len({each.span.span_id for each in run.spans}):
        ignored = len(run.spans) - len(list(without_internals(each.span for each in run.spans)))
        builder.warn(f"{ignored} internal spans of the a2a-python-sdk library were ignored")
    order = _parents_first(tree.spans)
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


def _by_id(spans: Iterable[Span]) -> dict[str, Span]:
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
    return (*map(str, facts), str(sorted(span.attributes.items())))


def _parents_first(spans: Mapping[str, Span]) -> list[str]:
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
