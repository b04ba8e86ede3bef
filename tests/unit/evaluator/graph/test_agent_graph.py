"""The agent graph: its view of requests and its view of messages."""

from concord_evaluator.graph import build_graph
from tests.kit.graphs import graph_of
from tests.kit.traces import call, projected, reported_by


def test_a_call_is_one_request_and_two_messages() -> None:
    graph = graph_of((["A", "B", "C"], [("A", "B")]))
    assert list(graph.requests.edges) == [("A", "B")]
    assert list(graph.messages.edges) == [("A", "B"), ("B", "A")]
    assert graph.n_messages == 2


def test_a_failed_call_has_no_reply() -> None:
    graph = graph_of((["A", "B"], [("A", "B")]), failing=True)
    assert list(graph.messages.edges) == [("A", "B")]
    assert list(graph.answered_pairs.edges) == []


def test_edges_are_weighted_by_the_number_of_messages() -> None:
    graph = graph_of((["A", "B", "C"], [("A", "B"), ("A", "B"), ("B", "A"), ("A", "C")]))
    assert graph.messages.edges["A", "B"]["weight"] == 3
    assert graph.requests.edges["A", "B"]["weight"] == 2
    assert graph.loads == {"A": 8, "B": 6, "C": 2}


def test_a_retried_call_is_one_request() -> None:
    attempts = call("1", "B", error="busy"), call("2", "B", attributes={"retry_of": "1"})
    graph = build_graph(projected(reported_by("A", *attempts)))
    assert graph.messages.edges["A", "B"]["weight"] == graph.messages.edges["B", "A"]["weight"] == 1


def test_nodes_and_edges_are_sorted_in_any_order_of_reports() -> None:
    pairs = [("C", "B"), ("B", "A"), ("A", "C")]
    graph, other = graph_of((list("CAB"), pairs)), graph_of((list("ABC"), pairs[::-1]))
    assert list(graph.messages.nodes) == ["A", "B", "C"]
    assert list(graph.messages.edges) == list(other.messages.edges) == sorted(graph.messages.edges)


def test_calls_are_counted_by_outcome() -> None:
    steps = [
        call("1", "B", request="do it", error="busy"),
        call("2", "B", request="do it", attributes={"retry_of": "1"}),
        call("3", "B", request="do it"),
        call("4", "C", request="do it", error="down"),
        call("5", "C"),
        call("6", "C"),
    ]
    tally = build_graph(projected(reported_by("A", *steps))).tally
    assert (tally.calls, tally.failed_calls) == (5, 1)
    assert (tally.attempts, tally.failed_attempts, tally.own_attempts, tally.retries) == (6, 2, 6, 1)
    assert (tally.comparable, tally.repeats) == (3, 1)
