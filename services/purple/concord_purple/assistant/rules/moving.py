"""Moving an event of the user to a time that suits its attendees, too."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Final

from concord_purple.assistant.items import Item
from concord_purple.assistant.rules import wording
from concord_purple.assistant.rules.availability import busy_hours
from concord_purple.assistant.rules.desk import Desk, rfc3339
from concord_purple.assistant.rules.letters import moment
from concord_purple.assistant.rules.moments import clock, later
from concord_purple.assistant.rules.skills import Found, Message, Step
from concord_purple.assistant.rules.times import Interval, clock_times_in, day_in, free_starts, weekdays_in
from concord_purple.assistant.tools import TOOLS

_MOVE: Final = re.compile(r"\b(?:move|reschedule|postpone|shift)\b", re.I)
_EVENT: Final = re.compile(r"\b(?:meetings?|appointments?|calls?|events?|calendar|invitation)\b", re.I)
_DETAIL: Final = re.compile(
    r"\bnew time\b|\b(?:move|reschedule|postpone|shift)\b|\b(?:he|she|they|declines?|accept(?:s|ed)?)\b|"
    r"\bwrote to me about\b",
    re.I,
)
_RECENT: Final = timedelta(days=14)
"""How long somebody's statement about working hours is taken to hold."""


@dataclass(slots=True)
class Moving:
    """Moves one event to a free time within the user's limits, and again when an attendee declines it."""

    sentence: str
    days: tuple[date, ...]
    hours: tuple[time, time]
    _event_id: str | None = None
    _refused: list[Interval] = field(default_factory=list)
    _comments: list[str] = field(default_factory=list)

    async def step(self, desk: Desk) -> Step:
        """Moves the event, or reads the attendees' responses to the time that it has now."""
        event = self._event(desk)
        if event is None:
            return Step(report=("I did not find the event that is to be moved",), finished=True)
        span = Interval(moment(event["start"]).astimezone(desk.zone), moment(event["end"]).astimezone(desk.zone))
        others = [each for each in event.get("attendees") or () if not desk.is_user(each.get("email"))]
        if self._event_id is not None:
            if all(each.get("response") == "accepted" for each in others):
                return Step(report=(f"{event['title']} is now on {span.start:%A} {clock(span.start)}",), finished=True)
            declined = [each for each in others if each.get("response") == "declined"]
            if not declined:
                return Step()
            self._refused.append(span)
            self._comments += [str(each.get("comment") or "") for each in declined]
        self._event_id = str(event["event_id"])
        start = await self._free_start(event, span.end - span.start, desk)
        if start is None:
            return Step(report=(f"I found no time that suits everybody for {event['title']}",), finished=True)
        end = later(start, span.end - span.start)
        arguments = {"event_id": self._event_id, "start": rfc3339(start), "end": rfc3339(end)}
        await TOOLS["calendar_update"](desk.ues, arguments)
        done = f"I moved {event['title']} to {start:%A} {clock(start)}"
        # Without other attendees, nobody has to accept the new time.
        return Step((done,), finished=not others)

    def _event(self, desk: Desk) -> Item | None:
        """The next event of the user's own whose title the order names in full, else the one that shares most words."""
        if self._event_id is not None:
            return next((each for each in desk.events if each["event_id"] == self._event_id), None)
        wanted = wording.content_words(self.sentence)
        own = [
            (len(words & wanted) / len(words), each)
            for each in desk.events
            if moment(each["start"]) > desk.now
            and desk.response_to(each) is None
            and (words := wording.content_words(str(each["title"])))
        ]
        best = max((share for share, _ in own), default=0.0)
        return next((each for share, each in own if share == best), None) if best > 0 else None

    async def _free_start(self, event: Item, duration: timedelta, desk: Desk) -> datetime | None:
        blocked = [*self._refused, *self._attendees_hours(event, desk)]
        for window in self._windows(desk):
            busy = [each.span for each in await desk.busy(window) if each.event_id != event["event_id"]]
            starts = free_starts([*busy, *blocked], window, duration)
            if (start := next((each for each in starts if each > desk.now), None)) is not None:
                return start
        return None

    def _windows(self, desk: Desk) -> Iterator[Interval]:
        for day in self.days:
            first, last = (datetime.combine(day, each, desk.zone) for each in self.hours)
            yield Interval(first, last)

    def _attendees_hours(self, event: Item, desk: Desk) -> list[Interval]:
        """When the attendees cannot come, by their comments and their latest emails."""
        addresses = {str(each.get("email")).casefold() for each in event.get("attendees") or ()}
        texts = [
            each.text for each in desk.letters if each.sender.casefold() in addresses and each.at > desk.now - _RECENT
        ]
        return [hours for text in (*texts, *self._comments) for hours in busy_hours(text, self.days, desk.zone)]


def read(message: Message) -> Found | None:
    """The order to move an event, with the days and hours that the user permits."""
    if not _EVENT.search(" ".join(message.sentences)):
        return None
    for number, sentence in enumerate(message.sentences):
        if not _MOVE.search(sentence) or wording.NEGATED.match(sentence) or wording.FILES_MAIL.search(sentence):
            continue
        for limits in message.sentences[number : number + 3]:
            days, hours = _days(limits, message), clock_times_in(limits)
            if days and len(hours) >= 2 and hours[0] < hours[1]:
                skill = Moving(sentence, days, (hours[0], hours[1]))
                rest = range(number, len(message.sentences))
                covered = {each for each in rest if _DETAIL.search(message.sentences[each])}
                return Found(skill, frozenset({*covered, number}))
    return None


def _days(sentence: str, message: Message) -> tuple[date, ...]:
    """The days that a sentence names: weekdays are the next ones."""
    ahead = sorted((weekday - message.today.weekday()) % 7 for weekday in weekdays_in(sentence))
    if ahead:
        return tuple(message.today + timedelta(days=each) for each in ahead)
    day = day_in(sentence, message.today)
    return () if day is None else (day,)
