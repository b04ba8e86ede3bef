"""Steps, reports and rosters for tests, with only the fields that a test needs."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from msgspec import to_builtins

from concord.trace.report import Channel, Report
from concord.trace.step import AgentInvocation, CallType, InteractionStep, ResponseTrace, StepAction
from concord.trace.stored_step import Step
from concord.trust.proxy_urls import proxy_url
from concord.wire.roster import Roster, RosterEntry
from concord_evaluator.trace import Evidence, Projection, project

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
RECEIVED_AT = datetime(2026, 1, 1, tzinfo=UTC)


def url_of(agent: str) -> str:
    return f"http://{agent}.test:9009"


def proxied(agent: str) -> str:
    """The agent's address at the proxy, in its stored form."""
    return proxy_url("http://gateway.test:9009", agent)


def roster(*agents: str) -> Roster:
    return Roster(RosterEntry(id=agent, url=url_of(agent), aliases=(proxied(agent),)) for agent in agents)


def call(
    step_id: str,
    callee: str,
    *,
    parent: str | None = None,
    answer: Iterable[InteractionStep] = (),
    attributes: Mapping[str, str] | None = None,
    url: str | None = None,
    request: str = "",
    trace_id: str = TRACE_ID,
    error: str | None = None,
    latency: int | None = None,
    start_time: datetime | None = None,
    end_time: datetime | None = None,
) -> InteractionStep:
    """A call of the agent `callee`; `answer`: the steps that came with its reply."""
    nested = list(answer)
    return InteractionStep(
        step_id=step_id,
        trace_id=trace_id,
        parent_step_id=parent,
        call_type=CallType.AGENT,
        step_action=StepAction(
            agent_invocation=AgentInvocation(
                agent_url=url_of(callee) if url is None else url,
                agent_name=callee,
                requests={"text": request} if request else None,
                response_trace=ResponseTrace(trace_id=trace_id, steps=nested) if nested else None,
            )
        ),
        additional_attributes=dict(attributes or {}),
        error=error,
        latency=latency,
        start_time=start_time,
        end_time=end_time,
    )


def tool(step_id: str, *, parent: str | None = None, attributes: Mapping[str, str] | None = None) -> InteractionStep:
    return InteractionStep(
        step_id=step_id,
        trace_id=TRACE_ID,
        parent_step_id=parent,
        call_type=CallType.TOOL,
        additional_attributes=dict(attributes or {}),
    )


def reported_by(
    reporter: str, *steps: InteractionStep, channel: Channel = Channel.HTTP, authenticated: bool = False
) -> list[Report]:
    return [Report(Step.of(step), reporter, authenticated, channel, RECEIVED_AT) for step in steps]


def observed(reporter: str, *steps: InteractionStep) -> list[Report]:
    return reported_by(reporter, *steps, channel=Channel.OBSERVED, authenticated=True)


def edges(projection: Projection) -> list[tuple[str, str]]:
    return [(call.caller, call.callee) for call in projection.interactions]


def projected(
    *reports: list[Report], agents: Iterable[str] = "ABC", evidence: Evidence = "any", observed: bool = False
) -> Projection:
    return project([report for batch in reports for report in batch], roster(*agents), evidence, observed=observed)


def model_of(report: Report) -> InteractionStep:
    """The step of a report, as its agent made it."""
    return InteractionStep.model_validate(to_builtins(report.step))
