"""Trees of numbered nodes: cycles, depths, and what nodes have from their ancestors."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.trace.trees import ROOT, below_any, largest_above, nearest, ordered

PARENTS = st.integers(0, 12).flatmap(
    lambda size: st.lists(st.just(ROOT) | st.integers(0, max(0, size - 1)), min_size=size, max_size=size)
)


def ancestors(node: int, parents: list[int]) -> list[int]:
    """The ancestors, up to the number of nodes: a node on a cycle is its own ancestor."""
    found: list[int] = []
    current = parents[node]
    while current != ROOT and len(found) <= len(parents):
        found.append(current)
        current = parents[current]
    return found


@given(PARENTS)
def test_the_nodes_on_cycles_are_those_that_are_their_own_ancestors(parents: list[int]) -> None:
    cyclic = ordered(np.array(parents, np.int64)).cyclic.tolist()
    assert cyclic == [node in ancestors(node, parents) for node in range(len(parents))]


@given(PARENTS)
def test_the_depth_is_the_number_of_ancestors_that_are_not_on_a_cycle(parents: list[int]) -> None:
    order = ordered(np.array(parents, np.int64))
    for node, depth in enumerate(order.depth.tolist()):
        above = [each for each in dict.fromkeys(ancestors(node, parents)) if not order.cyclic[each]]
        assert depth == len(above)


FORESTS = st.lists(st.tuples(st.integers(0, 99), st.booleans(), st.integers(0, 9)), max_size=40)
"""By node: a draw of its parent among the nodes before it, whether it is chosen, and a value."""


@given(FORESTS)
def test_what_nodes_have_from_their_ancestors(drawn: list[tuple[int, bool, int]]) -> None:
    parents = [draw % (node + 1) - 1 for node, (draw, _, _) in enumerate(drawn)]
    chosen, values = [each for _, each, _ in drawn], [float(each) for _, _, each in drawn]
    above = [[each for each in ancestors(node, parents) if chosen[each]] for node in range(len(parents))]
    tree, flags = np.array(parents, np.int64), np.array(chosen, np.bool_)
    assert nearest(tree, flags).tolist() == [each[0] if each else ROOT for each in above]
    assert below_any(tree, flags).tolist() == [bool(each) for each in above]
    assert largest_above(tree, np.array(values)).tolist() == [
        max(values[each] for each in (node, *ancestors(node, parents))) for node in range(len(parents))
    ]
