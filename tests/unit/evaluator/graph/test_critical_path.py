"""Work, span and handover: values by hand."""

import pytest

from concord.assessment.results import MetricStatus
from concord.assessment.roster import GREEN_AGENT
from concord_evaluator.graph import AgentGraph
from concord_evaluator.metrics import measure
from tests.unit.evaluator.timed import graph_of_reports, timed, value_of, values_of
from tests.unit.evaluator.traces import call, observed, told


def figures(graph: AgentGraph) -> list[float | None]:
    return [value_of(graph, each) for each in ("critical_path_ms", "critical_path_share", "parallelism")]


def critical(graph: AgentGraph) -> set[str]:
    return {graph.calls[index].step_id for index in graph.critical_path.calls}


def test_one_after_the_other_all_of_it_is_critical() -> None:
    graph = graph_of_reports(told("A", timed("1", "B", 0, 2), timed("2", "C", 2, 3)))
    assert figures(graph) == [5000.0, 1.0, 1.0]
    assert critical(graph) == {"1", "2"}


def test_side_by_side_only_the_longest_is() -> None:
    graph = graph_of_reports(told("A", timed("1", "B", 0, 2), timed("2", "C", 1, 3)))
    assert figures(graph) == pytest.approx([3000.0, 3 / 5, 5 / 3])
    assert critical(graph) == {"2"}


def test_waiting_for_others_is_no_work() -> None:
    # B takes 10 s, of which it waits 6 s for C and 2 s for A at once, and works 4 s itself.
    inner = told("B", timed("2", "C", 101, 6, parent="1"), timed("3", "A", 103, 2, parent="1"))
    graph = graph_of_reports(told("A", timed("1", "B", 0, 10)), inner)
    assert figures(graph) == pytest.approx([10_000.0, 10 / 12, 12 / 10])
    assert critical(graph) == {"1", "2"}


def test_the_best_chain_of_several_is_found() -> None:
    steps = [
        timed("1", "B", 0, 4),
        timed("2", "C", 1, 4),
        timed("3", "B", 4, 4),
        timed("4", "C", 5, 1),
        timed("5", "B", 8, 1),
    ]
    graph = graph_of_reports(told("A", *steps))
    assert critical(graph) == {"1", "3", "5"}
    assert value_of(graph, "critical_path_ms") == 9000.0


def test_clocks_of_different_agents_put_nothing_in_order() -> None:
    graph = graph_of_reports(told("A", timed("1", "B", 0, 2)), told("C", timed("2", "B", 500, 3)))
    assert figures(graph) == pytest.approx([3000.0, 3 / 5, 5 / 3])


def test_a_clock_that_is_behind_changes_nothing() -> None:
    def graph(skew: float) -> AgentGraph:
        inner = told("B", timed("2", "C", skew + 1, 6, parent="1"))
        return graph_of_reports(told("A", timed("1", "B", 0, 10)), inner)

    assert figures(graph(0)) == figures(graph(-10_000)) == figures(graph(10_000)) == [10_000.0, 1.0, 1.0]


def test_what_outlives_the_call_it_was_made_in_counts_in_full() -> None:
    graph = graph_of_reports(told("A", timed("1", "B", 0, 1)), told("B", timed("2", "C", 0, 5, parent="1")))
    assert value_of(graph, "critical_path_ms") == 5000.0


def test_calls_that_say_no_time_make_it_approximate() -> None:
    graph = graph_of_reports(told("A", timed("1", "B", 0, 2), call("2", "C")))
    (record,) = measure(graph, {"critical_path_ms": {}})
    assert (record.value, record.status, record.n) == (2000.0, MetricStatus.APPROXIMATE, 1)
    assert record.reason == "not every call says when and how long"


@pytest.mark.parametrize(("seconds", "reason"), [(None, "no call says how long it took"), (0.0, "no time passed")])
def test_without_any_time_there_is_no_parallelism(seconds: float | None, reason: str) -> None:
    (record,) = measure(graph_of_reports(told("A", timed("1", "B", 0, seconds))), {"parallelism": {}})
    assert (record.value, record.reason) == (None, reason)


def test_the_assessors_calls_are_where_work_begins() -> None:
    graph = graph_of_reports(
        observed(GREEN_AGENT, timed("g", "A", 0, 10)), told("A", timed("1", "B", 1, 4, parent="g"))
    )
    assert value_of(graph, "critical_path_ms") == 10_000.0
    assert critical(graph) == {"g", "1"}


def test_work_changes_hands_where_another_agent_answers_the_next_call() -> None:
    steps = [timed("1", "B", 0, 1), timed("2", "B", 1, 1), timed("3", "C", 2, 1), timed("4", "B", 3, 1)]
    graph = graph_of_reports(told("A", *steps))
    assert value_of(graph, "handover_ratio") == pytest.approx(2 / 3)
    assert values_of(graph, "handover_of_work") == pytest.approx({"A": 0.0, "B": 1 / 3, "C": 1 / 3})


def test_without_starts_nobody_takes_over_from_anybody() -> None:
    graph = graph_of_reports(told("A", call("1", "B"), call("2", "C")))
    (record,) = measure(graph, {"handover_ratio": {}})
    assert (record.value, record.reason) == (None, "fewer than two calls say when they began")
