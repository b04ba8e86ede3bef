"""Latency: percentiles against values by hand, their reliability, and the slowest agent."""

import pytest

from concord.assessment.results import LatencySummary
from concord_evaluator.latency import CalleeLatencies, latencies_of, summarise
from tests.kit.traces import call, observed, projected, reported_by, roster, url_of


def summary(**latencies_ms: list[float]) -> LatencySummary:
    callees = [CalleeLatencies(agent=agent, latencies_ms=values) for agent, values in latencies_ms.items()]
    return summarise(callees, roster("A"))


def test_without_latencies_there_are_no_values() -> None:
    empty = summary()
    assert (empty.n, empty.avg, empty.p50, empty.p95, empty.p99, empty.slowest_agent) == (
        0,
        None,
        None,
        None,
        None,
        None,
    )


def test_percentiles_are_median_unbiased() -> None:
    ten = summary(A=[float(value) for value in range(1, 11)])
    # Hyndman & Fan type 8: position (n + 1/3) p + 1/3, so at n = 10 the median is at 5.5, p95 at 10.15 (the maximum).
    assert (ten.avg, ten.p50, ten.p95, ten.p99) == (5.5, 5.5, 10.0, 10.0)
    hundred = summary(A=[float(value) for value in range(1, 101)])
    assert hundred.p95 == pytest.approx((100 + 1 / 3) * 0.95 + 1 / 3)


@pytest.mark.parametrize(
    ("n", "p95", "p99"), [(19, False, False), (20, True, False), (99, True, False), (100, True, True)]
)
def test_percentiles_of_few_values_are_marked_unreliable(n: int, p95: bool, p99: bool) -> None:
    few = summary(A=[1.0] * n)
    assert (few.n, few.p95_reliable, few.p99_reliable) == (n, p95, p99)


def test_the_slowest_agent_has_the_highest_mean() -> None:
    slow = summary(B=[10.0, 500.0], A=[300.0, 300.0])
    assert (slow.slowest_agent, slow.slowest_agent_url) == ("A", url_of("A"))


def test_a_stranger_has_its_url_and_an_inner_agent_has_none() -> None:
    assert summary(**{"url:http://x.test/a": [1.0]}).slowest_agent_url == "http://x.test/a"
    assert summary(**{"A/critic": [1.0]}).slowest_agent_url is None


def test_the_order_of_values_changes_no_bit() -> None:
    values = [0.1 * number for number in range(1000)]
    assert summary(A=values) == summary(A=values[::-1])


def test_a_million_values_are_all_counted() -> None:
    million = summary(A=[float(value) for value in range(500_000)], B=[float(value) for value in range(500_000)])
    assert million.n == 1_000_000


def test_latencies_include_retries_and_the_assessors_calls() -> None:
    steps = [call("1", "B", latency=5, error="busy"), call("2", "B", latency=7, attributes={"retry_of": "1"})]
    projection = projected(
        reported_by("A", *steps, call("3", "C")), observed("green-agent", call("g", "A", latency=20))
    )
    assert latencies_of(projection.all_links) == [
        CalleeLatencies(agent="A", latencies_ms=[20.0]),
        CalleeLatencies(agent="B", latencies_ms=[5.0, 7.0]),
    ]
