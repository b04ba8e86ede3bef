"""Validation of RFC 5545 recurrence rules, and whether a rule has any occurrence."""

import re
from datetime import datetime
from typing import Final

from ical.iter import as_rrule
from ical.types import Recur

_RULE: Final = re.compile(
    r"FREQ=(?:DAILY|WEEKLY|MONTHLY|YEARLY)"
    r"(?:;(?:INTERVAL=[1-9]\d{0,3}|COUNT=[1-9]\d{0,4}|UNTIL=\d{8}(?:T\d{6}Z?)?|WKST=(?:MO|TU|WE|TH|FR|SA|SU)"
    r"|BYDAY=(?:[+-]?[1-5]?(?:MO|TU|WE|TH|FR|SA|SU),?)+|BYMONTHDAY=(?:-?[1-3]?\d,?)+|BYMONTH=(?:1?\d,?)+"
    r"|BYSETPOS=(?:-?[1-9]\d?,?)+))*"
)
_END: Final = re.compile(r";(?:UNTIL|COUNT)=[^;]*")

_CYCLE_YEARS: Final = 28
"""The period in years after which weekdays fall on the same dates, within a century."""
_LAST_YEARS: Final = 9999 - _CYCLE_YEARS


def checked_rrule(text: str | None) -> str | None:
    """A rule without its `RRULE:` prefix. Raises ValueError for unsupported rules, such as hourly rules."""
    if text is None:
        return None
    rule = text.removeprefix("RRULE:")
    if not _RULE.fullmatch(rule):
        raise ValueError("not a supported RRULE: FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY")
    try:
        Recur.from_rrule(rule)
    except Exception as error:
        raise ValueError("not a valid RRULE") from error
    return rule


def without_end(rule: str) -> str:
    """The rule without COUNT and UNTIL."""
    return _END.sub("", rule)


def recurs(rule: str, start: datetime) -> bool:
    """Whether a rule has an occurrence within 28 years of its start.

    For a rule without occurrences, such as the 30th of February, the library searches until the year 9999. The search
    therefore starts at an equivalent date less than 28 years before that year.
    """
    shifted = start.year + (_LAST_YEARS - start.year) // _CYCLE_YEARS * _CYCLE_YEARS
    late = start.replace(year=shifted, tzinfo=None)
    occurrences = as_rrule(Recur.from_rrule(without_end(rule)), [], [], late)
    return occurrences is not None and next(iter(occurrences), None) is not None
