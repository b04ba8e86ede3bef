"""The grade of an answer, and the failure of a scorer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MAX_EXPLANATION: Final = 200
"""Characters of an explanation."""

_MAX_SHOWN: Final = 60
"""Characters of a quoted text in an explanation."""


class ScorerFailedError(Exception):
    """A scorer cannot grade an answer because of its options, its targets or its package."""

    def __init__(self, scorer: str, reason: str) -> None:
        super().__init__(_line(f"the scorer {scorer} failed: {reason}", MAX_EXPLANATION))


@dataclass(frozen=True, slots=True)
class Graded:
    """The grade of one answer from 0 to 1, and a one-line explanation of bounded length."""

    value: float
    explanation: str


def graded(value: float, explanation: str) -> Graded:
    """A grade. Puts the explanation on one line and shortens it."""
    return Graded(float(value), _line(explanation, MAX_EXPLANATION))


def shown(text: str) -> str:
    """The text as an explanation quotes it."""
    return f'"{_line(text, _MAX_SHOWN)}"'


def one_of(texts: Sequence[str]) -> str:
    """The targets as an explanation names them."""
    return f"the target {shown(texts[0])}" if len(texts) == 1 else f"any of the {len(texts)} targets"


def _line(text: str, length: int) -> str:
    """The text on one line, cut to `length`. Replaces unprintable characters, including lone surrogates."""
    line = " ".join(text[: 10 * length].split())
    cut = f"{line[: length - 1]}…" if len(line) > length else line
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in cut)
