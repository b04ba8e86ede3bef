"""Writes numbers in words, and days of a month in words, in digits."""

import re
from typing import Final

from text_to_num import alpha2digit  # type: ignore[import-untyped]

from concord.month_names import MONTH_PATTERN

_IN_WORDS: Final = re.compile(r"thousand|million", re.IGNORECASE)
"""Without such a word, no number in words is a value."""
_POWER_BY_DIGITS: Final = re.compile(r"(?<=\d) ?(thousand|million)\b", re.IGNORECASE)
"""A power of ten in words after digits: 48 thousand."""
_DIGITS_BY_POWER: Final = re.compile(r"\b(thousand|million)(?=,? (?:and )?\d{1,3}(?!\d|[,.]\d))", re.IGNORECASE)
"""The same before digits: forty-eight thousand 213."""
_THOUSAND, _MILLION, _REST = "\ue000", "\ue001", "\ue002"
"""Characters of no meaning that keep places of digits and powers while the other words become digits."""
_LINK: Final = rf"(?: {_REST})?,? (?:and )?"
_LAST: Final = rf"(?:{_LINK}(\d{{1,3}}))?(?!\d)"
_BY_POWERS: Final = re.compile(
    rf"(?<![\d.,])(?:(\d{{1,3}}){_MILLION}(?:{_LINK}(\d{{1,3}}){_THOUSAND})?{_LAST}|(\d{{1,3}}){_THOUSAND}{_LAST}"
    rf"|(\d+000) {_REST},? (?:and )?(\d{{1,3}})(?!\d))"
)
_ORDINALS: Final = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth",
    "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
)  # fmt: skip
"""The days of a month."""
_ORDINAL: Final = "(" + "|".join(sorted(_ORDINALS, key=len, reverse=True)).replace("-", "[- ]") + ")"
_DAY_IN_WORDS: Final = re.compile(
    rf"(?<!\w){_ORDINAL}(?: day)?(?= (?:of )?{MONTH_PATTERN}(?!\w))|(?<!\w)({MONTH_PATTERN}(?: the)?) {_ORDINAL}(?!\w)",
    re.IGNORECASE,
)
_GROUP_COMMA: Final = re.compile(r"(?:(?<=thousand)|(?<=million)), (?=[a-z])", re.IGNORECASE)


def in_digits(text: str) -> str:
    """A text with numbers from a thousand on and days of a month in digits: "forty-eight thousand 213" is "48213"."""
    text = _DAY_IN_WORDS.sub(_day, text)
    if not _IN_WORDS.search(text):
        return text
    text = _DIGITS_BY_POWER.sub(rf"\1 {_REST}", text)
    text = _POWER_BY_DIGITS.sub(lambda power: _THOUSAND if power[1].casefold() == "thousand" else _MILLION, text)
    return _BY_POWERS.sub(_composed, alpha2digit(_GROUP_COMMA.sub(" ", text), "en")).replace(f" {_REST}", "")


def _day(match: re.Match[str]) -> str:
    """The day of a month as a number: "twenty-first of March" is "21 of March"."""
    day = _ORDINALS.index(re.sub(" ", "-", match[1] or match[3]).casefold()) + 1
    return f"{match[2]} {day}" if match[2] else str(day)


def _composed(match: re.Match[str]) -> str:
    """A number of a million, thousands and the rest."""
    millions, thousands, rest = match[1] or 0, match[2] or match[4] or 0, match[3] or match[5] or match[7] or 0
    return str(int(millions) * 1_000_000 + int(thousands) * 1_000 + int(match[6] or 0) + int(rest))
