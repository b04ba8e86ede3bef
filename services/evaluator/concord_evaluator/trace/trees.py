"""Trees by number: each node's parent by its place in a list, whoever is its own ancestor, and parents before children.

Numbers, and arrays of them, because a trace may have a million nodes.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

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


def parents_first(parents: Sequence[int | None]) -> Order:
    """Puts nodes in order: walks up from each, as far as nobody has been, and down again."""
    state = bytearray(len(parents))
    nodes = array("q")
    cyclic: set[int] = set()
    for start, above in enumerate(parents):
        if state[start] != _NEW:
            continue
        if above is None or state[above] == _DONE:  # nearly always: parents are usually told first
            state[start] = _DONE
            nodes.append(start)
            continue
        walk: list[int] = []
        node: int | None = start
        while node is not None and state[node] == _NEW:
            state[node] = _ON_THIS_WALK
            walk.append(node)
            node = parents[node]
        if node is not None and state[node] == _ON_THIS_WALK:
            cyclic.update(walk[walk.index(node) :])
        for each in reversed(walk):
            state[each] = _DONE
            if each not in cyclic:
                nodes.append(each)
    return Order(nodes, frozenset(cyclic))
