"""Finds values in text, in their usual spellings: codes, dates, numbers of five digits and more, numerals in words."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import Final, NamedTuple

from text_to_num import alpha2digit  # type: ignore[import-untyped]

from concord.month_names import MONTH_PATTERN, month_number
from concord.suite import Kind, Value

# Writes numbers in words, and days of a month in words, in digits.

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


# Values in text.

SMALLEST_NUMBER: Final = 10_000
"""Smaller numbers occur in any text, and prove nothing."""

_LONGEST_NUMBER: Final = 100
"""Digits of a number: a longer run is none. Python refuses to read thousands of digits, which ended evaluations."""

_KEPT: Final = 4_000
"""Characters of the longest texts whose values are kept."""

_MONTH: Final = rf"{MONTH_PATTERN}\.?"
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"

_CODE: Final = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{2})( ?[-\u2010-\u2014_] ?| ?)(\d{5})(?![0-9A-Za-z])")
_ISO: Final = re.compile(r"(?<!\d)(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)")
_DAY_FIRST: Final = re.compile(rf"(?<!\w)({_DAY})(?: of|\.)?[ /-]({_MONTH}),?[ /-](\d{{4}})(?!\d)", re.IGNORECASE)
_MONTH_FIRST: Final = re.compile(rf"(?<!\w)({_MONTH})(?: the)?[ /-]({_DAY}),?[ /-](\d{{4}})(?!\d)", re.IGNORECASE)
_YEAR_FIRST: Final = re.compile(rf"(?<!\d)(\d{{4}}),?[ /-]({_MONTH})[ /-]({_DAY})(?!\w)", re.IGNORECASE)
_NUMERIC: Final = re.compile(r"(?<!\d)(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?!\d)")
_SPACED: Final = re.compile(r"(?<![\w./-])\d+(?: \d+)+(?![\w])")
_GROUPED: Final = re.compile(r"\d{1,3}(?: \d{3})+")
_UNIT: Final = (
    r"(?:[mk]?g|tons?|t|lbs?|oz|grams?|[kcm]?m|ft|feet|m?l|h|hrs?|hours?|kr|crowns?|eur|usd|gbp|pts?|points?|pcs)\b"
)
"""A unit that may stand right behind a number."""
_NUMBER: Final = re.compile(
    rf"(?<![\w.])(?:(?<!/)\d{{1,3}}(?:([,.'\u2019_])\d{{3}}(?:\1\d{{3}})*)(?!\d)|\d{{5,}})(?={_UNIT}|\W|$)",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_MARKUP: Final = re.compile(r"[*`\"\u201c\u201d]|(?<!\w)_|_(?!\w)")


class FoundValue(NamedTuple):
    """A value in a text, and where it begins."""

    value: Value
    at: int


def normalised(text: str) -> str:
    """A text without typographic variants and markup, and with numbers in digits, as `values_in` reads it."""
    return in_digits(_MARKUP.sub(" ", unicodedata.normalize("NFKC", text)))


def read(text: str) -> tuple[str, Sequence[FoundValue]]:
    """A text as `normalised`, and its values. Short texts are kept: several parts of an evaluation read them."""
    return _read_once(text) if len(text) <= _KEPT else _read(text)


def _read(text: str) -> tuple[str, Sequence[FoundValue]]:
    plain = normalised(text)
    return plain, values_in(plain)


_read_once = lru_cache(maxsize=512)(_read)


def respelled(plain: str) -> str:
    """A normalised text in which codes and numbers are written as `Value` has them."""
    plain = _CODE.sub(lambda each: f"{each[1].upper()}-{each[3]}" if each[2].strip() else each[0], plain)
    return _NUMBER.sub(lambda each: _digits(each[0]) + " ", plain)


def values_in(plain: str) -> list[FoundValue]:
    """All values in a normalised text, in its order. A text that can be read in two ways is found as both.

    Such are the date 03/04/2031, and "is 48213": a number, or the code IS-48213.
    """
    found: list[FoundValue] = []
    for pattern, read in _NAMED_FORMS:
        plain = _take(plain, pattern, read, found)
    plain = _take(plain, _NUMERIC, _numeric, found)
    plain = _take(plain, _SPACED, _spaced_numbers, found)
    plain = _take(plain, _NUMBER, _numbers, found)
    found += [FoundValue(_word(word[0]), word.start()) for word in _WORD.finditer(plain)]
    return sorted(found, key=lambda each: each.at)


@lru_cache(maxsize=10_000)
def _word(text: str) -> Value:
    return Value(Kind.WORD, text.casefold())


def _take(
    text: str, pattern: re.Pattern[str], read: Callable[[re.Match[str]], Iterator[Value]], found: list[FoundValue]
) -> str:
    """Adds what a pattern finds, and blanks it out, so that it is not read as something else."""
    kept, end = [], 0
    for match in pattern.finditer(text):
        values = list(read(match))
        if values:
            found += [FoundValue(value, match.start()) for value in values]
            kept += [text[end : match.start()], " " * (match.end() - match.start())]
            end = match.end()
    return "".join([*kept, text[end:]])


def _codes(match: re.Match[str]) -> Iterator[Value]:
    yield Value(Kind.CODE, f"{match[1].upper()}-{match[3]}")
    if " " in match[2]:
        yield Value(Kind.NUMBER, match[3])
        yield Value(Kind.WORD, match[1].casefold())


def _iso(match: re.Match[str]) -> Iterator[Value]:
    yield from _date(match[1], match[3], match[4])


def _day_first(match: re.Match[str]) -> Iterator[Value]:
    yield from _date(match[3], month_number(match[2]), _digits(match[1]))


def _month_first(match: re.Match[str]) -> Iterator[Value]:
    yield from _date(match[3], month_number(match[1]), _digits(match[2]))


def _year_first(match: re.Match[str]) -> Iterator[Value]:
    yield from _date(match[1], month_number(match[2]), _digits(match[3]))


def _numeric(match: re.Match[str]) -> Iterator[Value]:
    yield from _date(match[4], match[3], match[1])
    if match[1] != match[3]:
        yield from _date(match[4], match[1], match[3])


def _spaced_numbers(run: re.Match[str]) -> Iterator[Value]:
    """One number, if spaces group the digits of the whole run by threes: "48 213", but not "59 159 97 726"."""
    if _GROUPED.fullmatch(run[0]):
        yield from _numbers(run)


def _numbers(match: re.Match[str]) -> Iterator[Value]:
    digits = _digits(match[0])
    if len(digits) <= _LONGEST_NUMBER and (number := int(digits)) >= SMALLEST_NUMBER:
        yield Value(Kind.NUMBER, str(number))


def _date(year: str | int, month: str | int, day: str | int) -> Iterator[Value]:
    try:
        yield Value(Kind.DATE, date(int(year), int(month), int(day)).isoformat())
    except ValueError:
        return


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


_NAMED_FORMS: Final = (
    (_CODE, _codes),
    (_ISO, _iso),
    (_DAY_FIRST, _day_first),
    (_MONTH_FIRST, _month_first),
    (_YEAR_FIRST, _year_first),
)
"""What can be read in one way only, in the order in which it is looked for."""
