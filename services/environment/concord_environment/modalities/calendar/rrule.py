"""Recurrence rules of RFC 5545: their validation and their expansion in local time."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import takewhile
from typing import Final

from dateutil.rrule import rrulestr

from concord_environment.core.clock import LATEST


def _list(item: str) -> str:
    return f"{item}(?:,{item})*"


_WEEKDAY: Final = "(?:MO|TU|WE|TH|FR|SA|SU)"
_RULE: Final = re.compile(
    r"FREQ=(?:DAILY|WEEKLY|MONTHLY|YEARLY)"
    r"(?:;(?:INTERVAL=[1-9]\d{0,3}|COUNT=[1-9]\d{0,4}|UNTIL=\d{8}(?:T\d{6}Z?)?"
    rf"|WKST={_WEEKDAY}"
    rf"|BYDAY={_list(f'(?:[+-]?[1-5])?{_WEEKDAY}')}"
    rf"|BYMONTHDAY={_list('-?(?:0?[1-9]|[12][0-9]|3[01])')}"
    rf"|BYMONTH={_list('(?:0?[1-9]|1[0-2])')}"
    rf"|BYSETPOS={_list('-?(?:[1-9][0-9]?|[12][0-9]{2}|3[0-5][0-9]|36[0-6])')}"
    r"))*"
)
_UNTIL: Final = re.compile(r"(?<=;UNTIL=)(\d{8})(?:T(\d{6})(Z?))?")
_END: Final = re.compile(r";(?:UNTIL|COUNT)=[^;]*")
_FIRST_YEAR: Final = 1
_LAST_YEAR: Final = 9999
"""The years in which a time may have no local time, as in `UNTIL=99991231T235959Z`."""

_LATEST: Final = LATEST.replace(tzinfo=None) - timedelta(days=1)

_CYCLE_YEARS: Final = 28
"""The period in years after which weekdays fall on the same dates, within a century."""
_LAST_YEARS: Final = _LAST_YEAR - _CYCLE_YEARS


def checked_rrule(text: str | None) -> str | None:
    """A rule without its `RRULE:` prefix. Raises ValueError for unsupported rules, such as hourly rules."""
    if text is None:
        return None
    rule = text.removeprefix("RRULE:")
    if not _RULE.fullmatch(rule):
        raise ValueError("not a supported RRULE: FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY")
    try:
        _with_local_end(rule, UTC)
    except ValueError as error:
        raise ValueError("not a valid RRULE: UNTIL is no date") from error
    return rule


def without_end(rule: str) -> str:
    """The rule without COUNT and UNTIL."""
    return _END.sub("", rule)


def local_starts(rule: str, begin: datetime) -> Iterator[datetime]:
    """The start times up to 2200 of a series that begins at a time in its zone, in that zone.

    The local time of day stays the same when the clocks change.
    """
    zone = begin.tzinfo or UTC
    # Without a zone, the library takes half of the time.
    starts = rrulestr(_with_local_end(rule, zone), dtstart=begin.replace(tzinfo=None))
    return (start.replace(tzinfo=zone) for start in takewhile(lambda start: start < _LATEST, starts))


def recurs(rule: str, begin: datetime) -> bool:
    """Whether a rule has an occurrence within 28 years of its beginning.

    For a rule without occurrences, such as the 30th of February, the library searches until the year 9999. The search
    therefore starts at an equivalent date less than 28 years before that year.
    """
    shifted = begin.year + (_LAST_YEARS - begin.year) // _CYCLE_YEARS * _CYCLE_YEARS
    return next(iter(rrulestr(without_end(rule), dtstart=begin.replace(year=shifted, tzinfo=None))), None) is not None


def _with_local_end(rule: str, zone: tzinfo) -> str:
    """The rule with UNTIL in local time. A date, or a time without an offset, is in local time already (RFC 5545)."""

    def local(until: re.Match[str]) -> str:
        day, clock, is_utc = until.groups()
        moment = datetime.fromisoformat(f"{day}T{clock or '235959'}")
        if is_utc and _FIRST_YEAR < moment.year < _LAST_YEAR:
            moment = moment.replace(tzinfo=UTC).astimezone(zone)
        return f"{moment.year:04}{moment:%m%dT%H%M%S}"

    return _UNTIL.sub(local, rule)
