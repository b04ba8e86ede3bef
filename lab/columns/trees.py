"""Trees as arrays: node `i` has the parent `parents[i]`. Finds cycles, and orders parents before children.

Arrays rather than lists, because a trace may have a million nodes, and a list holds an object for each.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

ROOT: Final = -1
"""The parent of a node without a parent."""

_NEW: Final = 0
_ON_THIS_WALK: Final = 1
_DONE: Final = 2


@dataclass(frozen=True, slots=True)
class Order:
    """`cyclic`: the nodes that are their own ancestors, without those merely below a cycle. `nodes`: all others, each
    after its parent, unless its parent is cyclic.
    """

    nodes: Sequence[int]
    cyclic: frozenset[int]


def parents_first(parents: Sequence[int]) -> Order:
    """Orders the nodes: walks up from each node to the first visited one, then adds the walked nodes top down."""
    state = bytearray(len(parents))
    nodes = array("q")
    cyclic: set[int] = set()
    for start, above in enumerate(parents):
        if state[start] != _NEW:
            continue
        if above == ROOT or state[above] == _DONE:  # the usual case: most parents are reported before their children
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
