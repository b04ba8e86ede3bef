"""Trees of numbered nodes: the nodes on cycles, and an order with parents before children."""

from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.trace.trees import ROOT, parents_first

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
    cyclic = parents_first(parents).cyclic
    assert cyclic == {node for node in range(len(parents)) if node in ancestors(node, parents)}


@given(PARENTS)
def test_every_other_node_comes_once_and_after_its_parent(parents: list[int]) -> None:
    order = parents_first(parents)
    assert sorted([*order.nodes, *order.cyclic]) == list(range(len(parents)))
    place = {node: index for index, node in enumerate(order.nodes)}
    above = {node: parents[node] for node in order.nodes}
    assert all(
        parent == ROOT or parent in order.cyclic or place[parent] < place[node] for node, parent in above.items()
    )
