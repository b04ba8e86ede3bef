"""Metrics of teams: values computed by hand, and reasons where there is no value."""

import pytest

from concord.assessment.results import MetricStatus
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.graph import AgentGraph, build_graph
from concord_evaluator.metrics import METRICS, measure
from tests.kit.graphs import (
    Team,
    agents,
    chain,
    complete_dag,
    disjoint_pairs,
    graph_of,
    mesh,
    ring,
    star,
    with_isolated,
)
from tests.kit.traces import call, observed, projected, reported_by


def team_value(graph: AgentGraph, metric_id: str) -> float | None:
    (record,) = measure(graph, {metric_id: {}})
    assert record.agent is None
    assert (record.value is None) == (record.status in {MetricStatus.UNDEFINED, MetricStatus.NOT_APPLICABLE})
    assert (record.value is None) == (record.reason is not None)
    return record.value


def by_agent(graph: AgentGraph, metric_id: str) -> dict[str | None, float | None]:
    return {record.agent: record.value for record in measure(graph, {metric_id: {}})}


@pytest.mark.parametrize(
    ("team", "density", "requests"),
    [
        (mesh(4), 1.0, 1.0),
        (complete_dag(4), 1.0, 0.5),
        (star(5), 8 / 20, 4 / 20),
        (ring(6), 12 / 30, 6 / 30),
        ((agents(3), []), 0.0, 0.0),
    ],
)
def test_density_counts_replies_and_density_of_requests_does_not(team: Team, density: float, requests: float) -> None:
    graph = graph_of(team)
    assert team_value(graph, "density") == pytest.approx(density)
    assert team_value(graph, "density_requests") == pytest.approx(requests)


@pytest.mark.parametrize(
    ("team", "expected"),
    [
        (star(5), 1.0),
        (chain(5), 2 / 3),
        (mesh(5), 0.0),
        (with_isolated(star(4)), 0.5),
        (with_isolated(star(5)), 0.6),
        (ring(4), 1 / 6),
    ],
)
def test_the_maximum_betweenness_matches_values_by_hand(team: Team, expected: float) -> None:
    assert team_value(graph_of(team), "max_betweenness") == pytest.approx(expected, abs=1e-12)


def test_betweenness_is_given_for_each_agent() -> None:
    assert by_agent(graph_of(chain(4)), "betweenness_centrality") == pytest.approx(
        {"a00": 0.0, "a01": 2 / 3, "a02": 2 / 3, "a03": 0.0}
    )


def test_degree_centrality_is_the_share_of_others_an_agent_talks_with() -> None:
    assert by_agent(graph_of(with_isolated(star(4))), "degree_centrality") == pytest.approx(
        {"a00": 0.75, "a01": 0.25, "a02": 0.25, "a03": 0.25, "isolated00": 0.0}
    )


def test_components_are_the_parts_without_messages_between_them() -> None:
    assert team_value(graph_of(disjoint_pairs(5, 2)), "connected_components") == 3
    assert team_value(graph_of(ring(5)), "connected_components") == 1


def test_message_shares_are_at_most_1() -> None:
    assert by_agent(graph_of(star(5)), "message_share") == pytest.approx(
        {"a00": 1.0, "a01": 0.25, "a02": 0.25, "a03": 0.25, "a04": 0.25}
    )
    assert by_agent(graph_of(mesh(4)), "message_share") == pytest.approx(dict.fromkeys(agents(4), 0.5))


def test_load_balance_is_1_for_even_loads_and_low_for_uneven_ones() -> None:
    assert team_value(graph_of(ring(5)), "load_balance") == pytest.approx(1.0)
    assert team_value(graph_of(disjoint_pairs(4, 1)), "load_balance") == pytest.approx(0.5)
    assert team_value(graph_of(star(5)), "load_balance") == pytest.approx(0.7)


def test_the_error_rate_counts_finally_failed_calls_including_the_assessors() -> None:
    steps = [call("1", "B", error="busy"), call("2", "B", attributes={"retry_of": "1"}), call("3", "C", error="down")]
    graph = build_graph(projected(reported_by("A", *steps), observed(GREEN_AGENT, call("g", "A"), call("h", "B"))))
    assert team_value(graph, "error_rate") == pytest.approx(1 / 4)


def test_the_repeat_ratio_counts_only_calls_with_a_text() -> None:
    steps = [call("1", "B", request="x"), call("2", "B", request="x"), call("3", "B", request="y"), call("4", "B")]
    assert team_value(build_graph(projected(reported_by("A", *steps))), "repeat_ratio") == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("team", "metric_ids"),
    [
        ((agents(0), []), ["connected_components", "density", "load_balance", "max_betweenness"]),
        ((agents(1), []), ["degree_centrality", "density", "density_requests", "load_balance", "message_share"]),
        ((agents(2), [("a00", "a01")]), ["betweenness_centrality", "max_betweenness", "message_share", "repeat_ratio"]),
        ((agents(3), []), ["error_rate", "load_balance", "message_share", "repeat_ratio"]),
    ],
)
def test_an_undefined_metric_has_a_reason_and_no_value(team: Team, metric_ids: list[str]) -> None:
    graph = graph_of(team)
    assert [team_value(graph, metric_id) for metric_id in metric_ids] == [None] * len(metric_ids)


def test_chosen_metrics_are_measured_and_unknown_ones_ignored() -> None:
    records = measure(graph_of(mesh(3)), {"density": {}, "nonsense": {}})
    assert [record.id for record in records] == ["density"]
    assert {record.id for record in measure(graph_of(mesh(3)))} == set(METRICS.installed)


def test_the_order_of_a_trace_changes_no_bit_of_any_metric() -> None:
    names, calls = ring(7)
    reversed_graph = graph_of((names[::-1], calls[::-1]))
    assert [r.model_dump_json() for r in measure(graph_of((names, calls)))] == [
        r.model_dump_json() for r in measure(reversed_graph)
    ]
