"""The fewest calls, against all orders of calls in small teams."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import pytest

from concord.suite import Draw, Fact, Neighbours, Part, SuiteTask, Topology, fewest_calls, neighbours_in
from concord.suite.value import number
from concord_suites.pool.maximum import Maximum

TEAM = ("a", "b", "c", "d")
COMPLETE = neighbours_in(Topology.COMPLETE, TEAM, Draw(b"x"))


def task_of(holders: Sequence[str], needs: Mapping[str, Sequence[str]], neighbours: Neighbours = COMPLETE) -> SuiteTask:
    """A task in which seats need facts of holders; a fact is named after its holders."""
    made = Maximum().generate(bytes(32), neighbours, 1)
    facts = tuple(Fact(each, tuple(each), number(48_213 + place)) for place, each in enumerate(holders))
    return replace(made, facts=facts, parts=tuple(Part(seat, seat, tuple(ids)) for seat, ids in needs.items()))


ALL = dict.fromkeys(TEAM, TEAM)


@pytest.mark.parametrize(
    ("holders", "needs", "value", "exact"),
    [
        (TEAM, {"a": TEAM}, 3, True),
        (("b", "c"), {"a": ("b", "c")}, 2, True),
        (("b", "cd"), {"a": ("b", "cd")}, 1, False),
        (TEAM, ALL, 3, True),
        (TEAM, {"a": ("b",), "c": ("d",)}, 2, False),
    ],
    ids=["one answers from all", "from two neighbours", "from either of two", "all answer", "two pairs"],
)
def test_calls_must_join_seats_with_the_facts_they_need(
    holders: Sequence[str], needs: Mapping[str, Sequence[str]], value: int, exact: bool
) -> None:
    bound = fewest_calls(task_of(holders, needs))
    assert (bound.value, bound.exact) == (value, exact)


def test_on_a_star_the_bound_for_all_is_no_claim() -> None:
    star = neighbours_in(Topology.STAR, TEAM, Draw(b"x"))
    assert not fewest_calls(task_of(TEAM, ALL, star)).exact


@pytest.mark.parametrize("needs", [{"a": TEAM}, {"a": ("b", "c")}, ALL, {"a": ("b",), "c": ("d",)}])
def test_no_order_of_fewer_calls_is_enough(needs: Mapping[str, Sequence[str]]) -> None:
    """A call here joins what both know when it is made and all that either learns before it ends: more than any."""
    task = task_of(TEAM, needs)
    links = [(one, other) for one in TEAM for other in TEAM if one < other]
    for calls in product(links, repeat=fewest_calls(task).value - 1):
        joined = {seat: {seat} for seat in TEAM}
        for one, other in calls:
            both = joined[one] | joined[other]
            joined |= dict.fromkeys(both, both)
        assert any(not set(needed) <= joined[seat] for seat, needed in needs.items())
