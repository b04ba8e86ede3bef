"""GEMMAS's two metrics, as far as a trace carries them: values by hand."""

import math

import pytest

from concord.assessment.results import MetricStatus
from concord_evaluator.metrics import gemmas, measure
from concord_evaluator.metrics.gemmas import TfIdf
from tests.unit.evaluator.timed import graph_of_reports, value_of
from tests.unit.evaluator.traces import call, told


class TestSimilarity:
    def test_of_the_same_words_is_one_and_of_none_in_common_zero(self) -> None:
        texts = TfIdf({"a": "Plan the route", "b": "the ROUTE: plan!", "c": "write code", "d": ""})
        assert texts.cosine("a", "b") == pytest.approx(1.0)
        assert texts.cosine("a", "c") == 0.0
        assert texts.cosine("a", "d") == 0.0

    def test_by_hand(self) -> None:
        # "x" is in both of two texts: ln(3/3) + 1 = 1; "y" and "z" in one: ln(3/2) + 1.
        rare = math.log(3 / 2) + 1
        assert TfIdf({"a": "x y", "b": "x x z"}).cosine("a", "b") == pytest.approx(
            2 / (math.sqrt(1 + rare**2) * math.sqrt(4 + rare**2))
        )


class TestDiversity:
    def test_is_the_mean_distance_over_pairs_that_talk(self) -> None:
        a, b, c = call("1", "B", request="x y"), call("2", "C", request="x y"), call("3", "B", request="z")
        assert value_of(graph_of_reports(told("A", a), told("B", b), told("C", c)), "information_diversity") == (
            pytest.approx((0 + 1) / 2)
        )

    def test_takes_all_that_an_agent_asked_together(self) -> None:
        a = call("1", "B", request="x"), call("2", "C", request="y")
        b = call("3", "C", request="y x")
        graph = graph_of_reports(told("A", *a), told("B", b))
        assert value_of(graph, "information_diversity") == pytest.approx(0.0)

    def test_is_undefined_where_no_two_that_talk_say_anything(self) -> None:
        graph = graph_of_reports(told("A", call("1", "C", request="x")), told("B", call("2", "C", request="y")))
        (record,) = measure(graph, {"information_diversity": {}})
        assert (record.value, record.status, record.n) == (None, MetricStatus.UNDEFINED, 0)

    def test_of_too_many_pairs_is_marked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(gemmas, "MAX_PAIRS", 1)
        reports = [told(a, call(a, b, request=f"{a} asks")) for a, b in ("AB", "BC", "CA")]
        (record,) = measure(graph_of_reports(*reports), {"information_diversity": {}})
        assert (record.status, record.n) == (MetricStatus.APPROXIMATE, 1)

    def test_of_a_sample_of_requests_is_marked(self) -> None:
        reports = [
            told(a, *(call(f"{a}{n}", b, request=f"{a} asks {n}") for n in range(1100))) for a, b in ("AB", "BA")
        ]
        (record,) = measure(graph_of_reports(*reports), {"information_diversity": {}})
        assert record.status is MetricStatus.APPROXIMATE
        assert record.value is not None
        assert 0 < record.value < 1


class TestUnnecessaryPaths:
    def test_are_chains_with_a_call_that_failed(self) -> None:
        # Three chains: 1-2, 1-3 with a failure at its end, and 4, which failed but for 5 in it.
        steps = call("2", "C", parent="1"), call("3", "A", parent="1", error="x")
        failed = call("4", "C", error="x"), told("C", call("5", "A", parent="4"))
        graph = graph_of_reports(told("A", call("1", "B"), failed[0]), told("B", *steps), failed[1])
        assert value_of(graph, "unnecessary_path_ratio") == pytest.approx(2 / 3)

    def test_are_chains_that_end_in_what_was_already_answered(self) -> None:
        steps = call("1", "B", request="x"), call("2", "B", request="x"), call("3", "B", request="y"), call("4", "B")
        assert value_of(graph_of_reports(told("A", *steps)), "unnecessary_path_ratio") == pytest.approx(1 / 4)

    def test_are_not_those_that_ask_again_for_want_of_an_answer(self) -> None:
        steps = call("1", "B", request="x", error="busy"), call("2", "B", request="x")
        assert value_of(graph_of_reports(told("A", *steps)), "unnecessary_path_ratio") == pytest.approx(1 / 2)

    def test_are_none_where_there_are_no_calls(self) -> None:
        assert value_of(graph_of_reports(), "unnecessary_path_ratio") is None
