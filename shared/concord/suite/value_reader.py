"""Finds values in text, in their usual spellings: codes, dates, numbers of five digits and more, numerals in words."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from itertools import product
from typing import Final, NamedTuple

from babel import Locale
from text_to_num import alpha2digit  # type: ignore[import-untyped]

from concord.suite import Kind, Value
from concord.suite.number_text import plain_numbers

# Writes numbers in words, and days of a month in words, in digits, in the languages that text2num reads.

_THOUSANDS: Final = {
    "en": "thousand|million",
    "fr": "mille|millions?",
    "de": r"\w*tausend\w*|million(?:en)?",
    "es": "mil|mill[oó]n(?:es)?",
    "pt": "mil|milh(?:ão|ões)",
    "it": r"mille|\w+mila\w*|milion[ei]",
    "nl": r"\w*duizend\w*|miljoen",
}
"""The languages, and the words without one of which no number in words of a language is a value."""
_IN_WORDS: Final = {
    language: re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) for language, words in _THOUSANDS.items()
}
_SAID: Final = re.compile(re.sub(r"\\w[*+]", "", "|".join(_THOUSANDS.values())), re.IGNORECASE)
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
_GROUP_COMMA: Final = re.compile(r"(?:(?<=thousand)|(?<=million)), (?=[a-z])", re.IGNORECASE)


def _months() -> Mapping[str, int]:
    """The numbers of months by their names and abbreviations, in lower case, also without accents."""
    names = dict[str, int]()
    for language in _THOUSANDS:
        months = Locale.parse(language).months
        for form, width in product(("format", "stand-alone"), ("wide", "abbreviated")):
            for month, name in months[form][width].items():
                plain = name.casefold().rstrip(".")
                names |= {plain: month, _without_accents(plain): month}
    return names | {"sept": 9}


def _without_accents(text: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))


_MONTHS: Final = _months()
_MONTH: Final = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")(?!\w)\.?"
_OF: Final = r"(?: (?:day )?(?:of|de|del|di|van))?"
_DAY_IN_WORDS: Final = re.compile(
    rf"(?<!\w)(?P<before>[^\W\d_]+(?:[ -][^\W\d_]+)?)(?: day)?(?={_OF} {_MONTH})"
    rf"|(?P<month>(?<!\w){_MONTH}(?: the)? )(?P<after>[^\W\d_]+(?:[ -][^\W\d_]+)?)",
    re.IGNORECASE,
)

_ONE_DAY: Final = re.compile(r"(?:[^\W\d_]+ )?\d{1,2}(?!\d)[^\W\d_]{0,2}(?: [^\W\d_]+)?")


def in_digits(text: str) -> str:
    """A text with numbers from a thousand on and days of a month in digits: "forty-eight thousand 213" is "48213"."""
    text = _DAY_IN_WORDS.sub(_day, text)
    if not _SAID.search(text):
        return text
    spoken = [language for language, words in _IN_WORDS.items() if words.search(text)]
    text = _DIGITS_BY_POWER.sub(rf"\1 {_REST}", text)
    text = _POWER_BY_DIGITS.sub(lambda power: _THOUSAND if power[1].casefold() == "thousand" else _MILLION, text)
    text = _GROUP_COMMA.sub(" ", text)
    # A number is shortest in the language that it is written in: others read only a part of it.
    text = min([text, *(alpha2digit(text, language) for language in spoken)], key=len)
    return _BY_POWERS.sub(_composed, text).replace(f" {_REST}", "")


def _day(match: re.Match[str]) -> str:
    """The day of a month as a number: "twenty-first of March" is "21st of March"."""
    month, words = match["month"] or "", match["before"] or match["after"]
    days = (alpha2digit(words, language, threshold=0) for language in _THOUSANDS)
    return month + next(filter(_ONE_DAY.fullmatch, days), words)


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

_DAY: Final = r"\d{1,2}(?:st|nd|rd|th|er|[oa]|e)?"

_CODE: Final = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{2})( ?[-\u2010-\u2014_] ?| ?)(\d{5})(?![0-9A-Za-z])")
_ISO: Final = re.compile(r"(?<!\d)(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)")
_DAY_FIRST: Final = re.compile(
    rf"(?<!\w)({_DAY})(?:{_OF}|\.)[ /-]({_MONTH}),?(?: del?| di)?[ /-](\d{{4}})(?!\d)", re.IGNORECASE
)
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
    """A value in a text, and where it begins and ends."""

    value: Value
    at: int
    end: int


def normalised(text: str) -> str:
    """A text without typographic variants and markup, and with numbers in digits, as `values_in` reads it."""
    return in_digits(_MARKUP.sub(" ", unicodedata.normalize("NFKC", plain_numbers(text))))


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
    found += [FoundValue(_word(word[0]), *word.span()) for word in _WORD.finditer(plain)]
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
            found += [FoundValue(value, *match.span()) for value in values]
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
    yield from _date(match[3], _month(match[2]), _digits(match[1]))


def _month_first(match: re.Match[str]) -> Iterator[Value]:
    yield from _date(match[3], _month(match[1]), _digits(match[2]))


def _year_first(match: re.Match[str]) -> Iterator[Value]:
    yield from _date(match[1], _month(match[2]), _digits(match[3]))


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


def _month(name: str) -> int:
    return _MONTHS[name.casefold().rstrip(".")]


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
