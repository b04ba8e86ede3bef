"""Faulty habits that a seat of the sample team can have, to see what an assessment finds."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Final

from concord_suites.view import Seat, View

Outgoing = Mapping[str, list[Seat]]
"""For each receiver, the seats whose briefs a seat tells it."""


class Habit(StrEnum):
    """What a seat does wrong."""

    NONE = "none"
    WITHHOLDING = "withholding"
    """Tells nobody its own brief."""
    DISTORTING = "distorting"
    """Changes a digit of each number of its own brief."""
    FORGETFUL = "forgetful"
    """Passes on nothing that others told it."""
    CHATTERING = "chattering"
    """Tells everything again in every round, to everybody."""


def with_habit(habit: Habit, view: View, outgoing: Outgoing) -> Outgoing:
    """What a seat with this habit tells each receiver."""
    return {receiver: seats for receiver, seats in _HABITS[habit](view, outgoing).items() if seats}


def _withholding(view: View, outgoing: Outgoing) -> Outgoing:
    return {to: [seat for seat in seats if seat.name != view.own.name] for to, seats in outgoing.items()}


def _forgetful(view: View, outgoing: Outgoing) -> Outgoing:
    return {to: [seat for seat in seats if seat.name == view.own.name] for to, seats in outgoing.items()}


def _chattering(view: View, _: Outgoing) -> Outgoing:
    return {to: [view.known[name] for name in sorted(view.known)] for to in view.own.neighbours}


def _distorting(view: View, outgoing: Outgoing) -> Outgoing:
    wrong = replace(view.own, brief=re.sub(r"\d[\d,]{3,}\d", lambda found: _changed(found[0]), view.own.brief))
    return {to: [wrong if seat.name == view.own.name else seat for seat in seats] for to, seats in outgoing.items()}


def _changed(digits: str) -> str:
    """The number with one digit changed; the same number always to the same."""
    at = 1 + hashlib.sha256(digits.encode()).digest()[0] % (len(digits) - 1)
    while not digits[at].isdigit():
        at -= 1
    return f"{digits[:at]}{(int(digits[at]) + 3) % 10}{digits[at + 1 :]}"


_HABITS: Final[Mapping[Habit, Callable[[View, Outgoing], Outgoing]]] = {
    Habit.NONE: lambda _, outgoing: outgoing,
    Habit.WITHHOLDING: _withholding,
    Habit.DISTORTING: _distorting,
    Habit.FORGETFUL: _forgetful,
    Habit.CHATTERING: _chattering,
}
