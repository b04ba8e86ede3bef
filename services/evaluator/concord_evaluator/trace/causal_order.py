"""Causal order: each call after the call that it was made in. Clocks only order calls without such a bond."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from concord_evaluator.trace.attempts import Attempts
from concord_evaluator.trace.columns import NEVER, Flags, Steps
from concord_evaluator.trace.trees import ROOT, Numbers, largest_above, nearest, ordered


def causal_order(attempts: Attempts, steps: Steps, counted: Flags) -> tuple[Numbers, Numbers]:
    """The numbers of the attempts in `counted` in causal order: each after the call that it was made in. And by place
    in this order, the place of that call, or `ROOT`.

    Calls without such a bond are sorted by their starts. A start before the parent's counts as the parent's, since the
    clocks of different machines cannot be compared; an unknown start does too. The children of an attempt that does
    not count belong to the nearest call above it that does.
    """
    parents = _parents(attempts, len(steps.columns))
    started = steps.columns.started_us[attempts.row]
    start = largest_above(parents, np.where(started == NEVER, -np.inf, started.astype(np.float64)))
    order = _sorted(np.flatnonzero(counted), start, ordered(parents).depth, attempts, steps)
    place = np.full(len(attempts) + 1, ROOT, np.int64)
    place[order] = np.arange(len(order))
    return order, place[nearest(parents, counted)[order]]


def _sorted(
    numbers: Numbers,
    start: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    depth: Numbers,
    attempts: Attempts,
    steps: Steps,
) -> Numbers:
    """The attempts by start, depth and step id. Compares texts only where start and depth are equal."""
    starts, depths = start[numbers], depth[numbers]
    order = np.lexsort((depths, starts))
    starts, depths = starts[order], depths[order]
    new = np.flatnonzero((starts[1:] != starts[:-1]) | (depths[1:] != depths[:-1])) + 1
    ordered_numbers: list[int] = numbers[order].tolist()
    for first, end in pairwise([0, *new.tolist(), len(ordered_numbers)]):
        if end - first > 1:
            ordered_numbers[first:end] = _by_id(ordered_numbers[first:end], attempts, steps)
    return np.array(ordered_numbers, np.int64)


def _by_id(numbers: Sequence[int], attempts: Attempts, steps: Steps) -> list[int]:
    names, row = steps.names.texts, attempts.row

    def key(number: int) -> tuple[str, str, str, str]:
        ends = names[attempts.caller[number]], names[attempts.callee[number]]
        return steps.step_id(row[number]), *ends, steps.trace_id(row[number])

    return sorted(numbers, key=key)


def _parents(attempts: Attempts, n_rows: int) -> Numbers:
    """By attempt, the number of the one that it was made in, or `ROOT`.

    Contradictory reports may form a cycle of parents; its members lose their parents.
    """
    attempt_of_row = np.full(n_rows + 1, ROOT, np.int64)
    """By row, the first attempt that it belongs to."""
    numbers = np.arange(len(attempts))
    attempt_of_row[attempts.row[::-1]] = numbers[::-1]
    for number, rows in attempts.others.items():
        for row in rows:
            known = attempt_of_row[row]
            attempt_of_row[row] = number if known == ROOT else min(int(known), number)
    parents = attempt_of_row[attempts.parent]
    if (cyclic := ordered(parents).cyclic).any():
        parents[cyclic] = ROOT
    return parents
