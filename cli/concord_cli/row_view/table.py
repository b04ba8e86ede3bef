"""A table as data: columns and rows, rendered for a terminal by `row_text`, and for a page by one macro."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from concord_cli.display_text import counted
from concord_cli.number_text import NONE

_NOTHING: Final = frozenset({"", "0", NONE})


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `kind`: "number", "head" (its cells name their rows), or another class of the style sheet.

    An `optional` one is left out if no row has anything in it.
    """

    title: str
    kind: str = ""
    optional: bool = False
    about: str = ""


def number_columns(*titles: str, optional: bool = False) -> list[Column]:
    """Columns of numbers."""
    return [Column(title, "number", optional=optional) for title in titles]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell. Its texts may be anybody's: they are escaped where they are shown.

    `aside`: a remark beside the text; `sign`: before it; `kind`: a class of the style sheet; `about`: what pointing at
    the cell tells. `links`: texts and addresses; `row_id`: the id of the cell's row. Shares of the cell's width:
    `behind`, a bar behind the text, and `bars`: kind, start and width of bars beside it.
    """

    text: str
    aside: str = ""
    sign: str = ""
    kind: str = ""
    about: str = ""
    links: tuple[tuple[str, str], ...] = ()
    row_id: str = ""
    behind: float | None = None
    bars: tuple[tuple[str, float, float], ...] = ()

    @property
    def words(self) -> str:
        """All that a terminal shows of it."""
        links = ", ".join(text for text, _ in self.links)
        aside = f"({self.aside})" if self.aside else ""
        return " ".join(part for part in (self.sign, self.text, links, aside) if part)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, in the order of the columns. `kind`: a class of the style sheet; `foot`: the last rows.

    `left_out`: a sentence on what is not listed, or empty.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    kind: str = ""
    foot: tuple[tuple[Cell, ...], ...] = ()
    left_out: str = ""


def table_of(
    title: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[Cell | str]],
    *,
    kind: str = "",
    foot: Iterable[Sequence[Cell | str]] = (),
    left_out: str = "",
) -> Table:
    """A table without those optional columns in which no row has anything."""
    body, last = (tuple(tuple(map(_cell, row)) for row in part) for part in (rows, foot))
    kept = [i for i, each in enumerate(columns) if not each.optional or any(_tells(row[i]) for row in body)]
    of_kept = [tuple(tuple(row[i] for i in kept) for row in part) for part in (body, last)]
    return Table(title, tuple(columns[i] for i in kept), of_kept[0], kind, of_kept[1], left_out)


def not_listed(n: int, thing: str) -> str:
    """`3 weaker flows are not listed.`; empty for none."""
    return f"{counted(n, thing)} {'is' if n == 1 else 'are'} not listed." if n > 0 else ""


def _cell(cell: Cell | str) -> Cell:
    return Cell(cell) if isinstance(cell, str) else cell


def _tells(cell: Cell) -> bool:
    return cell.text not in _NOTHING or bool(cell.links or cell.bars)
