"""The occurrences of a series (RFC 5545), and how to split and move a series."""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache, partial
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo

from concord_environment.core.clock import as_utc
from concord_environment.core.faults import Invalid
from concord_environment.modalities.calendar.client_form import WEEKDAYS
from concord_environment.modalities.calendar.rrule import local_starts, recurs, without_end
from concord_environment.modalities.calendar.state import CalendarEvent, RecurrenceRule

MAX_OCCURRENCES: Final = 20_000
"""The maximum number of occurrences computed for a series: fifty years of a daily series."""

_MAX_KEPT: Final = 4_000
"""The start times of a series that are kept, because computing them is slow: eleven years of a daily series, 200 kB."""
_SERIES_KEPT: Final = 1_024

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
    for local_start in islice(_starts(event, zone, start), MAX_OCCURRENCES):
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


def _starts(event: CalendarEvent, zone: ZoneInfo, start: datetime | None) -> Iterable[datetime]:
    """The local start times of a series, including those of all occurrences that end after `start`."""
    if event.recurrence is None:
        return (event.start.astimezone(zone),)
    series = _series(rrule_of(event.recurrence, zone), event.start, zone)
    # The margin of a day is for clock changes: the start times compare as local times.
    return series.since(None if start is None else start.astimezone(zone) - (event.end - event.start) - _DAY)


class _Series:
    """The local start times of a series, which computes them as far as they are asked for and keeps the first ones."""

    def __init__(self, rule: str, start: datetime, zone: ZoneInfo) -> None:
        self._all = partial(local_starts, rule, start.astimezone(zone))
        self._following = self._all()
        self._kept: list[datetime] = []
        self._is_complete = False

    def since(self, moment: datetime | None) -> Iterator[datetime]:
        """The start times in order. Those before the moment are left out if they are kept."""
        position = 0
        if moment is not None:
            while (not self._kept or self._kept[-1] < moment) and self._has_more():
                pass
            position = bisect_left(self._kept, moment)
        while position < len(self._kept) or self._has_more():
            yield self._kept[position]
            position += 1
        if not self._is_complete:
            yield from islice(self._all(), len(self._kept), None)

    def _has_more(self) -> bool:
        """Computes and keeps one more start time. False if there is none, or if enough are kept."""
        if self._is_complete or len(self._kept) == _MAX_KEPT:
            return False
        following = next(self._following, None)
        if following is None:
            self._is_complete = True
            return False
        self._kept.append(following)
        return True


_series = lru_cache(maxsize=_SERIES_KEPT)(_Series)


def _end_of(day: date, zone: ZoneInfo) -> datetime:
    return as_utc(datetime.combine(day, time(23, 59, 59), zone))
