"""GEMMAS's two metrics, as far as traces allow, against values computed by hand."""

import math

import pytest

from concord.assessment.results import MetricStatus
from concord_evaluator.metrics import gemmas, measure
from concord_evaluator.metrics.gemmas import TfIdf
from tests.kit.traces import call, reported_by
from tests.unit.evaluator.timed import graph_of_reports, value_of


class TestSimilarity:
    def test_similarity_is_1_for_the_same_words_and_0_for_none_in_common(self) -> None:
        texts = TfIdf({"a": "Plan the route", "b": "the ROUTE: plan!", "c": "write code", "d": ""})
        assert texts.cosine("a", "b") == pytest.approx(1.0)
        assert texts.cosine("a", "c") == 0.0
        assert texts.cosine("a", "d") == 0.0

    def test_similarity_is_the_cosine_of_tf_idf_vectors(self) -> None:
        # "x" is in both of two texts: ln(3/3) + 1 = 1; "y" and "z" in one: ln(3/2) + 1.
        rare = math.log(3 / 2) + 1
        assert TfIdf({"a": "x y", "b": "x x z"}).cosine("a", "b") == pytest.approx(
            2 / (math.sqrt(1 + rare**2) * math.sqrt(4 + rare**2))
        )


class TestDiversity:
    def test_diversity_is_the_mean_distance_over_pairs_that_talk(self) -> None:
        a, b, c = call("1", "B", request="x y"), call("2", "C", request="x y"), call("3", "B", request="z")
        assert value_of(
            graph_of_reports(reported_by("A", a), reported_by("B", b), reported_by("C", c)), "information_diversity"
        ) == (pytest.approx((0 + 1) / 2))

    def test_all_requests_of_an_agent_are_compared_together(self) -> None:
        a = call("1", "B", request="x"), call("2", "C", request="y")
        b = call("3", "C", request="y x")
        graph = graph_of_reports(reported_by("A", *a), reported_by("B", b))
        assert value_of(graph, "information_diversity") == pytest.approx(0.0)

    def test_diversity_is_undefined_if_no_talking_pair_has_texts(self) -> None:
        graph = graph_of_reports(
            reported_by("A", call("1", "C", request="x")), reported_by("B", call("2", "C", request="y"))
        )
        (record,) = measure(graph, {"information_diversity": {}})
        assert (record.value, record.status, record.n) == (None, MetricStatus.UNDEFINED, 0)

    def test_diversity_over_a_limited_number_of_pairs_is_approximate(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(gemmas, "MAX_PAIRS", 1)
        reports = [reported_by(a, call(a, b, request=f"{a} asks")) for a, b in ("AB", "BC", "CA")]
        (record,) = measure(graph_of_reports(*reports), {"information_diversity": {}})
        assert (record.status, record.n) == (MetricStatus.APPROXIMATE, 1)

    def test_diversity_over_a_sample_of_requests_is_approximate(self) -> None:
        reports = [
            reported_by(a, *(call(f"{a}{n}", b, request=f"{a} asks {n}") for n in range(1100))) for a, b in ("AB", "BA")
        ]
        (record,) = measure(graph_of_reports(*reports), {"information_diversity": {}})
        assert record.status is MetricStatus.APPROXIMATE
        assert record.value is not None
        assert 0 < record.value < 1


class TestUnnecessaryPaths:
    def test_a_chain_with_a_failed_call_is_unnecessary(self) -> None:
        # Three chains: 1-2; 1-3, whose end failed; and 4-5, whose beginning failed.
        steps = call("2", "C", parent="1"), call("3", "A", parent="1", error="x")
        failed = call("4", "C", error="x"), reported_by("C", call("5", "A", parent="4"))
        graph = graph_of_reports(reported_by("A", call("1", "B"), failed[0]), reported_by("B", *steps), failed[1])
        assert value_of(graph, "unnecessary_path_ratio") == pytest.approx(2 / 3)

    def test_a_chain_that_ends_in_an_answered_request_is_unnecessary(self) -> None:
        steps = call("1", "B", request="x"), call("2", "B", request="x"), call("3", "B", request="y"), call("4", "B")
        assert value_of(graph_of_reports(reported_by("A", *steps)), "unnecessary_path_ratio") == pytest.approx(1 / 4)

    def test_a_request_repeated_after_a_failure_is_not_unnecessary(self) -> None:
        steps = call("1", "B", request="x", error="busy"), call("2", "B", request="x")
        assert value_of(graph_of_reports(reported_by("A", *steps)), "unnecessary_path_ratio") == pytest.approx(1 / 2)

    def test_without_calls_the_ratio_is_undefined(self) -> None:
        assert value_of(graph_of_reports(), "unnecessary_path_ratio") is None
