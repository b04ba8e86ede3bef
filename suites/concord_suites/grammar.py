"""Sentences with blanks, which the same templates write and read."""

import datetime
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from string import Formatter
from typing import Final

from concord.month_names import MONTHS, month_number
from concord.suite import Draw

_DATE = rf"\d{{4}}-\d\d-\d\d|\d{{1,2}} (?:{'|'.join(MONTHS)}) \d{{4}}|(?:{'|'.join(MONTHS)}) \d{{1,2}}, \d{{4}}"

_PATTERNS: Final = {
    "number": r"\d{1,3}(?:,\d{3})+|\d+",
    "code": r"[A-Z]{2}-\d{5}",
    "name": r"[A-Z][a-z]+",
    "date": _DATE,
    "word": r"[a-z]+(?:-[a-z]+)*",
    "seat": r"[\w./-]*\w",
}


@dataclass(frozen=True, slots=True)
class StatedRecord:
    """What a sentence states: the statement's name, and its blanks filled with canonical text."""

    statement: str
    fields: Mapping[str, str]

    def __getitem__(self, field: str) -> str:
        return self.fields[field]

    def number(self, field: str) -> int:
        """A number in the record."""
        return int(self.fields[field])


@dataclass(frozen=True, init=False)
class Statement:
    """One thing that a brief or a question can state, in several wordings.

    A template is a sentence with blanks: "The counter shows {reading:number}." The type of a blank is one of number,
    code, name, date, word (lower-case) and seat. All templates of a statement have the same blanks.
    """

    name: str
    templates: tuple[str, ...]

    def __init__(self, name: str, *templates: str) -> None:
        vars(self).update(name=name, templates=templates)

    @cached_property
    def blanks(self) -> Mapping[str, str]:
        """The type of each blank."""
        return {field: kind for _, field, kind in _pieces(self.templates[0]) if field}

    def write(self, draw: Draw, **fields: str | int) -> str:
        """The statement in one of its wordings."""
        return "".join(
            literal + (_spelled(kind, str(fields[field]), draw) if field else "")
            for literal, field, kind in _pieces(draw.choice(self.templates))
        )

    def read(self, text: str) -> Iterator[tuple[int, int, StatedRecord]]:
        """The statement's occurrences in a text, each with where it begins and ends there."""
        for literal, template in self._literals:
            if literal not in text:
                continue  # a search for text is many times as fast as one for a pattern, which is then not compiled
            pattern, kinds = _compiled(template)
            for found in pattern.finditer(text):
                fields = {field: _canonical(kind, found[field]) for field, kind in kinds.items()}
                yield *found.span(), StatedRecord(self.name, fields)

    @cached_property
    def _literals(self) -> list[tuple[str, str]]:
        return [(_longest_literal(template), template) for template in self.templates]


def read_all(statements: tuple[Statement, ...], text: str) -> list[StatedRecord]:
    """Every statement that a text makes, in its order."""
    return [record for _, _, record in sorted(
        (found for statement in statements for found in statement.read(text)), key=lambda each: each[0]
    )]  # fmt: skip


def _pieces(template: str) -> list[tuple[str, str, str]]:
    """The literal texts of a template, each with the blank after it and its type; both are empty after the last."""
    return [(literal, field or "", kind or "word") for literal, field, kind, _ in Formatter().parse(template)]


def _longest_literal(template: str) -> str:
    return max((literal for literal, *_ in _pieces(template)), key=len)


@cache
def _compiled(template: str) -> tuple[re.Pattern[str], dict[str, str]]:
    pattern, kinds = "", dict[str, str]()
    for literal, field, kind in _pieces(template):
        pattern += re.escape(literal)
        if field:
            kinds[field] = kind
            pattern += f"(?P<{field}>{_PATTERNS[kind]})"
    return re.compile(rf"(?<!\w){pattern}"), kinds


def _spelled(kind: str, text: str, draw: Draw) -> str:
    if kind == "number":
        return f"{int(text):,}" if draw.chance(0.5) else text
    if kind == "date":
        day = datetime.date.fromisoformat(text)
        month = MONTHS[day.month - 1]
        return draw.choice((text, f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}"))
    return text


def _canonical(kind: str, text: str) -> str:
    if kind == "number":
        return text.replace(",", "")
    if kind != "date" or re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return text
    words = text.replace(",", "").split()
    day, month, year = (words[1], words[0], words[2]) if words[0] in MONTHS else (words[0], words[1], words[2])
    return datetime.date(int(year), month_number(month), int(day)).isoformat()


class Fresh:
    """Draws values that no other value of the same task equals."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._taken = set[str]()

    def number(self, low: int = 10_000, high: int = 99_999) -> int:
        """A number of five digits, or from the given range."""
        return int(self._take(lambda: str(self._draw.between(low, high))))

    def code(self) -> str:
        """A code: two letters, and five digits that no other code and no other number of the task has."""
        letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
        return f"{self._draw.choice(letters)}{self._draw.choice(letters)}-{self.number()}"

    def name(self) -> str:
        """A rare name: three syllables that no English word has together."""
        return self._take(
            lambda: (self._draw.choice(_ONSETS) + self._draw.choice(_MIDDLES) + self._draw.choice(_ENDS)).capitalize()
        )

    def date(self, first: datetime.date, last: datetime.date) -> datetime.date:
        """A day from `first` to `last`."""
        days = (last - first).days
        return datetime.date.fromisoformat(
            self._take(lambda: (first + datetime.timedelta(self._draw.between(0, days))).isoformat())
        )

    def _take(self, candidate: Callable[[], str]) -> str:
        for _ in range(10_000):
            if (text := candidate()) not in self._taken:
                self._taken.add(text)
                return text
        raise ValueError("there are not enough different values for such a task")


_ONSETS: Final = (
    "bra", "cho", "dre", "fyo", "gla", "hve", "jor", "kri", "lum", "mav", "nyx", "ost", "pra", "quo", "rhu", "skel",
    "thal", "ulm", "vor", "wyn", "xan", "yso", "zeb", "drav",
)  # fmt: skip
_MIDDLES: Final = (
    "bin", "dor", "fen", "gar", "hil", "kas", "len", "mor", "nev", "pol", "rin", "sev", "tar", "vik", "wan", "zor",
    "lath", "mund", "quil", "rosk",
)  # fmt: skip
_ENDS: Final = (
    "a", "ek", "ius", "old", "ra", "sk", "um", "yn", "ova", "eth", "and", "io", "esh", "ulf", "ane", "ork",
)  # fmt: skip
