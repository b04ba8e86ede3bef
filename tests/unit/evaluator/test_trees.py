"""Trees by number: who is on a cycle, and parents before their children."""

from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.trace.trees import on_cycles, parents_first

PARENTS = st.integers(0, 12).flatmap(
    lambda size: st.lists(st.none() | st.integers(0, max(0, size - 1)), min_size=size, max_size=size)
)


def ancestors(node: int, parents: list[int | None]) -> list[int]:
    """As far up as there are nodes, so that whoever is on a cycle is its own ancestor."""
    found: list[int] = []
    current = parents[node]
    while current is not None and len(found) <= len(parents):
        found.append(current)
        current = parents[current]
    return found


@given(PARENTS)
def test_the_nodes_on_cycles_are_those_that_are_their_own_ancestors(parents: list[int | None]) -> None:
    assert on_cycles(parents) == {node for node in range(len(parents)) if node in ancestors(node, parents)}


@given(PARENTS)
def test_where_cycles_are_cut_every_node_comes_once_and_after_its_parent(parents: list[int | None]) -> None:
    cyclic = on_cycles(parents)
    cut = [None if node in cyclic else parent for node, parent in enumerate(parents)]
    order = list(parents_first(cut))
    assert sorted(order) == list(range(len(parents)))
    place = {node: index for index, node in enumerate(order)}
    assert all(parent is None or place[parent] < place[node] for node, parent in enumerate(cut))
