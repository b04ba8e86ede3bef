"""Causal order: each call after the call that it was made in. Clocks only order calls without such a bond."""

from collections.abc import Sequence

import numpy as np

from concord_evaluator.trace.attempts import Attempts
from concord_evaluator.trace.cases import changes
from concord_evaluator.trace.columns import NEVER, Flags, Steps
from concord_evaluator.trace.trees import ROOT, Numbers, compact, largest_above, nearest, ordered


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
    return compact(order), compact(place[nearest(parents, counted)[order]])


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
    first = np.flatnonzero(changes(starts, depths))
    sizes = np.diff(np.append(first, len(order)))
    in_order = numbers[order]
    for begin, size in zip(first[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        in_order[begin : begin + size] = _by_id(in_order[begin : begin + size].tolist(), attempts, steps)
    return in_order


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
    first = np.full(n_rows + 1, len(attempts), np.int64)
    """By row, the first attempt that it belongs to."""
    first[attempts.row[::-1]] = np.arange(len(attempts))[::-1]
    np.minimum.at(first, attempts.other_row, attempts.attempt_of_other)
    parents = first[attempts.parent]
    parents[parents == len(attempts)] = ROOT
    if (cyclic := ordered(parents).cyclic).any():
        parents[cyclic] = ROOT
    return parents
