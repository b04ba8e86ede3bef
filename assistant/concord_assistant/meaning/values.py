"""The values in a text that can be compared by rule: addresses, dates, times, weekdays, codes, amounts and numbers."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from text_to_num import alpha2digit  # type: ignore[import-untyped]

from concord.month_names import MONTH_PATTERN, month_number

Kind = Literal["email", "phone", "date", "time", "weekday", "code", "number"]

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MEASURES: Final = frozenset(
    {
        *("hour", "hours", "h", "min", "mins", "minute", "minutes", "day", "days", "week", "weeks", "month", "months"),
        *("year", "years", "second", "seconds", "inch", "inches", "cm", "mm", "m", "km", "kg", "g", "percent", "mile"),
        *("miles", "degrees", "am", "pm"),
    }
)
"""Units of which a count of things is none."""

_WORDS_AFTER: Final = 3


@dataclass(frozen=True, slots=True)
class Found:
    """A value in a text, from `at` to `end`."""

    kind: Kind
    options: tuple[str, ...]
    """Its readings in one spelling: "5/7" is 05-07 or 07-05, "4:00" is 04:00 or 16:00, and "the 19th" is *-19."""
    at: int
    end: int
    unit: str = ""
    """Of a number: its currency or the word after it."""
    after: tuple[str, ...] = ()
    """Of a number: the next words, in lower case, to the end of the sentence at most."""


def normalised(text: str) -> str:
    """A text with plain quotation marks, dashes and spaces, without invisible characters and markup, numbers in digits.

    All positions of values are positions in this text.
    """
    plain = _BLANKS.sub(" ", unicodedata.normalize("NFKC", text).translate(_PLAIN))
    plain = _BLANK_LINES.sub("\n\n", plain)
    plain = "".join(each for each in plain if each == "\n" or unicodedata.category(each) not in {"Cf", "Cc"})
    digits = [alpha2digit(line, "en") if _LETTER.search(line) else line for line in plain.split("\n")]
    return _DOZENS.sub(_dozens, _MARKUP.sub("", "\n".join(digits)))


def find(text: str) -> list[Found]:
    """The values of a normalised text, in their order, none within another one."""
    found: list[Found] = []
    taken = bytearray(len(text))
    for kind, pattern, options in _PATTERNS:
        for match in pattern.finditer(text):
            at, end = match.span("value" if "value" in pattern.groupindex else 0)
            if not any(taken[at:end]) and (read := options(match)):
                taken[at:end] = b"\1" * (end - at)
                if kind is not None:
                    found.append(Found(kind, read, at, end))
    for match in _NUMBER.finditer(text):
        if not any(taken[match.start("number") : match.end("number")]):
            after = _AFTER.match(text, match.end("number"))
            words = tuple(_WORD.findall(after[0].casefold()))[:_WORDS_AFTER] if after else ()
            number = (_number(match["number"]),)
            found.append(Found("number", number, match.start(), match.end("number"), _unit(match), words))
    return sorted(found, key=lambda each: each.at)


def values_in(text: str) -> dict[str, set[str]]:
    """The values of a text by kind, in one spelling. Numbers of different units are of different kinds."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for each in find(normalised(text)):
        found[f"number {each.unit}" if each.kind == "number" else each.kind].add(each.options[0])
    return dict(found)


_PLAIN: Final = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": " - ", "\u00a0": " "}
)
_MARKUP: Final = re.compile(r"\*\*|__|`|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)")
_BLANKS: Final = re.compile(r"[^\S\n]+")
_BLANK_LINES: Final = re.compile(r"\n(?: ?\n)+ ?")
_DOZENS: Final = re.compile(r"\b(?:a|(\d{1,3}))\s+dozen\b", re.I)
_LETTER: Final = re.compile(r"[^\W\d_]")
_WORD: Final = re.compile(r"\w[\w'-]*")
_AFTER: Final = re.compile(r"[\w' \t/%-]{0,60}")

_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:,?\s+\d{4}\b)?"
_HOURS: Final = r"(?:[01]?\d|2[0-3])"
_HALF: Final = r"(?:\s*(?P<half>[ap]\.?m\b\.?))"

