"""The hours at which somebody cannot meet, according to what the person writes."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final

from concord_purple.assistant.rules.letters import sentences
from concord_purple.assistant.rules.times import Interval, clock_times_in, part_of_day_in, weekdays_in

_BUSY: Final = re.compile(
    r"\b(?:not|no|cannot|can't|never|busy|away|out of|visits?|meetings?|booked|travel(?:ling)?|holiday|off|except)\b",
    re.I,
)
_LEAVES: Final = re.compile(r"\b(?:leave|until|till|stay|gone|go|by)\b", re.I)
_ARRIVES: Final = re.compile(r"\b(?:after|from|arrive|start|earliest)\b", re.I)
_NOON: Final = re.compile(r"\b(?:noon|midday)\b", re.I)
_MIDNIGHT: Final = time(0)


def busy_hours(text: str, days: Sequence[date], zone: tzinfo) -> list[Interval]:
    """The times on some days when the writer of a text cannot meet. A sentence without a weekday is about all days."""
    found: list[Interval] = []
    for sentence in sentences(_NOON.sub("12:00", text)):
        weekdays = weekdays_in(sentence)
        for day in days:
            if not weekdays or day.weekday() in weekdays:
                found += [
                    Interval(_at(day, first, zone), _at(day, last, zone))
                    for first, last in _busy(sentence, bool(weekdays))
                    if first != last
                ]
    return found


def _busy(sentence: str, names_day: bool) -> Iterator[tuple[time, time | None]]:
    """The busy spans of a day that a sentence states. None: the end of the day."""
    times, negative = clock_times_in(sentence), _BUSY.search(sentence) is not None
    part = part_of_day_in(sentence)
    if len(times) >= 2:
        first, last = times[0], times[1]
        yield from [(first, last)] if negative else [(_MIDNIGHT, first), (last, None)]
    elif times and _LEAVES.search(sentence):
        yield (_MIDNIGHT, times[0]) if negative else (times[0], None)
    elif times and _ARRIVES.search(sentence):
        yield (times[0], None) if negative else (_MIDNIGHT, times[0])
    elif part is not None and names_day:
        yield from [part] if negative else [(_MIDNIGHT, part[0]), (part[1], None)]
    elif names_day and negative and not times:
        yield (_MIDNIGHT, None)


def _at(day: date, clock: time | None, zone: tzinfo) -> datetime:
    if clock is None:
        return datetime.combine(day + timedelta(days=1), _MIDNIGHT, zone)
    return datetime.combine(day, clock, zone)
