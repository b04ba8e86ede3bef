"""Cases: the distinct combinations in several columns, so that what depends on them alone is found once for each."""

from typing import Any, TypeAlias

import numpy as np

from concord_evaluator.trace.trees import Numbers

Flags: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]]"

_Codes: TypeAlias = "np.ndarray[tuple[int], np.dtype[Any]]"


def cases(first: _Codes, *others: _Codes) -> tuple[Numbers, Numbers]:
    """A row of each distinct combination, and by row the number of its combination. The columns hold integers.

    Numbers the combinations column by column, so that no product of the columns' ranges can overflow.
    """
    _, place, case = np.unique(first, return_index=True, return_inverse=True)
    for column in others:
        values, value = np.unique(column, return_inverse=True)
        _, place, case = np.unique(case * len(values) + value, return_index=True, return_inverse=True)
    return place, case.astype(np.int64, copy=False)


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