_EMAIL: Final = re.compile(r"(?<![\w.+-])(?P<value>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})")
_PHONE: Final = re.compile(r"(?P<value>(?:\+|\b00)\d[\d ()-]{6,}\d|\b\d{3}[ -]\d{3}[ -]\d{4}\b|(?<![\w.,])\d{10,13}\b)")
_INSTANT: Final = re.compile(r"(?P<value>\b\d{4}-(?P<month>\d{2})-(?P<day>\d{2}))(?!\d)")
_DAY_TO_DAY: Final = re.compile(
    rf"\b(?P<value>(?P<day>\d{{1,2}})(?:st|nd|rd|th)?)(?=\s*(?:-|to|and|or|until|till|through|/)\s*(?:the\s+)?"
    rf"\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<name>{MONTH_PATTERN})\b)",
    re.I,
)
_DAY_MONTH: Final = re.compile(
    rf"\b(?P<value>(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?(?! ?\n\n)\s*(?:of\s+)?"
    rf"(?!may\s+(?:i|we)\b)(?P<name>{MONTH_PATTERN})\b{_YEAR})",
    re.I,
)
_MONTH_DAY: Final = re.compile(
    rf"\b(?P<value>(?P<name>{MONTH_PATTERN})\.?\s+(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.]\d){_YEAR})",
    re.I,
)
_MONTH_YEAR: Final = re.compile(rf"\b(?P<value>{MONTH_PATTERN}\.?\s+\d{{4}})\b", re.I)
_NUMERIC: Final = re.compile(
    r"(?<![\w/.])(?P<value>(?P<one>\d{1,2})(?:/(?P<two>\d{1,2})(?:/\d{2,4})?|\.(?P<three>\d{1,2})\.(?:\d{2,4})?))(?![\w/])"
)
_ORDINAL: Final = re.compile(
    r"\b(?:(?P<day>\d{1,2})(?:st|nd|rd|th)\b"
    r"|(?:on|until|by)\s+(?:the\s+)?(?P<bare>\d{1,2})(?=\s*(?:[.,;!?)](?!\d)|$)))",
    re.I | re.M,
)
_TIME: Final = re.compile(
    rf"(?<![\w:.,])(?P<value>(?P<hour>\d{{1,2}})(?:[:h](?P<minute>[0-5]\d)(?::[0-5]\d)?){_HALF}?"
    rf"|(?P<bare>\d{{1,2}})(?:\.(?P<minute2>[0-5]\d))?\s*(?P<half2>[ap]\.?m\b\.?)"
    r"|(?P<clock>\d{1,2})\s*o'?\s?clock"
    r"|(?P<past>half|quarter|5|10|20|25)\s+(?P<side>past|to)\s+(?P<of>\d{1,2})\b"
    r"|(?P<military>(?:[01]\d|2[0-3])[0-5]\d)\s*(?:hrs|hours)\b"
    r"|(?P<named>noon|midday|midnight))(?![\w])",
    re.I,
)
_BARE_TIME: Final = re.compile(
    rf"\b(?:at|by|until|till|before|from)\s+(?P<value>(?P<hour>{_HOURS})(?:[. ](?P<minute>[0-5]\d))?)"
    r"(?=\s*(?:[.,;!?)](?!\d)|$|-|(?:on|in|and|or|to|tomorrow|today|sharp|this|for|local|our|your|as|would|works|is|it|"
    r"we|i|please|berlin|utc|here|with|instead|not|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b))",
    re.I | re.M,
)
_WEEKDAY: Final = re.compile(
    r"\b(?:(?i:mon|tues|wednes|thurs|fri|satur|sun)(?i:days?)|(?:Mon|Tues?|Wed|Thu|Thurs?|Fri|Sat|Sun))\b"
)
_CODE: Final = re.compile(
    r"(?<![\w-])(?:(?P<letters>[A-Z]{1,5})(?:(?P<space> )| ?-? ?)(?P<digits>\d{3,}[A-Z]?)"
    r"|(?P<low>[a-z]{1,5})-?(?P<digits2>\d{3,}))(?![\w-])"
)
_NUMBER: Final = re.compile(
    r"(?:(?P<before>[€$£]|\b(?:gbp|eur|usd))\s*)?(?<![\w.,-])(?P<number>\d{1,3}(?:[,.' ]\d{3})+(?:[.,]\d{1,2})?|"
    r"\d+(?:[.,]\d+)?)(?![\w]|[.,]\d)[^\S\n]*(?P<unit>[€$£%]|-?[A-Za-z]+)?",
    re.I,
)

_CURRENCIES: Final[Mapping[str, str]] = {"€": "eur", "$": "usd", "£": "gbp", "euro": "eur", "euros": "eur"} | {
    "eur": "eur",
    "gbp": "gbp",
    "usd": "usd",
    "quid": "gbp",
    "dollar": "usd",
    "dollars": "usd",
    "pound": "gbp",
    "pounds": "gbp",
}
CURRENCIES: Final = frozenset(_CURRENCIES.values())
_NO_UNITS: Final = re.compile(
    "a|an|and|are|as|at|but|by|for|from|has|if|in|is|it|now|of|on|only|or|per|please|so|that|the|then|this|to|until|was|we"
    "|which|will|with|you"
)
"""Words after a number that are not a unit."""


def _dozens(match: re.Match[str]) -> str:
    return str(12 * int(match[1] or 1))


