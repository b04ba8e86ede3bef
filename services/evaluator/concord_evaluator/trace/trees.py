"""Trees as arrays: node `i` has the parent `parents[i]`. Depths, cycles, and what nodes have from their ancestors.

Every function doubles the distance that it looks up in each round, so that a tree of any depth takes few rounds.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

ROOT: Final = -1
"""The parent of a node without a parent."""

Numbers: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"
_Flags: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]]"
_Amounts: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"


@dataclass(frozen=True, slots=True)
class Order:
    """`cyclic`: whether a node is its own ancestor; those merely below a cycle are not. `depth`: the number of
    ancestors that are not on a cycle; 0 on a cycle.
    """

    cyclic: _Flags
    depth: Numbers


def ordered(parents: Numbers) -> Order:
    """The depths of nodes, and which of them are on cycles."""
    cyclic = np.zeros(len(parents), np.bool_)
    above, depth = _climbed(parents)
    endless = above != len(parents)
    if endless.any():
        cyclic[above[endless]] = True
        below = (parents != ROOT) & cyclic[parents]
        _, depth = _climbed(np.where(cyclic | below, ROOT, parents))
    return Order(cyclic, depth)


def _climbed(parents: Numbers) -> tuple[Numbers, Numbers]:
    """Where a walk up ends that is longer than any path, with `len(parents)` above the roots; and its length."""
    above, depth = _above(parents), np.append((parents != ROOT).astype(np.int64), 0)
    for _ in range(len(parents).bit_length()):
        if (above == len(parents)).all():
            break
        depth += depth[above]
        above = above[above]
    return above[:-1], depth[:-1]


def nearest(parents: Numbers, chosen: _Flags) -> Numbers:
    """By node, its nearest chosen ancestor, or `ROOT`. `parents` without cycles."""
    above, stops = _above(parents), np.append(chosen, True)
    while not stops[above].all():
        above = np.where(stops[above], above, above[above])
    found = above[:-1]
    return np.where(found == len(parents), ROOT, found)


def below_any(parents: Numbers, chosen: _Flags) -> _Flags:
    """By node, whether any ancestor of it is chosen. `parents` without cycles."""
    found: _Flags = nearest(parents, chosen) != ROOT
    return found


def largest_above(parents: Numbers, values: _Amounts) -> _Amounts:
    """By node, the largest value among it and its ancestors. `parents` without cycles."""
    above, largest = _above(parents), np.append(values, -np.inf)
    while not (above == len(parents)).all():
        largest = np.maximum(largest, largest[above])
        above = above[above]
    return largest[:-1]


def _above(parents: Numbers) -> Numbers:
    """The parents with one more node, which stands above the roots and itself."""
    size = len(parents)
    return np.append(np.where(parents == ROOT, size, parents), size)
