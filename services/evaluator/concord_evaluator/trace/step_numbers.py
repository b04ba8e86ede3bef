"""Numbers of steps: each reported step once, in the order of the reports, and the number of each step's parent."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

import numpy as np

from concord_evaluator.trace.cases import changes
from concord_evaluator.trace.columns import NONE, UNREPORTED, Codes, Names
from concord_evaluator.trace.texts import SPREAD, TextBuffer, Texts

_Hashes: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.uint64]]"


@dataclass(frozen=True, slots=True)
class Numbered:
    """`step`, `parent`: by report, the number of its step and of the step's parent, or `NONE`, or `UNREPORTED`.

    `step_ids`, `traces`: by step number, its id and the code of its trace. `unreported`: by report, the id of the
    parent that nobody reported.
    """

    step: Codes
    parent: Codes
    step_ids: Texts
    traces: Codes
    trace_ids: Sequence[str]
    unreported: dict[int, str]


class StepNumbers:
    """Numbers steps by trace and id, once all are known."""

    def __init__(self) -> None:
        self._trace_ids, self._ids = Names(), TextBuffer()
        self._traces, self._own, self._above, self._children = (array("i") for _ in range(4))
        self._hashes = array("Q")

    def add(self, trace_ids: Sequence[str], step_ids: Sequence[str], parent_ids: Sequence[str | None]) -> None:
        """Adds reports of steps, each with the step's trace, its id and its parent's."""
        traces = self._trace_ids.codes(trace_ids)
        told = np.flatnonzero(np.fromiter(map(bool, parent_ids), np.bool_, len(parent_ids)))
        ids = [*step_ids, *filter(None, parent_ids)]
        first, between, end = len(self._traces), len(self._traces) + len(step_ids), len(self._traces) + len(ids)
        self._children.frombytes((len(self._own) + told).astype(np.int32).tobytes())
        self._own.frombytes(np.arange(first, between, dtype=np.int32).tobytes())
        self._above.frombytes(np.arange(between, end, dtype=np.int32).tobytes())
        of_ids = np.append(traces, traces[told])
        hashes = np.fromiter(map(hash, ids), np.int64, len(ids)).view(np.uint64)
        self._traces.frombytes(of_ids.tobytes())
        self._hashes.frombytes((hashes ^ (of_ids.astype(np.uint64) * SPREAD)).tobytes())
        self._ids.add(ids)

    def numbered(self) -> Numbered:
        """The numbers of all steps that were added. Forgets their ids."""
        traces, own, above, child = (
            np.frombuffer(each, np.int32) for each in (self._traces, self._own, self._above, self._children)
        )
        ids, rows = self._ids.texts(), len(own)
        first = _first(ids, traces, np.frombuffer(self._hashes, np.uint64))
        reporting = np.full(len(ids), NONE, np.int32)
        reporting[first[own[::-1]]] = np.arange(rows, dtype=np.int32)[::-1]
        row, outer = reporting[first[own]], reporting[first[above]]
        new = row == np.arange(rows)
        number = np.cumsum(new, dtype=np.int32) - 1
        parent = np.full(rows, NONE, np.int32)
        parent[child] = np.where(outer == NONE, UNREPORTED, number[outer])
        unknown = np.flatnonzero(outer == NONE)
        return Numbered(
            number[row],
            parent,
            ids.only(own[new]),
            traces[own[new]],
            self._trace_ids.texts,
            dict(zip(child[unknown].tolist(), ids.only(above[unknown]), strict=True)),
        )


def _first(ids: Texts, traces: Codes, hashes: _Hashes) -> Codes:
    """By place, the first place of the same id in the same trace. `hashes`: of both."""
    order = np.argsort(hashes, kind="stable").astype(np.int32)
    new = changes(hashes[order])
    first = np.empty(len(order), np.int32)
    first[order] = order[new][np.cumsum(new) - 1]
    again = np.flatnonzero(first != np.arange(len(first)))
    if (traces[again] == traces[first[again]]).all() and ids.only(again).equals(ids.only(first[again])):
        return first
    places: dict[tuple[int, str], int] = {}  # equal hashes of different ids, which somebody may have searched
    return np.fromiter(map(places.setdefault, zip(traces.tolist(), ids, strict=True), count()), np.int32, len(ids))
