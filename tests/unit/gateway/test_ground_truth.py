"""Given patterns: a pattern becomes one step per call, grouped by caller."""

from concord.assessment import InteractionPattern
from concord_gateway.drivers.ground_truth import pattern_steps


def pattern(edges: str, steps_count: int | None = None) -> InteractionPattern:
    return InteractionPattern.model_validate(
        {
            "agents": sorted(set(edges) - {" "}) or ["a"],
            "edges": [{"from": edge[0], "to": edge[1]} for edge in edges.split()],
            "steps_count": steps_count,
        }
    )


def calls(given: InteractionPattern) -> list[tuple[str, str, str]]:
    by_caller = pattern_steps(given, "t")
    return sorted(
        (step.step_id[-1], caller, step.agent_call.agent_name)
        for caller, steps in by_caller
        for step in steps
        if step.agent_call is not None
    )


def test_each_edge_is_one_call_in_the_patterns_order() -> None:
    assert calls(pattern("ab bc ab")) == [("1", "a", "b"), ("2", "b", "c"), ("3", "a", "b")]


def test_with_a_count_the_edges_are_repeated_until_it_is_reached() -> None:
    assert [call[1:] for call in calls(pattern("ab bc", 5))] == [
        ("a", "b"),
        ("b", "c"),
        ("a", "b"),
        ("b", "c"),
        ("a", "b"),
    ]
    assert calls(pattern("ab bc", 1)) == [("1", "a", "b")]
    assert calls(pattern("ab bc", 0)) == []


def test_without_edges_there_are_no_calls() -> None:
    assert calls(pattern("", 5)) == []


def test_steps_of_a_pattern_have_no_latency() -> None:
    ((_, steps),) = pattern_steps(pattern("ab"), "t")
    assert [step.latency_ms for step in steps] == [None]
