"""The evaluation's budget: it bounds the reports that are read, and one reporter's flood does not displace others'
reports."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from concord.assessment.results import MetricStatus
from concord.trace.report import ReportBatch
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.metrics import LEFT_OUT
from concord_evaluator.pipeline import Budget, evaluate_trial
from concord_evaluator.pipeline.evaluators import select_batches
from concord_evaluator.trace.attribution import MAX_UNDECLARED
from tests.kit.traces import call, reported_by, tool, url_of
from tests.kit.trials import answered_by_all, batch, carried, outcome, plan

TEAM = plan("ABC")
OBSERVED = [batch(0, carried(1, "A", "B")), batch(1, carried(2, "B", "C"))]


def evaluated(batches: list[ReportBatch], budget: Budget, refused: dict[str, int] | None = None) -> TrialEvaluation:
    return evaluate_trial(TEAM, answered_by_all(TEAM, outcome()), batches, refused=refused or {}, budget=budget)


@st.composite
def traces(draw: st.DrawFn) -> list[ReportBatch]:
    """Batches of various sizes, from the gateway and from three participants."""
    evaluation = []
    for number in range(draw(st.integers(0, 12))):
        if draw(st.booleans()):
            steps = [tool(f"{number}.{i}") for i in range(draw(st.integers(1, 9)))]
            evaluation.append(batch(number, reported_by(draw(st.sampled_from("ABC")), *steps, authenticated=True)))
        else:
            evaluation.append(batch(number, carried(number, "A", "B")))
    return evaluation


@given(traces(), st.integers(0, 60))
def test_all_observed_batches_are_read_and_reports_within_the_budget(batches: list[ReportBatch], steps: int) -> None:
    reading = select_batches(batches, steps)
    assert [each for each in batches if each.is_observed] == [each for each in reading.batches if each.is_observed]
    assert sum(each.n_steps for each in reading.batches if not each.is_observed) <= steps
    assert sum(each.n_steps for each in batches) == sum(
        [*(each.n_steps for each in reading.batches), *reading.omitted.values()]
    )


@given(traces(), st.integers(3, 60))
def test_a_reporter_within_an_even_share_is_read_whole(batches: list[ReportBatch], steps: int) -> None:
    reported = Counter[str]()
    for each in batches:
        reported[each.reporter] += each.n_steps
    reading = select_batches(batches, steps)
    assert all(reported[account] > steps // 3 for account in reading.omitted)


def test_steps_that_are_not_read_count_as_dropped_with_a_warning() -> None:
    flood = [
        batch(10 + lo, reported_by("A", *[tool(f"{lo}.{i}") for i in range(100)], authenticated=True))
        for lo in range(9)
    ]
    honest = batch(90, reported_by("C", call("c", "B"), authenticated=True))
    evaluation = evaluated([*OBSERVED, *flood, honest], Budget(steps=250), {"B": 7})
    assert evaluation.trace_integrity.dropped == 700 + 7
    assert evaluation.trace_integrity.steps == 2 + 200 + 1
    assert [text for text in evaluation.warnings if "exceeded the limit" in text] == [
        "700 steps of A exceeded the limit and count as dropped",
        "7 steps of B exceeded the limit and count as dropped",
    ]


def test_metrics_after_the_time_limit_are_undefined_and_the_score_is_unchanged() -> None:
    in_time, late = evaluated(OBSERVED, Budget()), evaluated(OBSERVED, Budget(time_is_up=lambda: True))
    assert {(metric.status, metric.reason) for metric in late.metrics} == {(MetricStatus.UNDEFINED, LEFT_OUT)}
    assert {metric.id for metric in late.metrics} == {metric.id for metric in in_time.metrics}
    assert (late.grading, late.latency) == (in_time.grading, in_time.latency)


def test_the_number_of_undeclared_agents_is_bounded() -> None:
    claims = [call(f"c{number}", "", url=url_of(f"x{number}")) for number in range(MAX_UNDECLARED)]
    inner = [tool(f"t{number}", attributes={"agent_name": f"i{number}"}) for number in range(MAX_UNDECLARED)]
    reports = reported_by("A", *claims, authenticated=True), reported_by("C", *inner, authenticated=True)
    evaluation = evaluated([*OBSERVED, *(batch(5 + number, each) for number, each in enumerate(reports))], Budget())
    assert len(evaluation.agents) <= MAX_UNDECLARED + 3
    assert ("A", "B") in {(each.caller, each.callee) for each in evaluation.interactions}
    assert f"{MAX_UNDECLARED} undeclared agents" in " ".join(evaluation.warnings)


def test_reports_under_the_gateways_name_do_not_count_as_observed() -> None:
    flood = batch(7, reported_by(GREEN_AGENT, *[tool(str(i)) for i in range(100)], authenticated=True))
    assert select_batches([*OBSERVED, flood], 10).omitted == {GREEN_AGENT: 100}
