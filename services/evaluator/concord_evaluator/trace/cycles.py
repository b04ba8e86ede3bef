"""Cycles where there should be trees: whoever is its own ancestor."""

from collections.abc import Hashable, Mapping
from typing import TypeVar

_Node = TypeVar("_Node", bound=Hashable)


def on_cycles(parents: Mapping[_Node, _Node | None]) -> set[_Node]:
    """The nodes that are their own ancestors; those merely below a cycle are not."""
    cyclic: set[_Node] = set()
    walk_of: dict[_Node, int] = {}
    for walk, start in enumerate(parents):
        node: _Node | None = start
        while node is not None and node not in walk_of:
            walk_of[node] = walk
            node = parents[node]
        if node is not None and walk_of[node] == walk:
            while node is not None and node not in cyclic:
                cyclic.add(node)
                node = parents[node]
    return cyclic
