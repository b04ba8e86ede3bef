"""Trees by number: each node's parent by its place in an array, who is its own ancestor, and parents before children.

Arrays of numbers, because a trace may have a million nodes, and a list would hold an object for each.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

ROOT: Final = -1
"""The parent of a node that has none."""

_NEW: Final = 0
_ON_THIS_WALK: Final = 1
_DONE: Final = 2


@dataclass(frozen=True, slots=True)
class Order:
    """`cyclic`: the nodes that are their own ancestors; those merely below a cycle are not. `nodes`: all others, each
    after its parent, unless that is cyclic.
    """

    nodes: Sequence[int]
    cyclic: frozenset[int]


def parents_first(parents: Sequence[int]) -> Order:
    """Puts nodes in order: walks up from each, as far as nobody has been, and down again."""
    state = bytearray(len(parents))
    nodes = array("q")
    cyclic: set[int] = set()
    for start, above in enumerate(parents):
        if state[start] != _NEW:
            continue
        if above == ROOT or state[above] == _DONE:  # nearly always: parents are usually told first
            state[start] = _DONE
            nodes.append(start)
            continue
        walk: list[int] = []
        node = start
        while node != ROOT and state[node] == _NEW:
            state[node] = _ON_THIS_WALK
            walk.append(node)
            node = parents[node]
        if node != ROOT and state[node] == _ON_THIS_WALK:
            cyclic.update(walk[walk.index(node) :])
        for each in reversed(walk):
            state[each] = _DONE
            if each not in cyclic:
                nodes.append(each)
    return Order(nodes, frozenset(cyclic))
