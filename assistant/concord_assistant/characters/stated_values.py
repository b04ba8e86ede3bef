"""The values in a text that can be compared by rule: addresses, dates, times, weekdays, amounts and numbers."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final

from concord.month_names import MONTH_PATTERN, month_number

_EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ISO_DATE: Final = re.compile(r"\b\d{4}-(?P<month>\d{2})-(?P<day>\d{2})\b")
_DAY_MONTH: Final = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<name>{MONTH_PATTERN})\b(?:,?\s+\d{{4}}\b)?", re.I
)
_MONTH_DAY: Final = re.compile(
    rf"\b(?P<name>{MONTH_PATTERN})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+\d{{4}}\b)?", re.I
)
_TIME: Final = re.compile(
    r"\b(?:(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)\s*(?P<half>[ap]\.?m\b)?|(?P<bare>\d{1,2})\s*(?P<half2>[ap]\.?m\b))"
    r"|\b(?P<named>noon|midday|midnight)\b",
    re.I,
)
_WEEKDAY: Final = re.compile(r"\b(monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b", re.I)
_NUMBER: Final = re.compile(
    r"(?P<before>[€$£]\s*)?(?<![\w.,])(?P<number>\d{1,3}(?:[,.' ]\d{3})+|\d+(?:[.,]\d+)?)(?![\w])\s*"
    r"(?P<unit>[€$£%]|[A-Za-z]+)?"
)

_CURRENCIES: Final[Mapping[str, str]] = {"€": "eur", "$": "usd", "£": "gbp", "euro": "eur", "euros": "eur"} | {
    "dollar": "usd",
    "dollars": "usd",
    "pound": "gbp",
    "pounds": "gbp",
}
_NO_UNITS: Final = re.compile(
    "a|an|and|are|as|at|but|by|for|from|has|if|in|is|it|now|of|on|only|or|per|please|so|that|the|then|this|to|until|was|we"
    "|which|will|with|you"
)
"""Words after a number that are not a unit."""


def values_in(text: str) -> dict[str, set[str]]:
    """The values of a text by kind, in one spelling. Numbers of different units are of different kinds."""
    found: defaultdict[str, set[str]] = defaultdict(set)

    def take(kind: str, pattern: re.Pattern[str], rest: str) -> str:
        def keep(match: re.Match[str]) -> str:
            if (value := _READERS[kind](match)) is None:
                return match[0]
            found[kind].add(value)
            return " | "

        return pattern.sub(keep, rest)

    for kind, pattern in _PATTERNS:
        text = take(kind, pattern, text)
    for match in _NUMBER.finditer(text):
        found[f"number {_unit(match)}"].add(_number(match["number"]))
    return dict(found)


def _date(match: re.Match[str]) -> str | None:
    parts = match.groupdict()
    name, day = parts.get("name"), int(parts["day"])
    month = month_number(name) if name else int(parts["month"])
    return f"{month:02}-{day:02}" if 1 <= day <= 31 and 1 <= month <= 12 else None


def _time(match: re.Match[str]) -> str | None:
    if named := match["named"]:
        return "00:00" if named.casefold() == "midnight" else "12:00"
    hour, minute = int(match["hour"] or match["bare"]), int(match["minute"] or 0)
    half = (match["half"] or match["half2"] or "").casefold()[:1]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    return f"{hour:02}:{minute:02}" if hour <= 23 else None


def _unit(match: re.Match[str]) -> str:
    unit = (match["before"] or match["unit"] or "").strip().casefold()
    return "" if _NO_UNITS.fullmatch(unit) else _CURRENCIES.get(unit, unit)


def _number(text: str) -> str:
    if re.fullmatch(r"\d{1,3}([,.' ]\d{3})+", text):
        return str(int(re.sub(r"\D", "", text)))
    return f"{float(text.replace(',', '.')):g}" if len(text) < 15 else text


_PATTERNS: Final = (
    ("email", _EMAIL),
    ("date", _ISO_DATE),
    ("date", _DAY_MONTH),
    ("date", _MONTH_DAY),
    ("time", _TIME),
    ("weekday", _WEEKDAY),
)
_READERS: Final[Mapping[str, Callable[[re.Match[str]], str | None]]] = {
    "email": lambda match: match[0].casefold(),
    "date": _date,
    "time": _time,
    "weekday": lambda match: match[1].casefold(),
}
