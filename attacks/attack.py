"""What an attack is, and how it can end."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from attacks.target import Target


class Verdict(StrEnum):
    """How an attack ended."""

    HELD = "held"
    NOT_HELD = "not held"
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True)
class Attack:
    """`how` says what is done. `run` returns what was seen; see the errors below."""

    name: str
    how: str
    run: Callable[[Target], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one attack ended, and what was seen."""

    attack: Attack
    verdict: Verdict
    seen: str


class NotHeldError(Exception):
    """The attack came off; the message says what was seen."""


class NotTriedError(Exception):
    """The attack cannot be made on this stack; the message says what it takes."""


def expect(held: bool, seen: str) -> None:
    """Raises NotHeldError with what was seen unless the stack held."""
    if not held:
        raise NotHeldError(seen)
