"""Trees by number: each node's parent by its place in a list, whoever is its own ancestor, and parents before children.

Numbers, and arrays of them, because a trace may have a million nodes.
"""

from array import array
from collections.abc import Iterator, Sequence
from typing import Final

_NONE: Final = -1


def on_cycles(parents: Sequence[int | None]) -> set[int]:
    """The nodes that are their own ancestors; those merely below a cycle are not."""
    cyclic: set[int] = set()
    walk_of = array("q", [_NONE]) * len(parents)
    for walk, start in enumerate(parents):
        if start is None or walk_of[walk] != _NONE:
            continue
        node: int | None = walk
        while node is not None and walk_of[node] == _NONE:
            walk_of[node] = walk
            node = parents[node]
        if node is not None and walk_of[node] == walk:
            while node is not None and node not in cyclic:
                cyclic.add(node)
                node = parents[node]
    return cyclic


def parents_first(parents: Sequence[int | None]) -> Iterator[int]:
    """All nodes of trees without a cycle, each after its parent."""
    first_child = array("q", [_NONE]) * len(parents)
    next_sibling = array("q", [_NONE]) * len(parents)
    roots: list[int] = []
    for node, parent in enumerate(parents):
        if parent is None:
            roots.append(node)
        else:
            next_sibling[node], first_child[parent] = first_child[parent], node
    for root in roots:
        pending = [root]
        while pending:
            node = pending.pop()
            yield node
            child = first_child[node]
            while child != _NONE:
                pending.append(child)
                child = next_sibling[child]
