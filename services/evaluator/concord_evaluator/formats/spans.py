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
"""OpenTelemetry's name for a service without a name."""


@dataclass(frozen=True, slots=True)
class ReadSpan:
    """A span, its line, and the agent that it names.

    `agent`: the agent whose work the span is or, in a call, the callee; empty if it names none. `awaits`: whether it is
    the caller's side of the invocation of an agent in another service.
    """

    span: Span
    line: int
    service: str
    agent: str
    awaits: bool

    @classmethod
    def of(cls, span: Span, line: int) -> "ReadSpan":
        """Reads the attributes of `span`."""
        called = span.callee
        return cls(span, line, span.service or UNNAMED_SERVICE, span.agent or called, span.client and bool(called))


@dataclass(frozen=True, slots=True)
class _Owner:
    """The agent that a span belongs to. `awaiting`: whether the span is the caller's side of its invocation."""

    agent: str
    service: str
    awaiting: bool


def traces_of(
    spans: Iterable[ReadSpan], source: Source, channel: Channel, warnings: Iterable[str] = ()
) -> Iterator[Trace]:
    """The traces of spans (in any order), in the order of their first spans.

    A span that cannot become a step counts as an unreadable record. Raises FormatError if there are no spans.
    """
    by_trace: defaultdict[str, list[ReadSpan]] = defaultdict(list)
    for each in spans:
        by_trace[each.span.trace_id].append(each)
    if not by_trace and not source.left_out:
        raise source.error("no spans found")
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
    owners = _owners(_by_id(spans), _sole_agents(spans))
    visible = list(without_internals(each.span for each in spans))
    if len(visible) < len(spans):
        builder.warn(f"{len(spans) - len(visible)} internal spans of the a2a-python-sdk library were ignored")
    lines = {each.span.span_id: each.line for each in spans}
    for span in visible:
        with source.record(lines[span.span_id]):
            agent = owners[span.span_id].agent
            caller = owners[span.parent_id].agent if span.parent_id in owners else agent
            step = _step(span, caller, agent)
            builder.declare(agent)
            builder.add(step, caller, channel=channel)


def _by_id(spans: Iterable[ReadSpan]) -> dict[str, ReadSpan]:
    """The spans by id. Of several with one id, which will conflict, the least, regardless of their order."""
    by_id: dict[str, ReadSpan] = {}
    for each in spans:
        known = by_id.setdefault(each.span.span_id, each)
        if each is not known and _rank(each) < _rank(known):
            by_id[each.span.span_id] = each
    return by_id


def _rank(each: ReadSpan) -> tuple[str, str, bool, str]:
    """The attributes that an owner depends on."""
    return each.service, each.agent, each.awaits, each.span.parent_id


def _sole_agents(spans: Iterable[ReadSpan]) -> dict[str, str]:
    """By service, its agent, for the services with exactly one agent."""
    named: defaultdict[str, set[str]] = defaultdict(set)
    for each in spans:
        if each.agent and not each.awaits:
            named[each.service].add(each.agent)
    return {service: next(iter(agents)) for service, agents in named.items() if len(agents) == 1}


def _owners(by_id: Mapping[str, ReadSpan], sole_agents: Mapping[str, str]) -> dict[str, _Owner]:
    """The owner of each span, parents first. In a cycle of parents, the first span by id counts as the root."""
    owners: dict[str, _Owner] = {}
    for span_id in sorted(by_id):
        chain: dict[str, None] = {}
        current = span_id
        while current in by_id and current not in owners and current not in chain:
            chain[current] = None
            current = by_id[current].span.parent_id
        for each in reversed(chain):
            owners[each] = _owner(by_id[each], owners.get(by_id[each].span.parent_id), sole_agents)
    return owners


def _owner(each: ReadSpan, parent: _Owner | None, sole_agents: Mapping[str, str]) -> _Owner:
    """The agent that a span names; else that of its parent in the same service, or of the invocation that it answers.

    Any other span belongs to the only agent of its service or, if there is none or several, to the service itself.
    """
    if each.agent:
        return _Owner(each.agent, each.service, each.awaits)
    if parent is not None and parent.service == each.service:
        return parent
    if parent is not None and parent.awaiting:
        return _Owner(parent.agent, each.service, awaiting=False)
    return _Owner(sole_agents.get(each.service, each.service), each.service, awaiting=False)


def _step(span: Span, caller: str, agent: str) -> InteractionStep:
    """The span as a call if its agent differs from the agent above; otherwise as work or a tool call of the agent."""
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
