"""The times that people state in their messages, also in other time zones and as distances from each other."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from concord_purple.assistant.rules.letters import Letter, sentences
from concord_purple.assistant.rules.times import Interval, clock_times_in, day_in, duration_in

_PLACE: Final = re.compile(r"\(([A-Z][\w]+(?: [A-Z]\w+)?)\)|\b([A-Z][\w]+(?: [A-Z]\w+)?) time\b")
_LATER: Final = re.compile(r"\b(\d+|an?|one|two) (hours?|minutes?|days?) (?:after|later)\b", re.I)
_SPAN: Final = re.compile(r"\b(?:from|between)\b|\d ?[-\u2013] ?\d", re.I)
_COUNTS: Final = {"a": 1, "an": 1, "one": 1, "two": 2}


@dataclass(frozen=True, slots=True)
class Moment:
    """A time that a sentence states. `end`: None without an end and a duration. `derived`: stated as a distance."""

    start: datetime
    end: datetime | None
    sentence: str
    derived: bool = False

    def span(self, duration: timedelta) -> Interval:
        """The span of the moment, of this duration if it has no end."""
        if self.end is not None:
            return Interval(self.start, self.end)
        return Interval(self.start, later(self.start, duration))


def moments_in(letter: Letter, zone: tzinfo) -> list[Moment]:
    """The moments that a message states, in the user's time zone."""
    written = letter.at.astimezone(zone).date()
    found: list[Moment] = []
    duration = duration_in(letter.text)
    for sentence in sentences(letter.text):
        if found and (distance := _LATER.search(sentence)):
            start = later(found[-1].start, _distance(distance))
            found.append(Moment(start.astimezone(zone), None, sentence, derived=True))
            continue
        stated = moment_in(sentence, written, zone)
        if stated is not None:
            if stated.end is None and duration is not None:
                stated = Moment(stated.start, later(stated.start, duration), sentence)
            found.append(stated)
    return found


def moment_in(sentence: str, today: date, zone: tzinfo) -> Moment | None:
    """The moment that a sentence states with a day and a clock time."""
    day, times = day_in(sentence, today), clock_times_in(sentence)
    if day is None or not times:
        return None
    place = place_zone(sentence) or zone
    start = datetime.combine(day, times[0], place).astimezone(zone)
    end = None
    if len(times) > 1 and times[1] > times[0] and _SPAN.search(sentence):
        end = datetime.combine(day, times[1], place).astimezone(zone)
    return Moment(start, end, sentence)


def chosen_moment(moments: Sequence[Moment], now: datetime) -> Moment | None:
    """The moment that a message is about: one that is derived from another, else the first one to come."""
    coming = [each for each in moments if each.start > now]
    return next((each for each in coming if each.derived), coming[0] if coming else None)


def place_zone(sentence: str) -> tzinfo | None:
    """The time zone of the city that a sentence names beside `time` or in brackets."""
    for match in _PLACE.finditer(sentence):
        if (name := _zones().get((match[1] or match[2]).casefold())) is not None:
            return ZoneInfo(name)
    return None


def later(start: datetime, distance: timedelta) -> datetime:
    """The time after a distance that has really passed, whatever the clocks do in between."""
    return (start.astimezone(UTC) + distance).astimezone(start.tzinfo)


def clock(time: datetime) -> str:
    """A clock time as people write it: 9:05, 16:00."""
    return f"{time.hour}:{time:%M}"


def day_name(day: date) -> str:
    """A day as people write it: Thursday, 12 February."""
    return f"{day:%A}, {day.day} {day:%B}"


def _distance(match: re.Match[str]) -> timedelta:
    count = _COUNTS.get(match[1].casefold()) or int(match[1])
    unit = match[2].casefold().rstrip("s")
    return count * {"hour": timedelta(hours=1), "minute": timedelta(minutes=1), "day": timedelta(days=1)}[unit]


@cache
def _zones() -> dict[str, str]:
    """The time zones by their cities, in lower case."""
    return {
        name.rpartition("/")[2].replace("_", " ").casefold(): name
        for name in sorted(available_timezones())
        if "/" in name
    }
