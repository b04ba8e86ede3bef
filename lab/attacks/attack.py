"""Attacks and their outcomes."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from lab.attacks.target import Target


class Verdict(StrEnum):
    HELD = "held"
    NOT_HELD = "not held"
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack. `how` describes it. `run` returns what was seen; it raises NotHeldError or NotTriedError."""

    name: str
    how: str
    run: Callable[[Target], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on one attack, and what was seen."""

    attack: Attack
    verdict: Verdict
    seen: str


class NotHeldError(Exception):
    """The attack succeeded; the message says what was seen."""


class NotTriedError(Exception):
    """The attack cannot be made on this stack; the message says what it takes."""


def expect(held: bool, seen: str) -> None:
    """Raises NotHeldError with what was seen unless the stack held."""
    if not held:
        raise NotHeldError(seen)
