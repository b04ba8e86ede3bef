"""Latency: no participant can make itself quick, or another slow, by claims about its calls."""

from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from concord.trace.attributes import AGENT_NAME
from concord.trace.report import Channel, Report
from concord.trace.step import InteractionStep
from concord.trace.stored_step import Step
from concord_evaluator.aggregate import make_row
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.pipeline import verdict_on
from tests.kit.arbitrary import AGENTS, reports
from tests.kit.traces import call, model_of, reported_by
from tests.kit.trials import batch, carried, evaluated, plan

LATENCIES = [None, *range(10), 2**63 - 1]
"""The latencies that `arbitrary.reports` draws."""

OTHERS = st.lists(st.integers(0, 10**9), min_size=len(LATENCIES), max_size=len(LATENCIES), unique=True).map(
    lambda values: dict(zip(LATENCIES, values, strict=True))
)


def with_latencies(step: InteractionStep, latencies: Mapping[int | None, int]) -> InteractionStep:
    """The step with another latency, also in the steps within it."""
    changes: dict[str, object] = {"latency": latencies[step.latency]}
    invocation = None if step.step_action is None else step.step_action.agent_invocation
    if invocation is not None and invocation.response_trace is not None:
        inner = [with_latencies(each, latencies) for each in invocation.response_trace.steps]
        trace = invocation.response_trace.model_copy(update={"steps": inner})
        changes["step_action"] = {"agent_invocation": invocation.model_copy(update={"response_trace": trace})}
    return InteractionStep.model_validate(step.model_dump() | changes)


@st.composite
def live_reports(draw: st.DrawFn) -> Report:
    """A report of a live trial: the gateway records no steps of a callee within its own, and names each caller."""
    report = draw(reports())
    if report.channel is not Channel.OBSERVED:
        return report
    step = model_of(report).model_dump()
    step["step_action"]["agent_invocation"]["response_trace"] = None
    step["additional_attributes"][AGENT_NAME] = draw(st.sampled_from(AGENTS))
    recorded = InteractionStep.model_validate(step)
    return report._replace(step=Step.of(recorded))


def with_claimed_latencies(report: Report, latencies: Mapping[int | None, int]) -> Report:
    if report.channel is Channel.OBSERVED:
        return report
    step = with_latencies(model_of(report), latencies)
    return report._replace(step=Step.of(step))


def figures(claims: Sequence[Report]) -> list[object]:
    """Every figure of a live trial and its row that depends on the duration of a call."""
    team = plan(AGENTS)
    evaluation = evaluated(team, [batch(number, [each]) for number, each in enumerate(claims)])
    row = make_row(team, [verdict_on(team, evaluation, None)], [])
    assert row.detail.trials is not None
    return [
        row.detail.latency_metrics,
        {agent.id: agent.latency_avg_ms for agent in row.detail.agents if agent.latency_avg_ms is not None},
        row.detail.trials[0].latency,
        links_of(evaluation),
        [finding for finding in evaluation.findings if finding.id == "slow_link"],
        sorted((each.step_id, each.duration_ms) for each in evaluation.calls if each.duration_ms is not None),
        [each.value for each in evaluation.metrics if each.id == "critical_path_ms"],
    ]


def links_of(evaluation: TrialEvaluation) -> dict[tuple[str, str], float]:
    return {
        (each.caller, each.callee): each.latency_avg_ms
        for each in evaluation.interactions
        if each.latency_avg_ms is not None
    }


@settings(max_examples=30, deadline=None)
@given(st.lists(live_reports(), max_size=8), OTHERS)
def test_claimed_latencies_do_not_change_the_figures_of_a_live_trial(
    claims: list[Report], latencies: Mapping[int | None, int]
) -> None:
    assert figures(claims) == figures([with_claimed_latencies(each, latencies) for each in claims])


def test_claims_do_not_make_another_agent_the_slowest() -> None:
    """One participant reports calls to another that took a day each, past the proxy and through it."""
    observed = [
        batch(0, carried(1, "A", "B", latency=10)),
        batch(1, carried(2, "A", "C", latency=500)),
        batch(2, carried(3, "B", "D", latency=12)),
        batch(3, carried(4, "C", "D", latency=11)),
    ]
    slander = [call(f"{number:016x}", "B", latency=86_400_000) for number in range(200)]
    slander.append(call("0001", "B", latency=86_400_000))
    evaluation = evaluated(plan(AGENTS), [*observed, batch(4, reported_by("A", *slander, authenticated=True))])
    assert evaluation.latency is not None
    assert (evaluation.latency.n, evaluation.latency.slowest_agent) == (4, "C")
    assert links_of(evaluation)["A", "B"] == 10
    [slow] = [finding for finding in evaluation.findings if finding.id == "slow_link"]
    assert (slow.agents, slow.step_ids) == (["A", "C"], ["0002"])
