"""Irregular traces, each from its stored batches to its evaluation."""

from datetime import timedelta

import pytest

from concord.assessment import Mode
from concord.trace.report import Report
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.documents import TrialEvaluation
from tests.kit.traces import RECEIVED_AT, call, observed, reported_by, tool
from tests.kit.trials import batch, evaluated, plan


def evaluation(
    *reports: list[Report], agents: str = "ABC", seen: bool = True, mode: Mode = Mode.LIVE
) -> TrialEvaluation:
    """The evaluation of these reports; `seen`: whether the agents declare that they report."""
    planned = plan(agents, reports=seen).model_copy(update={"mode": mode})
    return evaluated(planned, [batch(number, each) for number, each in enumerate(reports)])


def values(found: TrialEvaluation) -> dict[str, float | None]:
    return {metric.id: metric.value for metric in found.metrics if metric.agent is None}


def edges(found: TrialEvaluation) -> list[tuple[str, str]]:
    return [(each.caller, each.callee) for each in found.interactions]


def test_an_empty_trace_has_only_values_that_are_zero_by_definition() -> None:
    found = evaluation()
    known = {name: value for name, value in values(found).items() if value is not None}
    assert known == {
        "betweenness_centralisation": 0.0,
        "clustering": 0.0,
        "connected_components": 3,
        "degree_centralisation": 0.0,
        "density": 0.0,
        "density_requests": 0.0,
        "global_efficiency": 0.0,
        "max_betweenness": 0.0,
        "messages_per_completed_task": 0,
        "reachable_pairs": 0.0,
    }
    assert {finding.id for finding in found.findings} == {"isolated", "low_density", "silent"}
    assert (found.calls, found.calls_omitted, found.trace_integrity.completeness) == ([], 0, None)


def test_an_empty_trace_of_unobserved_agents_yields_no_values() -> None:
    found = evaluation(seen=False)
    assert set(values(found).values()) == {None}
    assert (found.findings, found.trace_integrity.observability) == ([], "none")
    assert found.structure is not None
    assert (found.structure.density, found.structure.coordination_quality) == (None, None)


def test_agents_whose_calls_could_not_be_seen_are_not_called_silent() -> None:
    found = evaluated(
        plan("ABC", reports=False),
        [batch(1, observed(GREEN_AGENT, call("1", "B", attributes={"agent_name": "A"})))],
    )
    assert {each.agent: each.observability for each in found.trace_integrity.participants} == {
        "A": "full",
        "B": "partly",
        "C": "none",
    }
    assert {finding.id for finding in found.findings} & {"isolated", "silent", "low_density"} == set()


def test_an_empty_team_is_evaluated() -> None:
    found = evaluation(agents="")
    assert {name for name, value in values(found).items() if value is not None} == set()
    assert found.findings == []


def test_a_lone_agent_has_no_coordination() -> None:
    found = evaluation(
        observed(GREEN_AGENT, call("g", "A", latency=5)), reported_by("A", tool("1", parent="g")), agents="A"
    )
    assert found.structure is not None
    assert (found.structure.coordination_quality, found.findings) == (None, [])
    assert values(found)["density"] is None
    assert values(found)["error_rate"] == 0.0


def test_self_calls_are_in_the_timeline_and_not_in_the_graph() -> None:
    found = evaluation(reported_by("A", call("1", "A"), call("2", "B")))
    assert edges(found) == [("A", "B")]
    assert [each.callee for each in found.calls] == ["A", "B"]


def test_a_missing_parent_lowers_completeness_and_keeps_the_call() -> None:
    found = evaluation(reported_by("A", call("1", "B", parent="lost"), call("2", "C")))
    assert edges(found) == [("A", "B"), ("A", "C")]
    assert found.trace_integrity.completeness == 0.5


def test_calls_in_a_cycle_of_parents_are_left_out() -> None:
    found = evaluation(reported_by("A", call("1", "B", parent="2"), call("2", "C", parent="1"), call("3", "B")))
    assert [each.step_id for each in found.calls] == ["3"]


@pytest.mark.parametrize("parent", ["1", "2"])
def test_a_carried_call_stays_whatever_parents_its_caller_claims(parent: str) -> None:
    """The caller chooses the parent of its call, here the call itself or a step that it reports below the call."""
    carried = call("1", "B", parent=parent, attributes={"agent_name": "A"})
    found = evaluation(observed(GREEN_AGENT, carried), reported_by("A", tool("2", parent="1")))
    assert edges(found) == [("A", "B")]


def test_conflicting_variants_are_dropped_and_counted() -> None:
    found = evaluation(
        reported_by("A", call("1", "B")), reported_by("A", call("1", "C")), reported_by("A", call("2", "B"))
    )
    assert edges(found) == [("A", "B")]
    assert found.trace_integrity.conflicting == 2


def test_retries_are_one_call_in_the_graph_and_several_in_the_timeline() -> None:
    found = evaluation(reported_by("A", call("1", "B", error="busy"), call("2", "B", attributes={"retry_of": "1"})))
    assert [(each.calls, each.errors, each.retries) for each in found.interactions] == [(1, 0, 1)]
    assert [each.error for each in found.calls] == ["busy", None]


def test_clock_skew_in_a_recorded_trace_moves_neither_order_nor_durations() -> None:
    def at(skew: timedelta) -> TrialEvaluation:
        outer = call("1", "B", latency=5000, start_time=RECEIVED_AT)
        inner = call("2", "C", parent="1", latency=2000, start_time=RECEIVED_AT + skew)
        return evaluation(reported_by("A", outer), reported_by("B", inner), mode=Mode.RECORDED)

    right, behind, ahead = at(timedelta(seconds=1)), at(timedelta(hours=-3)), at(timedelta(days=400))
    for found in (behind, ahead):
        assert [each.step_id for each in found.calls] == ["1", "2"]
        assert [each.duration_ms for each in found.calls] == [5000.0, 2000.0]
        assert found.metrics == right.metrics
    assert [each.start_ms for each in behind.calls] == [10_800_000.0, 0.0]


def test_a_recorded_step_that_ends_before_it_begins_took_no_time() -> None:
    step = call("1", "B", start_time=RECEIVED_AT, end_time=RECEIVED_AT - timedelta(seconds=9))
    (record,) = evaluation(reported_by("A", step), mode=Mode.RECORDED).calls
    assert (record.start_ms, record.duration_ms) == (0.0, 0.0)


def test_a_caller_that_reports_after_its_callee_is_matched() -> None:
    caller, callee = reported_by("A", call("1", "B")), reported_by("B", call("2", "C", parent="1"))
    late, early = evaluation(callee, caller), evaluation(caller, callee)
    assert late == early
    assert [each.parent_step_id for each in late.calls] == [None, "1"]


def test_an_unknown_caller_causes_a_warning_and_is_no_agent() -> None:
    relayed = reported_by("A", call("1", "B", answer=[call("2", "C", parent="0")]), tool("0"))
    found = evaluation(relayed)
    assert edges(found) == [("A", "B")]
    assert [each.caller for each in found.calls] == ["A", "unknown"]
    assert any("unknown caller or callee" in warning for warning in found.warnings)


def test_mixed_trace_ids_share_no_step_and_no_parent() -> None:
    nested = call("1", "C", parent="9", trace_id="the-callee-started-its-own")
    found = evaluation(reported_by("A", call("1", "B", answer=[nested])))
    assert edges(found) == [("A", "B"), ("B", "C")]
    assert [(each.step_id, each.caller, each.parent_step_id) for each in found.calls] == [
        ("1", "A", None),
        ("1", "B", "1"),
    ]
