"""Reads tables in a message whose columns are facts: a heading names what the values below it are about."""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from concord.suite import Value
from concord_evaluator.information.values import Found

_OF_PROSE: Final = (";", ",")
_DELIMITERS: Final = ("|", "\t", *_OF_PROSE)


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of several cells, and the values in each."""

    line: int
    cells: tuple[tuple[Found, ...], ...]


def columns(
    text: str, found: Sequence[Found], anchors: Collection[Value], values: Collection[Value]
) -> Iterator[list[Found]]:
    """The values below each heading that holds one anchor, with the heading's, row by row.

    A table is lines with as many cells each. Its headings hold none of the `values`; the rows below hold no anchor but
    in their first cell. In lines with commas or semicolons, which may be prose, all headings but the first hold an
    anchor. `found`: the values of the text that count.
    """
    if not any(each.value in anchors for each in found):
        return
    for delimiter in _DELIMITERS:
        for head, *body in _tables(text, delimiter, found):
            names = [[each for each in cell if each.value in anchors] for cell in head.cells]
            named = [len(name) == 1 for name in names]
            if not any(named) or any(each.value in values for cell in head.cells for each in cell):
                continue
            if (delimiter in _OF_PROSE and not all(named[1:])) or any(_names(row, anchors) for row in body):
                continue
            yield from (
                [*name, *cell] for row in body for name, cell in zip(names, row.cells, strict=True) if name and cell
            )


def _tables(text: str, delimiter: str, found: Sequence[Found]) -> Iterator[list[_Row]]:
    """Runs of neighbouring lines with as many cells, without lines that hold no value."""
    rows = [row for row in _rows(text, delimiter, found) if any(row.cells) or delimiter == "|"]
    starts = [0, *(at for at, (a, b) in enumerate(pairwise(rows), 1) if not _continues(a, b)), len(rows)]
    for start, end in pairwise(starts):
        table = [row for row in rows[start:end] if any(row.cells)]
        if len(table) > 1:
            yield table


def _continues(row: _Row, other: _Row) -> bool:
    return other.line == row.line + 1 and len(other.cells) == len(row.cells)


def _rows(text: str, delimiter: str, found: Sequence[Found]) -> Iterator[_Row]:
    start = 0
    for number, line in enumerate(text.splitlines(keepends=True)):
        inner = line.strip().strip(delimiter) if delimiter == "|" else line.rstrip("\n")
        if delimiter in line:
            place = start + line.index(inner) if inner else start
            cells = list[tuple[Found, ...]]()
            for cell in inner.split(delimiter):
                cells.append(_within(found, place, place + len(cell)))
                place += len(cell) + 1
            yield _Row(number, tuple(cells))
        start += len(line)


def _within(found: Sequence[Found], start: int, end: int) -> tuple[Found, ...]:
    first, last = (bisect_left(found, place, key=lambda each: each.at) for place in (start, end))
    return tuple(found[first:last])


def _names(row: _Row, anchors: Collection[Value]) -> bool:
    return any(each.value in anchors for cell in row.cells[1:] for each in cell)
