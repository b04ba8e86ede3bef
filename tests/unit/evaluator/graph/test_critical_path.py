"""The critical path: work, span and handover, against values computed by hand."""

import pytest

from concord.assessment.results import MetricStatus
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.graph import AgentGraph
from concord_evaluator.metrics import measure
from tests.kit.traces import call, observed, reported_by
from tests.unit.evaluator.timed import graph_of_reports, timed, value_of, values_of


def figures(graph: AgentGraph) -> list[float | None]:
    return [value_of(graph, each) for each in ("critical_path_ms", "critical_path_share", "parallelism")]


def critical(graph: AgentGraph) -> set[str]:
    return {graph.calls[index].step_id for index in graph.critical_path.calls}


def test_sequential_calls_are_all_critical() -> None:
    graph = graph_of_reports(reported_by("A", timed("1", "B", 0, 2), timed("2", "C", 2, 3)))
    assert figures(graph) == [5000.0, 1.0, 1.0]
    assert critical(graph) == {"1", "2"}


def test_of_parallel_calls_only_the_longest_is_critical() -> None:
    graph = graph_of_reports(reported_by("A", timed("1", "B", 0, 2), timed("2", "C", 1, 3)))
    assert figures(graph) == pytest.approx([3000.0, 3 / 5, 5 / 3])
    assert critical(graph) == {"2"}


def test_time_spent_waiting_for_other_calls_is_no_work() -> None:
    # B takes 10 s: it waits 6 s for C and, at the same time, 2 s for A, and works 4 s itself.
    inner = reported_by("B", timed("2", "C", 101, 6, parent="1"), timed("3", "A", 103, 2, parent="1"))
    graph = graph_of_reports(reported_by("A", timed("1", "B", 0, 10)), inner)
    assert figures(graph) == pytest.approx([10_000.0, 10 / 12, 12 / 10])
    assert critical(graph) == {"1", "2"}


def test_the_longest_chain_of_calls_is_critical() -> None:
    steps = [
        timed("1", "B", 0, 4),
        timed("2", "C", 1, 4),
        timed("3", "B", 4, 4),
        timed("4", "C", 5, 1),
        timed("5", "B", 8, 1),
    ]
    graph = graph_of_reports(reported_by("A", *steps))
    assert critical(graph) == {"1", "3", "5"}
    assert value_of(graph, "critical_path_ms") == 9000.0


def test_clocks_of_different_agents_do_not_order_calls() -> None:
    graph = graph_of_reports(reported_by("A", timed("1", "B", 0, 2)), reported_by("C", timed("2", "B", 500, 3)))
    assert figures(graph) == pytest.approx([3000.0, 3 / 5, 5 / 3])


def test_clock_skew_changes_no_figure() -> None:
    def graph(skew: float) -> AgentGraph:
        inner = reported_by("B", timed("2", "C", skew + 1, 6, parent="1"))
        return graph_of_reports(reported_by("A", timed("1", "B", 0, 10)), inner)

    assert figures(graph(0)) == figures(graph(-10_000)) == figures(graph(10_000)) == [10_000.0, 1.0, 1.0]


def test_a_call_that_outlasts_its_parent_counts_in_full() -> None:
    graph = graph_of_reports(
        reported_by("A", timed("1", "B", 0, 1)), reported_by("B", timed("2", "C", 0, 5, parent="1"))
    )
    assert value_of(graph, "critical_path_ms") == 5000.0


def test_calls_without_times_make_the_metric_approximate() -> None:
    graph = graph_of_reports(reported_by("A", timed("1", "B", 0, 2), call("2", "C")))
    (record,) = measure(graph, {"critical_path_ms": {}})
    assert (record.value, record.status, record.n) == (2000.0, MetricStatus.APPROXIMATE, 1)
    assert record.reason == "not every call says when and how long"


@pytest.mark.parametrize(("seconds", "reason"), [(None, "no call says how long it took"), (0.0, "no time passed")])
def test_without_durations_there_is_no_parallelism(seconds: float | None, reason: str) -> None:
    (record,) = measure(graph_of_reports(reported_by("A", timed("1", "B", 0, seconds))), {"parallelism": {}})
    assert (record.value, record.reason) == (None, reason)


def test_the_critical_path_begins_with_the_assessors_call() -> None:
    graph = graph_of_reports(
        observed(GREEN_AGENT, timed("g", "A", 0, 10)), reported_by("A", timed("1", "B", 1, 4, parent="g"))
    )
    assert value_of(graph, "critical_path_ms") == 10_000.0
    assert critical(graph) == {"g", "1"}


def test_a_handover_is_a_change_of_callee_between_successive_calls() -> None:
    steps = [timed("1", "B", 0, 1), timed("2", "B", 1, 1), timed("3", "C", 2, 1), timed("4", "B", 3, 1)]
    graph = graph_of_reports(reported_by("A", *steps))
    assert value_of(graph, "handover_ratio") == pytest.approx(2 / 3)
    assert values_of(graph, "handover_of_work") == pytest.approx({"A": 0.0, "B": 1 / 3, "C": 1 / 3})


def test_without_start_times_there_is_no_handover_ratio() -> None:
    graph = graph_of_reports(reported_by("A", call("1", "B"), call("2", "C")))
    (record,) = measure(graph, {"handover_ratio": {}})
    assert (record.value, record.reason) == (None, "fewer than two calls say when they began")
