"""Cases: the distinct combinations in several columns, so that what depends on them alone is found once for each."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from concord_evaluator.trace.trees import Numbers

Flags: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]]"

_Codes: TypeAlias = "np.ndarray[tuple[int], np.dtype[Any]]"


def cases(first: _Codes, *others: _Codes) -> tuple[Numbers, Numbers]:
    """The first row of each distinct combination, and by row the number of its combination, in order of the columns."""
    order = np.lexsort((*reversed(others), first))
    new = changes(*(column[order] for column in (first, *others)))
    case = np.empty(len(order), np.int64)
    case[order] = np.cumsum(new) - 1
    return order[new], case


def are(codes: _Codes, few: Iterable[int]) -> Flags:
    """By row, whether its code is one of these. For two codes, in a tenth of the time of `np.isin`."""
    found = np.zeros(len(codes), np.bool_)
    for code in few:
        found |= codes == code
    return found


def changes(*columns: _Codes) -> Flags:
    """By row, whether any of the columns differs from the row before. True for the first row."""
    new = np.zeros(len(columns[0]), np.bool_)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new


def pairs(first: _Codes, second: _Codes) -> tuple["np.ndarray[tuple[int, int], np.dtype[np.int64]]", Numbers]:
    """The distinct pairs of both columns, sorted, a row for each; and how often each occurs. The columns hold no
    negative numbers."""
    size = int(second.max(initial=0)) + 1
    distinct, times = np.unique(first.astype(np.int64) * size + second, return_counts=True)
    return np.column_stack([distinct // size, distinct % size]), times
