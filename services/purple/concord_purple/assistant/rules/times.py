"""Days, clock times and durations in English texts, and the free time of a calendar."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKDAYS: Final = tuple(day.title() for day in _DAYS)
"""The names of the weekdays, from Monday."""

_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH: Final = "|".join(_MONTHS)
_NUMBERS: Final = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}

_ISO_DAY: Final = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_DAY_MONTH: Final = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\b", re.I)
_MONTH_DAY: Final = re.compile(rf"\b({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?\b", re.I)
_RANGE: Final = re.compile(
    rf"\b(\d{{1,2}})(?: ({_MONTH}))? ?(?:to|until|till|-|\u2013) ?(\d{{1,2}}) ({_MONTH})\b", re.I
)
_WEEKDAY: Final = re.compile(rf"\b(next )?({'|'.join(_DAYS)})\b", re.I)
_CLOCK: Final = re.compile(r"\b(\d{1,2})(?:[:.](\d{2}))?\s*(a\.?m\b\.?|p\.?m\b\.?|o'clock)|\b(\d{1,2}):(\d{2})\b", re.I)
_DURATION: Final = re.compile(r"\b(half an|\d+|an?|one|two|three|four|five|six)[ -](hour|minute)s?\b", re.I)
_PART_OF_DAY: Final = {
    "morning": (time(8), time(12)),
    "afternoon": (time(12), time(18)),
    "evening": (time(18), time(22)),
}

_WORKING_HOURS: Final = (time(9), time(18))

_GRID: Final = timedelta(minutes=15)
"""Meetings start at full quarters of an hour."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A span of time, from `start` up to `end`."""

    start: datetime
    end: datetime


def day_in(text: str, today: date) -> date | None:
    """The first day that a text names: today or later, except for a full date."""
    if found := _ISO_DAY.search(text):
        return _date(int(found[1]), int(found[2]), int(found[3]))
    if found := _DAY_MONTH.search(text):
        return _in_year(today, found[2], int(found[1]))
    if found := _MONTH_DAY.search(text):
        return _in_year(today, found[1], int(found[2]))
    lower = text.casefold()
    for word, days in (("day after tomorrow", 2), ("tomorrow", 1), ("today", 0), ("tonight", 0), ("this afternoon", 0)):
        if word in lower:
            return today + timedelta(days=days)
    if found := _WEEKDAY.search(text):
        ahead = (_DAYS.index(found[2].casefold()) - today.weekday()) % 7
        return today + timedelta(days=ahead + (7 if found[1] and ahead == 0 else 0))
    return None


def month_in(text: str, today: date) -> date | None:
    """The first day of the month that a text names: this month or a later one."""
    found = re.search(rf"\b({_MONTH})\b", text, re.I)
    if found is None:
        return None
    number = _MONTHS.index(found[1].casefold()) + 1
    return date(today.year if number >= today.month else today.year + 1, number, 1)


def days_in(text: str, earliest: date) -> list[date]:
    """The days that a text names by day and month, not before the earliest one."""
    found = [_in_year(earliest, match[2], int(match[1])) for match in _DAY_MONTH.finditer(text)]
    found += [_in_year(earliest, match[1], int(match[2])) for match in _MONTH_DAY.finditer(text)]
    if (span := range_in(text, earliest)) is not None:
        found.append(span[0])
    return [each for each in found if each is not None]


def range_in(text: str, earliest: date) -> tuple[date, date] | None:
    """The first and the last day of `18 to 20 February`, not before the earliest one."""
    if (found := _RANGE.search(text)) is None:
        return None
    first = _in_year(earliest, found[2] or found[4], int(found[1]))
    last = _in_year(earliest, found[4], int(found[3]))
    return None if first is None or last is None or last < first else (first, last)


def weekdays_in(text: str) -> list[int]:
    """The weekdays of a text, from 0 for Monday, in their order."""
    return list(dict.fromkeys(_DAYS.index(found[2].casefold()) for found in _WEEKDAY.finditer(text)))


def weekday_in(text: str) -> int | None:
    """The first weekday of a text, from 0 for Monday."""
    found = _WEEKDAY.search(text)
    return _DAYS.index(found[2].casefold()) if found else None


def part_of_day_in(text: str) -> tuple[time, time] | None:
    """The hours of the morning, afternoon or evening, if a text names one."""
    lower = text.casefold()
    return next((hours for part, hours in _PART_OF_DAY.items() if part in lower), None)


def clock_times_in(text: str) -> list[time]:
    """The clock times of a text, in their order."""
    found = []
    for match in _CLOCK.finditer(text):
        hour, minute = int(match[1] or match[4]), int(match[2] or match[5] or 0)
        half = (match[3] or "").casefold()
        if half.startswith("p") and hour < 12:
            hour += 12
        if half.startswith("a") and hour == 12:
            hour = 0
        if hour < 24 and minute < 60:
            found.append(time(hour, minute))
    return found


def duration_in(text: str) -> timedelta | None:
    """The first duration of a text."""
    if (found := _DURATION.search(text)) is None:
        return None
    unit = timedelta(hours=1) if found[2].casefold() == "hour" else timedelta(minutes=1)
    count = found[1].casefold()
    return unit / 2 if count == "half an" else unit * (_NUMBERS.get(count) or int(count))


def zone_in(text: str, default: tzinfo) -> tzinfo:
    """UTC if the text says so, else the user's time zone."""
    return UTC if re.search(r"\b(UTC|GMT)\b", text) else default


def window_in(text: str, day: date, zone: tzinfo) -> Interval:
    """The hours of a day that a text names: `between 13:00 and 17:00`, `afternoon`, else working hours."""
    times = clock_times_in(text)
    if len(times) >= 2 and times[0] < times[1]:
        first, last = times[0], times[1]
    else:
        first, last = part_of_day_in(text) or _WORKING_HOURS
    return Interval(datetime.combine(day, first, zone), datetime.combine(day, last, zone))


def free_starts(busy: Iterable[Interval], window: Interval, duration: timedelta) -> Iterator[datetime]:
    """The starts, at full quarters, of free spans of this duration in a window, earliest first."""
    taken = sorted(busy, key=lambda each: each.start)
    start = window.start
    while start + duration <= window.end:
        blocking = next((each for each in taken if each.start < start + duration and start < each.end), None)
        if blocking is None:
            yield start
            start += _GRID
        else:
            start += max(-(-(blocking.end - start) // _GRID), 1) * _GRID


def _in_year(today: date, month: str, day: int) -> date | None:
    number = _MONTHS.index(month.casefold()) + 1
    found = _date(today.year, number, day)
    return _date(today.year + 1, number, day) if found is not None and found < today else found


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