def _date(match: re.Match[str]) -> tuple[str, ...]:
    parts = match.groupdict()
    name, day = parts.get("name"), int(parts["day"])
    month = month_number(name) if name else int(parts["month"])
    return (f"{month:02}-{day:02}",) if 1 <= day <= 31 and 1 <= month <= 12 else ()


def _numeric_date(match: re.Match[str]) -> tuple[str, ...]:
    """A date of two numbers. With a slash, the month may come first."""
    one, two = int(match["one"]), int(match["two"] or match["three"])
    pairs = [(two, one)] if match["three"] else [(two, one), (one, two)]
    return tuple(dict.fromkeys(f"{m:02}-{d:02}" for m, d in pairs if 1 <= m <= 12 and 1 <= d <= 31))


def _ordinal(match: re.Match[str]) -> tuple[str, ...]:
    day = int(match["day"] or match["bare"])
    return (f"*-{day:02}",) if 1 <= day <= 31 else ()


def _weekday(text: str) -> str:
    return next(day for day in WEEKDAYS if day[:3] == text[:3].casefold())


def _time(match: re.Match[str]) -> tuple[str, ...]:
    parts = match.groupdict()
    if named := parts.get("named"):
        return ("00:00",) if named.casefold() == "midnight" else ("12:00",)
    if parts.get("past"):
        return _clock(*_past(parts["past"], parts["side"], int(parts["of"])), "")
    if military := parts.get("military"):
        return (f"{military[:2]}:{military[2:]}",)
    hour = int(parts["hour"] or parts.get("bare") or parts.get("clock") or 0)
    minute = int(parts["minute"] or parts.get("minute2") or 0)
    return _clock(hour, minute, (parts.get("half") or parts.get("half2") or "").casefold()[:1])


def _past(part: str, side: str, of: int) -> tuple[int, int]:
    minutes = {"half": 30, "quarter": 15}.get(part.casefold()) or int(part)
    return (of, minutes) if side.casefold() == "past" else ((of - 1) % 12 or 12, 60 - minutes)


def _clock(hour: int, minute: int, half: str) -> tuple[str, ...]:
    """The readings of an hour: the written one first; one of the afternoon too, if nothing says which it is."""
    if hour > 23 or not 0 <= minute <= 59 or (half and not 1 <= hour <= 12):
        return ()
    if half:
        return (f"{hour % 12 + (12 if half == 'p' else 0):02}:{minute:02}",)
    later = (f"{hour + 12:02}:{minute:02}",) if 1 <= hour < 12 else ()
    return (f"{hour:02}:{minute:02}", *later)


def _code(match: re.Match[str]) -> tuple[str, ...]:
    letters = (match["letters"] or match["low"]).upper()
    if letters.casefold() in _CURRENCIES or (match["space"] and letters in {"NO", "I", "A"}):
        return ()
    return (f"{letters}-{match['digits'] or match['digits2']}",)


def _unit(match: re.Match[str]) -> str:
    unit = (match["before"] or match["unit"] or "").strip("- ").casefold()
    return "" if _NO_UNITS.fullmatch(unit) else _CURRENCIES.get(unit, unit)


def _number(text: str) -> str:
    """The number without marks between its thousands. A comma before one or two digits is a decimal one."""
    if re.fullmatch(r"\d{1,3}([,.' ]\d{3})+", text):
        return str(int(re.sub(r"\D", "", text)))
    if grouped := re.fullmatch(r"(\d{1,3}(?:[,.' ]\d{3})+)[.,](\d{1,2})", text):
        text = f"{re.sub(r'[^0-9]', '', grouped[1])}.{grouped[2]}"
    return f"{float(text.replace(',', '.')):.12g}" if len(text) < 15 else text


_Reader = Callable[[re.Match[str]], tuple[str, ...]]

_PATTERNS: Final[tuple[tuple[Kind | None, re.Pattern[str], _Reader], ...]] = (
    ("email", _EMAIL, lambda match: (match[0].casefold(),)),
    ("phone", _PHONE, lambda match: (re.sub(r"\D", "", match[0]),)),
    ("date", _INSTANT, _date),
    ("date", _DAY_TO_DAY, _date),
    ("date", _DAY_MONTH, _date),
    ("date", _MONTH_DAY, _date),
    (None, _MONTH_YEAR, lambda match: (match[0],)),
    ("time", _TIME, _time),
    ("date", _NUMERIC, _numeric_date),
    ("time", _BARE_TIME, _time),
    ("date", _ORDINAL, _ordinal),
    ("weekday", _WEEKDAY, lambda match: (_weekday(match[0]),)),
    ("code", _CODE, _code),
)
"""The kinds in the order in which they take their places in a text. None: no value, but no number either."""
