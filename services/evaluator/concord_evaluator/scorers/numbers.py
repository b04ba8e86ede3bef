"""Numbers in texts, as English writes them, read exactly."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import regex

_MAX_LENGTH: Final = 100
"""Characters of a number: longer runs of digits are none."""

_VARIANTS: Final = str.maketrans(
    {
        "\N{MINUS SIGN}": "-",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{FRACTION SLASH}": "/",
        "\N{NO-BREAK SPACE}": " ",
        "\N{NARROW NO-BREAK SPACE}": " ",
        "\N{THIN SPACE}": " ",
    }
)
_WORD: Final = r"\p{L}\p{M}\p{N}_"
"""Word characters. Unlike `\\w`, includes superscript digits, so that `10²` is not 10."""

_SPACED: Final = regex.compile(rf"(?<![{_WORD}.,'/])[1-9]\d{{0,2}}(?: \d{{3}})+(?![{_WORD}])")

# All characters that may belong to a number, so that no part of `3.5k`, `1.2.3` or `12/05/2024` is read as one.
_RUN: Final = regex.compile(
    rf"(?<sign>(?<![{_WORD})\]%])(?:[+-](?:\p{{Sc}}\s?)?|\p{{Sc}}[+-]))?"
    r"(?<![\p{L}\p{M}\p{N}])(?<!\d[.,'/])"
    rf"(?<run>(?:(?<![{_WORD}.])\.)?\d(?:[eE][+-]?\d|[{_WORD}.,'/])*)"
)
_TRAILING: Final = ".,'/_"
_NUMBER: Final = regex.compile(
    r"(?<whole>[1-9]\d{0,2}([,'_])\d{3}(?:\2\d{3})*|\d+)?(?:\.(?<decimals>\d*))?(?:[eE](?<exponent>[+-]?\d{1,3}))?"
)
_GROUPING: Final = regex.compile(r"[,'_]")
_RATIO: Final = regex.compile(r"(\d+)/(\d+)")


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text: as written, and its exact value."""

    text: str
    value: Fraction


def numbers_in(text: str) -> list[Number]:
    """The numbers in a text, in order.

    Reads signs (also the typographic minus), thousands separated by comma, space, apostrophe or underscore, decimals
    after a dot, powers of ten (`1e3`) and fractions (`1/2`). Ignores a currency or percent sign beside a number. Does
    not read numbers that continue with letters (`3.5k`, `42nd`), dates, versions, decimals after a comma, `nan`, `inf`.
    """
    return [figure for figure, _ in _found(_normalised(text))]


def number_in(text: str) -> Number | None:
    """The number that a text consists of, punctuation, currency and percent signs aside. None for others."""
    normalised = _normalised(text)
    found = list(_found(normalised))
    if len(found) != 1:
        return None
    figure, (start, end) = found[0]
    return None if regex.search(r"[\p{L}\p{M}\p{N}]", normalised[:start] + normalised[end:]) else figure


def exact_fraction(number: float) -> Fraction:
    """The exact value of a number as written: 0.1 is one tenth."""
    return Fraction(repr(number))


def _normalised(text: str) -> str:
    """The text with one form for each sign that has several, and without spaces in numbers."""
    return _SPACED.sub(lambda match: match[0].replace(" ", ""), text.translate(_VARIANTS))


def _found(text: str) -> Iterator[tuple[Number, tuple[int, int]]]:
    """The numbers in a text, each with its span."""
    for match in _RUN.finditer(text):
        value = _value(match["run"].rstrip(_TRAILING))
        if value is not None:
            yield Number(match[0].rstrip(_TRAILING), -value if "-" in (match["sign"] or "") else value), match.span()


def _value(run: str) -> Fraction | None:
    if len(run) > _MAX_LENGTH:
        return None
    if ratio := _RATIO.fullmatch(run):
        return Fraction(int(ratio[1]), int(ratio[2])) if int(ratio[2]) else None
    number = _NUMBER.fullmatch(run)
    if number is None or not (number["whole"] or number["decimals"]):
        return None
    whole, decimals = _GROUPING.sub("", number["whole"] or "0"), number["decimals"] or ""
    return Fraction(int(whole + decimals)) * Fraction(10) ** (int(number["exponent"] or 0) - len(decimals))
