"""The occurrences of a series, and splitting and moving a series."""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from itertools import islice, takewhile
from typing import Final
from zoneinfo import ZoneInfo

from ical.iter import as_rrule
from ical.types import Recur

from concord_environment.core.clock import as_utc
from concord_environment.core.faults import Invalid
from concord_environment.modalities.calendar.rrule import recurs, without_end
from concord_environment.modalities.calendar.state import CalendarEvent, RecurrenceRule

MAX_OCCURRENCES: Final = 20_000
"""The maximum number of occurrences computed for a series: fifty years of a daily one."""

_YEARS_KEPT: Final = 2
"""Start times are cached up to this many years after the start of a series: some 60 kB at most for 1,024 series."""

_DAY: Final = timedelta(days=1)

_DAYS: Final = {
    "monday": "MO",
    "tuesday": "TU",
    "wednesday": "WE",
    "thursday": "TH",
    "friday": "FR",
    "saturday": "SA",
    "sunday": "SU",
}


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One occurrence of a series. `day`, in the event's zone, identifies it."""

    day: str
    start: datetime
    end: datetime


def rrule_of(rule: RecurrenceRule, zone: ZoneInfo) -> str:
    """The rule as an RRULE of RFC 5545, including its end."""
    if rule.rrule is not None:
        return rule.rrule
    parts = [f"FREQ={rule.frequency.upper()}", f"INTERVAL={rule.interval}"]
    if rule.days_of_week:
        parts.append("BYDAY=" + ",".join(_DAYS[day] for day in rule.days_of_week))
    if rule.month_of_year is not None:
        parts.append(f"BYMONTH={rule.month_of_year}")
    if rule.day_of_month is not None:
        parts.append(f"BYMONTHDAY={rule.day_of_month}")
    if rule.end_type == "count":
        parts.append(f"COUNT={rule.count}")
    if rule.end_type == "until" and rule.end_date is not None:
        parts.append(f"UNTIL={_end_of(rule.end_date, zone):%Y%m%dT%H%M%SZ}")
    return ";".join(parts)


def check(event: CalendarEvent) -> None:
    """Raises Invalid for a series without occurrences."""
    if event.recurrence is not None:
        zone = ZoneInfo(event.timezone)
        if not recurs(rrule_of(event.recurrence, zone), event.start.astimezone(zone)):
            raise Invalid("recurrence: there is no day that fits it")


def occurrences(event: CalendarEvent, start: datetime | None, end: datetime | None) -> Iterator[Occurrence]:
    """The occurrences of a series that overlap [start, end), in order and without exceptions.

    The time of day stays the same in the event's zone when the clocks change.
    """
    zone = ZoneInfo(event.timezone)
    length = event.end - event.start
    for moment in islice(_moments(event, zone, start, end), MAX_OCCURRENCES):
        begin = as_utc(moment)
        if end is not None and begin >= end:
            return
        day = moment.date().isoformat()
        if day not in event.recurrence_exceptions and (start is None or begin + length > start or begin == start):
            yield Occurrence(day, begin, begin + length)


def occurrence_on(event: CalendarEvent, day: str) -> Occurrence | None:
    """The occurrence of a series on a day, or None."""
    zone = ZoneInfo(event.timezone)
    midnight = datetime.combine(date.fromisoformat(day), time(), zone)
    following = as_utc(midnight + timedelta(days=1))
    return next((one for one in occurrences(event, as_utc(midnight), following) if one.day == day), None)


def ended_before(event: CalendarEvent, day: str) -> CalendarEvent:
    """The series, ended on the day before."""
    return _ended_on(event, date.fromisoformat(day) - timedelta(days=1))


def _ended_on(event: CalendarEvent, last: date) -> CalendarEvent:
    rule = event.recurrence
    if rule is None:
        return event
    if rule.rrule is None:
        ended = rule.model_copy(update={"end_type": "until", "end_date": last, "count": None})
    else:
        until = _end_of(last, ZoneInfo(event.timezone))
        ended = rule.model_copy(update={"rrule": f"{without_end(rule.rrule)};UNTIL={until:%Y%m%dT%H%M%SZ}"})
    return replace(event, recurrence=ended)


