"""Values that text states recognisably: numbers of five digits and more, codes, rare names, dates."""

import datetime
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What kind of value it is, which decides its spellings."""

    NUMBER = "number"
    CODE = "code"
    NAME = "name"
    DATE = "date"
    WORD = "word"
    """A word of a small domain, such as a candidate or a colour: recognised only beside an anchor."""


@dataclass(frozen=True, slots=True, order=True)
class Value:
    """A value in its canonical spelling: "48213", "KX-44718", "Quorvath", "2031-03-14"."""

    kind: Kind
    text: str

    def __hash__(self) -> int:
        """The hash of the text, which the text keeps: values are counted by the million."""
        return hash(self.text)


def number(value: int) -> Value:
    """A number as a value."""
    return Value(Kind.NUMBER, str(value))


def date(value: datetime.date) -> Value:
    """A day as a value."""
    return Value(Kind.DATE, value.isoformat())


def code(text: str) -> Value:
    """A code such as KX-44718 as a value."""
    return Value(Kind.CODE, text)


def name(text: str) -> Value:
    """A rare name as a value."""
    return Value(Kind.NAME, text)


def word(text: str) -> Value:
    """A word of a small domain as a value."""
    return Value(Kind.WORD, text)
