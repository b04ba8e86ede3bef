"""Metrics of paths, cohesion, centralisation and overhead, against values by hand over families of teams."""

from fractions import Fraction
from math import sqrt

import pytest

from concord.assessment.results import MetricStatus
from concord_evaluator.graph import build_graph, engines
from concord_evaluator.metrics import measure
from tests.kit.graphs import (
    Team,
    agents,
    chain,
    disjoint_pairs,
    graph_of,
    mesh,
    partial_mesh,
    ring,
    side_by_side,
    star,
    with_isolated,
)
from tests.kit.traces import call, projected, reported_by
from tests.unit.evaluator.timed import value_of, values_of

SIZES = pytest.mark.parametrize("n", range(3, 9))


class TestPaths:
    @pytest.mark.parametrize(
        ("team", "mean", "share", "efficiency", "diameter"),
        [
            (mesh(5), 1, 1, 1, 1),
            (star(5), Fraction(8, 5), 1, Fraction(7, 10), 2),
            (chain(4), Fraction(5, 3), 1, Fraction(13, 18), 3),
            (ring(6), Fraction(9, 5), 1, Fraction(2, 3), 3),
            (with_isolated(mesh(3)), 1, Fraction(1, 2), Fraction(1, 2), None),
            (disjoint_pairs(4, 2), 1, Fraction(1, 3), Fraction(1, 3), None),
            ((agents(3), []), None, 0, 0, None),
        ],
    )
    def test_path_metrics_match_values_by_hand(
        self, team: Team, mean: object, share: object, efficiency: object, diameter: object
    ) -> None:
        graph = graph_of(team)
        measured = [
            value_of(graph, each)
            for each in ("average_path_length", "reachable_pairs", "global_efficiency", "diameter")
        ]
        expected = [None if each is None else float(each) for each in (mean, share, efficiency, diameter)]  # type: ignore[arg-type]
        assert measured == pytest.approx(expected)

    def test_failed_calls_are_one_way_paths(self) -> None:
        graph = graph_of(chain(3), failing=True)
        assert value_of(graph, "reachable_pairs") == pytest.approx(3 / 6)
        assert value_of(graph, "average_path_length") == pytest.approx(4 / 3)
        assert value_of(graph, "diameter") is None

    def test_sampled_path_metrics_are_approximate(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(engines, "NETWORKX_UP_TO", 1)
        monkeypatch.setattr(engines, "EXACT_UP_TO", 1)
        monkeypatch.setattr(engines, "SAMPLED_WORK", 1)
        (record,) = measure(graph_of(mesh(20)), {"average_path_length": {}})
        assert (record.value, record.status, record.params[0].value) == (1.0, MetricStatus.APPROXIMATE, "8")


class TestCohesion:
    @pytest.mark.parametrize(
        ("team", "expected"),
        [(mesh(5), 1.0), (star(5), 0.0), (ring(3), 1.0), (with_isolated(mesh(3)), 0.75), (partial_mesh(), 2 / 5)],
    )
    def test_clustering_is_the_share_of_partners_that_are_partners(self, team: Team, expected: float) -> None:
        # The ring with two chords, 0-2 and 1-3: coefficients 1/3, 2/3, 2/3, 1/3 and 0.
        assert value_of(graph_of(team), "clustering") == pytest.approx(expected)

    def test_reciprocity_is_weighted_by_requests(self) -> None:
        calls = [("a", "b"), ("a", "b"), ("a", "b"), ("b", "a"), ("b", "c")]
        assert value_of(graph_of((list("abc"), calls)), "reciprocity") == pytest.approx(2 / 5)
        assert value_of(graph_of(mesh(4)), "reciprocity") == 1.0
        assert value_of(graph_of(star(4)), "reciprocity") == 0.0
        assert value_of(graph_of((agents(3), [])), "reciprocity") is None


class TestCentralisation:
    @SIZES
    def test_centralisation_is_1_for_a_star_and_0_for_a_ring_or_mesh(self, n: int) -> None:
        for metric_id in ("degree_centralisation", "betweenness_centralisation"):
            assert value_of(graph_of(star(n)), metric_id) == pytest.approx(1.0)
            assert value_of(graph_of(ring(n)), metric_id) == pytest.approx(0.0, abs=1e-12)
            assert value_of(graph_of(mesh(n)), metric_id) == pytest.approx(0.0, abs=1e-12)

    def test_centralisation_of_a_chain_matches_values_by_hand(self) -> None:
        assert value_of(graph_of(chain(4)), "degree_centralisation") == pytest.approx(2 / 6)
        assert value_of(graph_of(chain(4)), "betweenness_centralisation") == pytest.approx(2 * (2 / 3) / 3)

    @SIZES
    def test_hub_share_is_one_for_a_star_and_two_over_n_for_even_loads(self, n: int) -> None:
        assert value_of(graph_of(star(n)), "hub_share") == 1.0
        assert value_of(graph_of(mesh(n)), "hub_share") == pytest.approx(2 / n)


class TestCentrality:
    @SIZES
    def test_closeness_of_a_star_matches_values_by_hand(self, n: int) -> None:
        values = values_of(graph_of(star(n)), "closeness_centrality")
        assert values.pop("a00") == pytest.approx(1.0)
        assert list(values.values()) == pytest.approx([(n - 1) / (1 + 2 * (n - 2))] * (n - 1))

    def test_closeness_of_an_unreached_agent_is_0(self) -> None:
        values = values_of(graph_of(with_isolated(mesh(3))), "closeness_centrality")
        assert values == pytest.approx({"a00": 2 / 3, "a01": 2 / 3, "a02": 2 / 3, "isolated00": 0.0})

    @SIZES
    def test_eigenvector_centrality_of_a_star_matches_values_by_hand(self, n: int) -> None:
        values = values_of(graph_of(star(n)), "eigenvector_centrality")
        assert values.pop("a00") == pytest.approx(1 / sqrt(2), abs=1e-5)
        assert list(values.values()) == pytest.approx([1 / sqrt(2 * (n - 1))] * (n - 1), abs=1e-5)

    @pytest.mark.parametrize("team", [with_isolated(mesh(3)), disjoint_pairs(4, 2), (agents(3), [])])
    def test_eigenvector_centrality_is_undefined_unless_the_team_is_connected(self, team: Team) -> None:
        (record,) = measure(graph_of(team), {"eigenvector_centrality": {}})
        assert (record.value, record.reason) == (None, "not every agent can reach every other")

    @SIZES
    def test_pagerank_of_a_ring_is_even(self, n: int) -> None:
        assert list(values_of(graph_of(ring(n)), "pagerank").values()) == pytest.approx([1 / n] * n)

    def test_pagerank_of_a_star_matches_values_by_hand(self) -> None:
        # hub = .15/4 + .85 * 3 spoke, spoke = .15/4 + .85 hub / 3
        values = values_of(graph_of(star(4)), "pagerank")
        hub = (0.0375 + 0.85 * 3 * 0.0375) / (1 - 0.85**2)
        assert values["a00"] == pytest.approx(hub, abs=1e-6)
        assert values["a01"] == pytest.approx((1 - hub) / 3, abs=1e-6)


class TestOverhead:
    def test_overhead_is_the_number_of_messages_of_a_completed_task(self) -> None:
        steps = [call(str(n), "B") for n in range(3)]
        projection = projected(reported_by("A", *steps, call("x", "C", error="down")))
        assert value_of(build_graph(projection, completed=True), "messages_per_completed_task") == 7
        (record,) = measure(build_graph(projection, completed=False), {"messages_per_completed_task": {}})
        assert (record.value, record.reason) == (None, "the task was not completed")
        (record,) = measure(build_graph(projection), {"messages_per_completed_task": {}})
        assert (record.value, record.reason) == (None, "nobody knows whether the task was completed")

    def test_tokens_of_nested_calls_are_counted_once(self) -> None:
        whole = call("1", "B").model_copy(update={"total_tokens": 100})
        part = call("2", "C", parent="1").model_copy(update={"total_tokens": 40})
        apart = call("3", "A").model_copy(update={"total_tokens": 5})
        told = projected(reported_by("A", whole), reported_by("B", part), reported_by("C", apart))
        graph = build_graph(told, completed=True)
        assert value_of(graph, "tokens_per_completed_task") == 105
        mute = build_graph(projected(reported_by("A", call("1", "B"))), completed=True)
        (record,) = measure(mute, {"tokens_per_completed_task": {}})
        assert (record.value, record.reason) == (None, "no step tells its tokens")


@pytest.mark.parametrize(
    ("n", "metric_ids"),
    [
        (0, ["pagerank", "closeness_centrality", "clustering", "hub_share", "diameter", "reachable_pairs"]),
        (1, ["pagerank", "closeness_centrality", "eigenvector_centrality", "average_path_length", "global_efficiency"]),
        (2, ["clustering", "degree_centralisation", "betweenness_centralisation", "hub_share"]),
    ],
)
def test_a_metric_of_too_small_a_team_has_a_reason_in_place_of_a_value(n: int, metric_ids: list[str]) -> None:
    for record in measure(graph_of((agents(n), [])), {metric_id: {} for metric_id in metric_ids}):
        assert (record.agent, record.value) == (None, None)
        assert record.reason


def test_disconnected_parts_are_measured_as_one_team() -> None:
    graph = graph_of(side_by_side(mesh(3), mesh(3)))
    assert value_of(graph, "reachable_pairs") == pytest.approx(2 / 5)
    assert value_of(graph, "clustering") == 1.0