def begun_at(event: CalendarEvent, occurrence: Occurrence) -> CalendarEvent:
    """The series from an occurrence on. A COUNT decreases by the occurrences before it."""
    rule = event.recurrence
    if rule is not None and rule.end_type == "count" and rule.count is not None:
        gone = sum(1 for _ in occurrences(_unbroken(event), None, occurrence.start))
        rule = rule.model_copy(update={"count": max(1, rule.count - gone)})
    return replace(event, recurrence=rule, start=occurrence.start, end=occurrence.end)


def moved_days(before: CalendarEvent, after: CalendarEvent, days: Iterable[str]) -> dict[str, str]:
    """Maps the days of occurrences of a series to their days after the series has moved.

    The nth occurrence stays the nth. If the rule has changed, no occurrence corresponds to an earlier one.
    """
    wanted = set(days)
    stays = (before.start, before.timezone) == (after.start, after.timezone)
    if not wanted or stays or before.recurrence != after.recurrence:
        return {}
    pairs = zip(occurrences(_unbroken(before), None, None), occurrences(_endless(after), None, None), strict=False)
    return dict(islice(((was.day, now.day) for was, now in pairs if was.day in wanted), len(wanted)))


def with_moved_end(before: CalendarEvent, after: CalendarEvent) -> CalendarEvent:
    """The moved series with as many occurrences as before: its end date moves along with its last occurrence."""
    rule = before.recurrence
    if rule is None or not (rule.end_type == "until" if rule.rrule is None else "UNTIL=" in rule.rrule):
        return after
    last = deque((one.day for one in occurrences(_unbroken(before), None, None)), maxlen=1)
    for was, now in moved_days(before, after, last).items():
        if was != now:
            return _ended_on(after, date.fromisoformat(now))
    return after


def _unbroken(event: CalendarEvent) -> CalendarEvent:
    return replace(event, recurrence_exceptions=())


def _endless(event: CalendarEvent) -> CalendarEvent:
    """The series without exceptions and without an end."""
    rule = event.recurrence
    if rule is not None:
        ended = {"end_type": "never", "rrule": None if rule.rrule is None else without_end(rule.rrule)}
        event = replace(event, recurrence=rule.model_copy(update=ended))
    return _unbroken(event)


def _moments(event: CalendarEvent, zone: ZoneInfo, start: datetime | None, end: datetime | None) -> Iterable[datetime]:
    """The start times of a series in its zone: at least those of all occurrences that overlap [start, end)."""
    begin = event.start.astimezone(zone)
    if event.recurrence is None:
        return (begin,)
    rule = rrule_of(event.recurrence, zone)
    year = None if end is None else end.astimezone(zone).year
    if year is None or year > begin.year + _YEARS_KEPT:
        return _all_moments(rule, begin)
    kept = _moments_until(rule, event.start, zone, year)
    # One day more: the cached times compare as local times, and clocks change.
    first = 0 if start is None else bisect_left(kept, start.astimezone(zone) - (event.end - event.start) - _DAY)
    return islice(kept, first, None)


def _all_moments(rule: str, begin: datetime) -> Iterator[datetime]:
    moments = as_rrule(Recur.from_rrule(rule), [], [], begin)
    return (moment for moment in moments or () if isinstance(moment, datetime))


@lru_cache(maxsize=1024)
def _moments_until(rule: str, start: datetime, zone: ZoneInfo, year: int) -> tuple[datetime, ...]:
    """The start times up to the end of a year, cached because expanding a rule is slow."""
    return tuple(takewhile(lambda moment: moment.year <= year, _all_moments(rule, start.astimezone(zone))))


def _end_of(day: date, zone: ZoneInfo) -> datetime:
    return as_utc(datetime.combine(day, time(23, 59, 59), zone))
