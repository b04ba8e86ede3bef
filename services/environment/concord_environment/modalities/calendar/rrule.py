"""RFC 5545 recurrence rules: validation, and whether a rule has any occurrence."""

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
"""The period after which weekdays fall on the same dates, within a century."""
_LAST_YEARS: Final = 9999 - _CYCLE_YEARS


def checked_rrule(text: str | None) -> str | None:
    """A supported rule without its `RRULE:` prefix. Raises ValueError for others, like rules of hours or minutes."""
    if text is None:
        return None
    rule = text.removeprefix("RRULE:")
    if not _RULE.fullmatch(rule):
        raise ValueError("is no RRULE of days, weeks, months or years")
    try:
        Recur.from_rrule(rule)
    except Exception as error:
        raise ValueError("is no RRULE") from error
    return rule


def without_end(rule: str) -> str:
    """The rule without COUNT and UNTIL."""
    return _END.sub("", rule)


def recurs(rule: str, start: datetime) -> bool:
    """Whether a rule has an occurrence within 28 years of its start.

    A rule like the 30th of February has none, and a search would go on to the year 9999. The search therefore starts
    at an equivalent date less than 28 years before that.
    """
    shifted = start.year + (_LAST_YEARS - start.year) // _CYCLE_YEARS * _CYCLE_YEARS
    late = start.replace(year=shifted, tzinfo=None)
    occurrences = as_rrule(Recur.from_rrule(without_end(rule)), [], [], late)
    return occurrences is not None and next(iter(occurrences), None) is not None
