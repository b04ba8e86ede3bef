"""Knowledge without a receipt: values of facts in a seat's answer that nothing which reached the seat had stated."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Final

from concord.month_names import MONTHS
from concord.suite import Fact, Kind, SuiteTask, Value
from concord.trace.vocabulary import is_figure, words_in
from concord_evaluator.information.flow import Sent
from concord_evaluator.information.recogniser import as_found
from concord_evaluator.information.values import read

_RECOGNISABLE: Final = frozenset({Kind.NUMBER, Kind.CODE, Kind.NAME, Kind.DATE})
_BETWEEN: Final = r"(?:[\W_]|st|nd|rd|th|of|the)*"
_GAPS: Final = {
    (True, True): r"\D{0,12}",
    (True, False): _BETWEEN,
    (False, True): r"[a-z]{0,6}" + _BETWEEN,
    (False, False): r"[\W_]*",
}
"""What may stand between two characters of a value, by whether they are digits: "48 thousand 213", "March the 14th"."""
_CLOSE: Final = timedelta(days=31)
_MOST_NUMERALS: Final = 3
"""A text with so many numbers in words may spell out a value."""


@dataclass(frozen=True, slots=True)
class Unexplained:
    """Facts whose values a seat's answer states although no text of the seat can be their source."""

    seat: str
    facts: tuple[str, ...]


def unexplained_in(task: SuiteTask, answers: Mapping[str, str], messages: Iterable[Sent]) -> list[Unexplained]:
    """The facts that seats' answers state without a source. Facts with an anchor are left out: words can be guessed.

    A source is the question, the seat's brief, or any message to the seat. In doubt, a text counts as a source: if it
    holds the value's letters and digits with anything between that may separate them, if it holds numbers in words, or
    if the value is the sum or difference of two numbers that the seat saw. Days among those that it saw can be guessed.
    """
    received: dict[str, list[str]] = {seat: [task.question, task.briefs[seat]] for seat in task.seats}
    for message in messages:
        if message.delivered and message.receiver in received:
            received[message.receiver].append(message.text)
    texts = {text: _Text.of(text) for text in {text for each in received.values() for text in each}}
    found = []
    for seat in task.seats:
        stated = {each.value for each in read(answers.get(seat, ""))[1]}
        seen = _Seen([texts[text] for text in received[seat]])
        facts = tuple(
            fact.id
            for fact in task.facts
            if _is_telling(fact) and seat not in fact.holders and as_found(fact.value) in stated
            if not seen.may_hold(fact.value)
        )
        if facts:
            found.append(Unexplained(seat, facts))
    return found


def _is_telling(fact: Fact) -> bool:
    return fact.anchor is None and fact.value.kind in _RECOGNISABLE


@dataclass(frozen=True, slots=True)
class _Text:
    """What a text may be the source of. It is read once for all its receivers."""

    plain: str
    values: frozenset[Value]
    has_numerals: bool

    @classmethod
    def of(cls, text: str) -> "_Text":
        return cls(
            unicodedata.normalize("NFKC", text).casefold(),
            frozenset(each.value for each in read(text)[1] if each.value.kind is not Kind.WORD),
            _numerals(text) >= _MOST_NUMERALS,
        )


class _Seen:
    """All that a seat has seen."""

    def __init__(self, texts: Sequence[_Text]) -> None:
        self._plain = "\n".join(text.plain for text in texts)
        self._values = frozenset[Value]().union(*(text.values for text in texts))
        self._numbers = {int(value.text) for value in self._values if value.kind is Kind.NUMBER}
        self._numbers |= {int(digits) for digits in re.findall(r"\d{1,15}", self._plain)}
        self._has_numerals = any(text.has_numerals for text in texts)

    def may_hold(self, value: Value) -> bool:
        """Whether the value may have been stated, however it was spelled, or can have been worked out."""
        if as_found(value) in self._values or any(_in_order(form, self._plain) for form in _forms(value)):
            return True
        match value.kind:
            case Kind.NUMBER:
                return self._has_numerals or self._adds_up(int(value.text))
            case Kind.DATE:
                return self._has_numerals or self._is_among_days(date.fromisoformat(value.text))
            case _:
                return False

    def _is_among_days(self, day: date) -> bool:
        """Whether the day can be guessed: the seat saw days before and after it, or one close to it."""
        days = sorted(date.fromisoformat(each.text) for each in self._values if each.kind is Kind.DATE)
        return bool(days) and days[0] - _CLOSE <= day <= days[-1] + _CLOSE

    def _adds_up(self, number: int) -> bool:
        return any(number - each in self._numbers or number + each in self._numbers for each in self._numbers if each)


def _numerals(text: str) -> int:
    """How many numbers a text holds in words."""
    return sum(word.replace("-", "").isalpha() and is_figure(word) for word in words_in(text))


def _forms(value: Value) -> Iterator[str]:
    """The letters and digits of a value, in the orders in which they may be written."""
    if value.kind is not Kind.DATE:
        yield re.sub(r"[\W_]", "", value.text.casefold())
        return
    day = date.fromisoformat(value.text)
    month, number = MONTHS[day.month - 1][:3].casefold(), str(day.day)
    yield from (number + month, month + number, f"{number}{day.month}", f"{day.month}{number}")
    yield from (f"{number}{day.month:02}", f"{day.month:02}{day.day:02}", f"{day.day:02}{day.month:02}")


def _in_order(form: str, text: str) -> bool:
    """Whether the characters of a form follow one another in a text; digits may have some text between them."""
    gaps = [_GAPS[a.isdigit(), b.isdigit()] for a, b in pairwise(form)]
    return (
        re.search("".join(f"{re.escape(a)}{gap}" for a, gap in zip(form, [*gaps, ""], strict=True)), text) is not None
    )
