"""Receipts: how much of a right answer rests on facts that messages told, and what a seat knew without one."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from math import fsum
from typing import Final

from concord.month_names import MONTHS
from concord.suite import Fact, Grade, Kind, SuiteTask, Value
from concord.suite.value_reader import read
from concord.trace.vocabulary import is_figure, words_in
from concord_evaluator.information.flow import Flow
from concord_evaluator.information.recogniser import as_found
from concord_evaluator.information.turns import Answered
from concord_evaluator.messages import Sent


@dataclass(frozen=True, slots=True)
class Unproven:
    """Needed facts of a right part that its seat could not know when it answered."""

    part: str
    seat: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Credit:
    """The credited value of each part, from 0 to 1, and what is missing in right parts."""

    parts: Mapping[str, float]
    unproven: tuple[Unproven, ...] = ()

    @property
    def outcome(self) -> float:
        """The mean of the parts, from 0 to 1."""
        return fsum(self.parts.values()) / len(self.parts)


def credit_of(task: SuiteTask, grade: Grade, flow: Flow, answered: Answered) -> Credit:
    """Credits each part of the answers with its value, times the share of its needed facts that its seat could know.

    Facts of the seat's own brief need no receipt; a part that needs no other fact is credited whole.
    """
    parts, unproven = dict[str, float](), list[Unproven]()
    for part in task.parts:
        value = grade.parts.get(part.id, 0.0)
        from_others = [need for need in part.needs if not _held(flow, part.seat, need)]
        time = answered.times.get(part.seat, answered.end)
        missing = tuple(need for need in from_others if not flow.knew(part.seat, need, time))
        parts[part.id] = value * (1 - len(missing) / len(from_others)) if from_others else value
        if value and missing:
            unproven.append(Unproven(part.id, part.seat, missing))
    return Credit(parts, tuple(unproven))


@dataclass(frozen=True, slots=True)
class Gap:
    """Failed parts of answers, and those whose seats answered though they could know all that the part follows from.

    Source: Silo-Bench (arXiv 2603.01045), which finds that agents get what they need, and cannot put it together.
    """

    parts: int = 0
    informed_parts: int = 0
    seats: int = 0
    informed_seats: int = 0


def gap_of(task: SuiteTask, grade: Grade, flow: Flow, answered: Answered) -> Gap:
    """The gap of a trial between what reached its seats and what they made of it."""
    informed: dict[str, list[bool]] = {}
    for part in task.parts:
        if grade.parts.get(part.id, 0.0) < 1:
            time = answered.times.get(part.seat)
            knew = time is not None and all(flow.knew(part.seat, need, time) for need in part.needs)
            informed.setdefault(part.seat, []).append(knew)
    of_seats = informed.values()
    return Gap(sum(map(len, of_seats)), sum(map(sum, of_seats)), len(informed), sum(map(all, of_seats)))


def lost_by_part(whole: Mapping[str, float], kept: Mapping[str, float]) -> dict[str, float]:
    """By part, the share of the outcome that is lost where parts worth `whole` (0 to 1) keep only `kept`."""
    return {part: max(0.0, value - kept.get(part, 0.0)) / len(whole) for part, value in whole.items()}


def information(task: SuiteTask, flow: Flow, answered: Answered) -> float | None:
    """The share of needed facts outside the answering seats' own briefs that reached them before they answered.

    From 0 to 1; None if no seat needs a fact of another.
    """
    reached = list[bool]()
    needs: dict[str, dict[str, None]] = {}
    for part in task.parts:
        needs.setdefault(part.seat, {}).update(dict.fromkeys(part.needs))
    for seat, needed in needs.items():
        time = answered.times.get(seat, answered.end)
        reached += [flow.knew(seat, need, time) for need in needed if not _held(flow, seat, need)]
    return fsum(reached) / len(reached) if reached else None


def economy(simple: int, sent: int) -> float:
    """What a simple team sends, per message that this team sent: from 0 to 1."""
    return min(1.0, simple / sent) if sent else 1.0


def _held(flow: Flow, seat: str, fact: str) -> bool:
    """Whether a seat's brief states a fact."""
    arrival = flow.known[seat].get(fact)
    return arrival is not None and arrival.time == 0


# Knowledge without a receipt: values of facts in a seat's answer that nothing which reached the seat had stated.

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
