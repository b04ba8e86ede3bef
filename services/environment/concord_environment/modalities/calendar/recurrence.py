"""When a series happens: its occurrences in a window, and the two series that a cut makes of one."""

from bisect import bisect_left
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
"""How far a series is followed: a daily one for fifty years."""

_YEARS_KEPT: Final = 2
"""Of a series that began no more years before, the moments are kept: at most some 60 kB, of 1,024 series."""

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
    """One time at which a series happens. `day` is what tells it from the others, in the event's zone."""

    day: str
    start: datetime
    end: datetime


def rrule_of(rule: RecurrenceRule, zone: ZoneInfo) -> str:
    """The rule as RFC 5545 writes it, its end included."""
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
    """Raises Invalid for a series that never happens."""
    if event.recurrence is not None:
        zone = ZoneInfo(event.timezone)
        if not recurs(rrule_of(event.recurrence, zone), event.start.astimezone(zone)):
            raise Invalid("recurrence: there is no day that fits it")


def occurrences(event: CalendarEvent, start: datetime | None, end: datetime | None) -> Iterator[Occurrence]:
    """The occurrences of a series that overlap [start, end), exceptions left out, in order.

    The time of day is kept in the event's zone, across changes of the clocks.
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
    """The occurrence of a series on a day, if there is one."""
    zone = ZoneInfo(event.timezone)
    midnight = datetime.combine(date.fromisoformat(day), time(), zone)
    following = as_utc(midnight + timedelta(days=1))
    return next((one for one in occurrences(event, as_utc(midnight), following) if one.day == day), None)


def ended_before(event: CalendarEvent, day: str) -> CalendarEvent:
    """The series up to the day before."""
    if event.recurrence is None:
        return event
    last = date.fromisoformat(day) - timedelta(days=1)
    rule = event.recurrence
    if rule.rrule is None:
        ended = rule.model_copy(update={"end_type": "until", "end_date": last, "count": None})
    else:
        until = _end_of(last, ZoneInfo(event.timezone))
        ended = rule.model_copy(update={"rrule": f"{without_end(rule.rrule)};UNTIL={until:%Y%m%dT%H%M%SZ}"})
    return replace(event, recurrence=ended)


def begun_at(event: CalendarEvent, occurrence: Occurrence) -> CalendarEvent:
    """The series from an occurrence on; one that ends after a number of times has as many fewer left."""
    rule = event.recurrence
    if rule is not None and rule.end_type == "count" and rule.count is not None:
        unbroken = replace(event, recurrence_exceptions=())
        gone = sum(1 for _ in occurrences(unbroken, None, occurrence.start))
        rule = rule.model_copy(update={"count": max(1, rule.count - gone)})
    return replace(event, recurrence=rule, start=occurrence.start, end=occurrence.end)


def moved_days(before: CalendarEvent, after: CalendarEvent, days: Iterable[str]) -> dict[str, str]:
    """The day on which each occurrence that was on one of these days is, now that the series has moved.

    Its first occurrence stays its first, and so on. Under another rule, no occurrence is one of those before.
    """
    wanted = set(days)
    if not wanted or before.recurrence != after.recurrence:
        return {}
    whole = (replace(series, recurrence_exceptions=()) for series in (before, after))
    pairs = zip(*(occurrences(series, None, None) for series in whole), strict=False)
    return dict(islice(((was.day, now.day) for was, now in pairs if was.day in wanted), len(wanted)))


def _moments(event: CalendarEvent, zone: ZoneInfo, start: datetime | None, end: datetime | None) -> Iterable[datetime]:
    """When a series begins anew, by the clock of its zone; all that may overlap [start, end), and others."""
    begin = event.start.astimezone(zone)
    if event.recurrence is None:
        return (begin,)
    rule = rrule_of(event.recurrence, zone)
    year = None if end is None else end.astimezone(zone).year
    if year is None or year > begin.year + _YEARS_KEPT:
        return _all_moments(rule, begin)
    kept = _moments_until(rule, event.start, zone, year)
    # A day more, since clocks are changed and the kept moments are compared by the clock.
    first = 0 if start is None else bisect_left(kept, start.astimezone(zone) - (event.end - event.start) - _DAY)
    return islice(kept, first, None)


def _all_moments(rule: str, begin: datetime) -> Iterator[datetime]:
    moments = as_rrule(Recur.from_rrule(rule), [], [], begin)
    return (moment for moment in moments or () if isinstance(moment, datetime))


@lru_cache(maxsize=1024)
def _moments_until(rule: str, start: datetime, zone: ZoneInfo, year: int) -> tuple[datetime, ...]:
    """The moments up to the end of a year. To read a rule and to follow it takes far longer than to look them up."""
    return tuple(takewhile(lambda moment: moment.year <= year, _all_moments(rule, start.astimezone(zone))))


def _end_of(day: date, zone: ZoneInfo) -> datetime:
    return as_utc(datetime.combine(day, time(23, 59, 59), zone))
