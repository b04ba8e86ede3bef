"""Reads tables in a message, in which a heading says what the cells below it are about."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from concord.suite import Value
from concord_evaluator.information.values import Found

_OF_PROSE: Final = (";", ",")
_DELIMITERS: Final = ("|", "\t", *_OF_PROSE)
_RULE: Final = re.compile(r"[|\s:+-]*")
"""A line between headings and cells."""
_SENTENCE_END: Final = re.compile(r"[.!?]\s")

Cell = tuple[int, int]
"""Where a cell begins and ends in the text."""


@dataclass(frozen=True, slots=True)
class Table:
    """Lines with as many cells each."""

    delimiter: str
    headings: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]


def tables(text: str) -> Iterator[Table]:
    """All runs of at least two neighbouring lines that have as many cells. Rules under headings do not count."""
    if "\n" not in text:
        return
    lines = list(_lines(text))
    for delimiter in _DELIMITERS:
        if delimiter not in text:
            continue
        rows = [_cells(text, start, end, delimiter) for start, end in lines]
        breaks = [at for at, (row, other) in enumerate(pairwise(rows), 1) if len(row) != len(other)]
        for first, last in pairwise([0, *breaks, len(rows)]):
            if last - first > 1 and rows[first]:
                yield Table(delimiter, rows[first], tuple(rows[first + 1 : last]))


def columns(
    text: str, found: Sequence[Found], anchors: Collection[Value], values: Collection[Value]
) -> Iterator[list[Found]]:
    """The values below each heading that holds one anchor, with the heading's, row by row.

    The headings hold none of the `values`; below an anchor stands no anchor. In lines with commas or semicolons, which
    may be prose, all headings but the first hold an anchor. `found`: the values of the text that count.
    """
    if not any(each.value in anchors for each in found):
        return
    for table in tables(text):
        headings = [within(found, cell) for cell in table.headings]
        names = [[each for each in heading if each.value in anchors] for heading in headings]
        named = [len(name) == 1 for name in names]
        if any(each.value in values and each.value not in anchors for heading in headings for each in heading):
            continue
        if table.delimiter in _OF_PROSE and not all(named[1:]):
            continue
        for place, name in enumerate(names):
            cells = [within(found, row[place]) for row in table.rows]
            if named[place] and not any(each.value in anchors for cell in cells for each in cell):
                yield from ([*name, *cell] for cell in cells if cell)


def headed(text: str) -> Iterator[tuple[str, Cell]]:
    """Each cell below a heading, and the heading's text. Lines with commas in which a sentence ends are prose."""
    for table in tables(text):
        if table.delimiter in _OF_PROSE and any(_SENTENCE_END.search(text, *head) for head in table.headings):
            continue
        for row in table.rows:
            yield from ((text[slice(*head)], cell) for head, cell in zip(table.headings, row, strict=True))


def _lines(text: str) -> Iterator[Cell]:
    """The lines that are no rules."""
    start = 0
    for line in text.split("\n"):
        if not line or not _RULE.fullmatch(line):
            yield start, start + len(line)
        start += len(line) + 1


def _cells(text: str, start: int, end: int, delimiter: str) -> tuple[Cell, ...]:
    """The cells of a line; none if it is no row. One cell is a row only within a frame of bars."""
    line = text[start:end]
    bare = line.strip()
    if delimiter == "|" and len(bare) > 1 and bare[0] == bare[-1] == "|":
        start, line = start + line.index("|") + 1, bare[1:-1]
    elif delimiter not in line:
        return ()
    found = list[Cell]()
    for cell in line.split(delimiter):
        found.append((start, start + len(cell)))
        start += len(cell) + 1
    return tuple(found)


def within(found: Sequence[Found], cell: Cell) -> Sequence[Found]:
    """The values that begin in a cell."""
    first, last = (bisect_left(found, place, key=lambda each: each.at) for place in cell)
    return found[first:last]
