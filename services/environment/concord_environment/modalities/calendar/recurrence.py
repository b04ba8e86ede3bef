"""The occurrences of a series (RFC 5545), and how to split and move a series."""

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
from concord_environment.modalities.calendar.client_form import WEEKDAYS
from concord_environment.modalities.calendar.rrule import recurs, without_end
from concord_environment.modalities.calendar.state import CalendarEvent, RecurrenceRule

MAX_OCCURRENCES: Final = 20_000
"""The maximum number of occurrences computed for a series: fifty years of a daily series."""

_YEARS_KEPT: Final = 2
"""The years after the start of a series for which start times are cached: at most some 60 kB for 1,024 series."""

_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One occurrence of a series, identified by its `day` in the time zone of the event."""

    day: str
    start: datetime
    end: datetime


def rrule_of(rule: RecurrenceRule, zone: ZoneInfo) -> str:
    """The rule as an RRULE of RFC 5545, including UNTIL or COUNT."""
    if rule.rrule is not None:
        return rule.rrule
    parts = [f"FREQ={rule.frequency.upper()}", f"INTERVAL={rule.interval}"]
    if rule.days_of_week:
        parts.append("BYDAY=" + ",".join(WEEKDAYS[day] for day in rule.days_of_week))
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
            raise Invalid("recurrence: no date matches the rule")


def occurrences(event: CalendarEvent, start: datetime | None, end: datetime | None) -> Iterator[Occurrence]:
    """The occurrences of a series that overlap [start, end), in order and without exceptions.

    The local time of day in the zone of the event stays the same when the clocks change.
    """
    zone = ZoneInfo(event.timezone)
    duration = event.end - event.start
    for local_start in islice(_starts(event, zone, start, end), MAX_OCCURRENCES):
        begin = as_utc(local_start)
        if end is not None and begin >= end:
            return
        day = local_start.date().isoformat()
        if day not in event.recurrence_exceptions and (start is None or begin + duration > start or begin == start):
            yield Occurrence(day, begin, begin + duration)


def occurrence_on(event: CalendarEvent, day: str) -> Occurrence | None:
    """The occurrence of a series on a day, or None."""
    zone = ZoneInfo(event.timezone)
    midnight = datetime.combine(date.fromisoformat(day), time(), zone)
    following = as_utc(midnight + timedelta(days=1))
    candidates = occurrences(event, as_utc(midnight), following)
    return next((occurrence for occurrence in candidates if occurrence.day == day), None)


def ended_before(event: CalendarEvent, day: str) -> CalendarEvent:
    """The series with its end on the day before `day`."""
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


def continued_from(event: CalendarEvent, occurrence: Occurrence) -> CalendarEvent:
    """The series from an occurrence on. COUNT decreases by the number of earlier occurrences."""
    rule = event.recurrence
    if rule is not None and rule.end_type == "count" and rule.count is not None:
        earlier = sum(1 for _ in occurrences(_without_exceptions(event), None, occurrence.start))
        rule = rule.model_copy(update={"count": max(1, rule.count - earlier)})
    return replace(event, recurrence=rule, start=occurrence.start, end=occurrence.end)


def moved_days(before: CalendarEvent, after: CalendarEvent, days: Iterable[str]) -> dict[str, str]:
    """Maps days of occurrences of a series to the days of the same occurrences after the series has moved.

    The nth occurrence stays the nth. The result is empty if the rule has changed.
    """
    mapped = set(days)
    is_moved = (before.start, before.timezone) != (after.start, after.timezone)
    if not mapped or not is_moved or before.recurrence != after.recurrence:
        return {}
    series = (_without_exceptions(before), _without_end(after))
    pairs = zip(*(occurrences(one, None, None) for one in series), strict=False)
    return dict(islice(((old.day, new.day) for old, new in pairs if old.day in mapped), len(mapped)))


def with_moved_end(before: CalendarEvent, after: CalendarEvent) -> CalendarEvent:
    """The moved series with as many occurrences as before: an end date moves with the last occurrence."""
    rule = before.recurrence
    if rule is None or not (rule.end_type == "until" if rule.rrule is None else "UNTIL=" in rule.rrule):
        return after
    last = deque((one.day for one in occurrences(_without_exceptions(before), None, None)), maxlen=1)
    for old, new in moved_days(before, after, last).items():
        if old != new:
            return _ended_on(after, date.fromisoformat(new))
    return after


def _without_exceptions(event: CalendarEvent) -> CalendarEvent:
    return replace(event, recurrence_exceptions=())


def _without_end(event: CalendarEvent) -> CalendarEvent:
    """The series without exceptions and without an end."""
    rule = event.recurrence
    if rule is not None:
        endless = {"end_type": "never", "rrule": None if rule.rrule is None else without_end(rule.rrule)}
        event = replace(event, recurrence=rule.model_copy(update=endless))
    return _without_exceptions(event)


def _starts(event: CalendarEvent, zone: ZoneInfo, start: datetime | None, end: datetime | None) -> Iterable[datetime]:
    """The start times of a series in its zone, including those of all occurrences that overlap [start, end)."""
    begin = event.start.astimezone(zone)
    if event.recurrence is None:
        return (begin,)
    rule = rrule_of(event.recurrence, zone)
    year = None if end is None else end.astimezone(zone).year
    if year is None or year > begin.year + _YEARS_KEPT:
        return _all_starts(rule, begin)
    cached = _starts_until(rule, event.start, zone, year)
    # The margin of a day is for clock changes: the cached times compare as local times.
    first = 0 if start is None else bisect_left(cached, start.astimezone(zone) - (event.end - event.start) - _DAY)
    return islice(cached, first, None)


def _all_starts(rule: str, begin: datetime) -> Iterator[datetime]:
    starts = as_rrule(Recur.from_rrule(rule), [], [], begin)
    return (start for start in starts or () if isinstance(start, datetime))


@lru_cache(maxsize=1024)
def _starts_until(rule: str, start: datetime, zone: ZoneInfo, year: int) -> tuple[datetime, ...]:
    """The start times up to the end of a year, cached because expanding a rule is slow."""
    return tuple(takewhile(lambda local_start: local_start.year <= year, _all_starts(rule, start.astimezone(zone))))


def _end_of(day: date, zone: ZoneInfo) -> datetime:
    return as_utc(datetime.combine(day, time(23, 59, 59), zone))
