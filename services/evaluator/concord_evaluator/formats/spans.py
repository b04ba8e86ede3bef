"""From spans to steps: which agent each span belongs to, and which of them are calls from one agent to another."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from concord.trace.otlp import Span, to_step, without_internals
from concord.trace.report import Channel
from concord.trace.step import AgentInvocation, CallType, InteractionStep, StepAction
from concord_evaluator.formats.source import Source
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder, all_built

UNNAMED_SERVICE: Final = "unknown_service"
"""What OpenTelemetry calls a service that does not say what it is called."""


@dataclass(frozen=True, slots=True)
class ReadSpan:
    """A span, the line that it was read from, and what it says itself about whose it is.

    `agent`: the agent it names, whose work it is or, in a call, who was called; empty where it names none. `awaits`:
    whether it is the caller's side of the invocation of an agent that works elsewhere.
    """

    span: Span
    line: int
    service: str
    agent: str
    awaits: bool

    @classmethod
    def of(cls, span: Span, line: int) -> "ReadSpan":
        """What `span` says."""
        called = span.callee
        return cls(span, line, span.service or UNNAMED_SERVICE, span.agent or called, span.client and bool(called))


@dataclass(frozen=True, slots=True)
class _Place:
    """The agent that a span belongs to. `awaiting`: under the invocation of it, still on the caller's side."""

    agent: str
    service: str
    awaiting: bool


def traces_of(
    spans: Iterable[ReadSpan], source: Source, channel: Channel, warnings: Iterable[str] = ()
) -> Iterator[Trace]:
    """The traces that spans (in any order) make up, in the order in which they first appear.

    One that cannot be a step is a record that cannot be read. Raises FormatError where there are none.
    """
    by_trace: defaultdict[str, list[ReadSpan]] = defaultdict(list)
    for each in spans:
        by_trace[each.span.trace_id].append(each)
    if not by_trace and not source.left_out:
        raise source.error("holds no spans")
    while by_trace:
        trace_id = next(iter(by_trace))
        of_one = by_trace.pop(trace_id)
        with source.record(of_one[0].line):
            builder = TraceBuilder(trace_id, Origin(source.name, of_one[0].line))
            for warning in warnings:
                builder.warn(warning)
            _take(builder, of_one, source, channel)
            yield from all_built([builder], source)


def _take(builder: TraceBuilder, spans: list[ReadSpan], source: Source, channel: Channel) -> None:
    places = _places(_by_id(spans), _sole_agents(spans))
    visible = list(without_internals(each.span for each in spans))
    if len(visible) < len(spans):
        builder.warn(f"{len(spans) - len(visible)} spans of a library's insides are left out")
    lines = {each.span.span_id: each.line for each in spans}
    for span in visible:
        with source.record(lines[span.span_id]):
            agent = places[span.span_id].agent
            caller = places[span.parent_id].agent if span.parent_id in places else agent
            step = _step(span, caller, agent)
            builder.declare(agent)
            builder.add(step, caller, channel=channel)


def _by_id(spans: Iterable[ReadSpan]) -> dict[str, ReadSpan]:
    """Each span by its id; of several that share one (and so will conflict), the least, whatever their order."""
    by_id: dict[str, ReadSpan] = {}
    for each in spans:
        known = by_id.setdefault(each.span.span_id, each)
        if each is not known and _rank(each) < _rank(known):
            by_id[each.span.span_id] = each
    return by_id


def _rank(each: ReadSpan) -> tuple[str, str, bool, str]:
    """All that a place depends on."""
    return each.service, each.agent, each.awaits, each.span.parent_id


def _sole_agents(spans: Iterable[ReadSpan]) -> dict[str, str]:
    """By service, the one agent that works in it; services with several, or none, are not there."""
    named: defaultdict[str, set[str]] = defaultdict(set)
    for each in spans:
        if each.agent and not each.awaits:
            named[each.service].add(each.agent)
    return {service: next(iter(agents)) for service, agents in named.items() if len(agents) == 1}


def _places(by_id: Mapping[str, ReadSpan], sole_agents: Mapping[str, str]) -> dict[str, _Place]:
    """The place of each span, parents first. In a circle of parents, the first span by its id is taken to have none."""
    places: dict[str, _Place] = {}
    for span_id in sorted(by_id):
        chain: dict[str, None] = {}
        current = span_id
        while current in by_id and current not in places and current not in chain:
            chain[current] = None
            current = by_id[current].span.parent_id
        for each in reversed(chain):
            places[each] = _place(by_id[each], places.get(by_id[each].span.parent_id), sole_agents)
    return places


def _place(each: ReadSpan, parent: _Place | None, sole_agents: Mapping[str, str]) -> _Place:
    """The agent a span names; else that of the span above it in its service, or of the invocation it answers.

    What is left belongs to the one agent that works in its service or, where there is none or are several, to the
    service as a whole.
    """
    if each.agent:
        return _Place(each.agent, each.service, each.awaits)
    if parent is not None and parent.service == each.service:
        return parent
    if parent is not None and parent.awaiting:
        return _Place(parent.agent, each.service, awaiting=False)
    return _Place(sole_agents.get(each.service, each.service), each.service, awaiting=False)


def _step(span: Span, caller: str, agent: str) -> InteractionStep:
    """A call where the span belongs to another agent than the one above it; else an agent's own work or tool."""
    step = to_step(span)
    if caller != agent:
        call = step.agent_call or AgentInvocation()
        action = StepAction(agent_invocation=call.model_copy(update={"agent_name": agent}))
        attributes = {name: value for name, value in step.additional_attributes.items() if name != "call_type"}
        changes = {"call_type": CallType.AGENT, "step_action": action, "additional_attributes": attributes}
        return step.model_copy(update=changes)
    if step.kind is CallType.AGENT:
        return step.model_copy(update={"call_type": CallType.HOST, "step_action": None})
    return step
