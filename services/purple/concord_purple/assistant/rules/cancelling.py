"""Cancelling a booking by email, and deleting events of one trip from the calendar."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from concord_purple.assistant.items import Item
from concord_purple.assistant.rules import sending, wording
from concord_purple.assistant.rules.amounts import references_in
from concord_purple.assistant.rules.desk import Desk
from concord_purple.assistant.rules.letters import Letter, moment
from concord_purple.assistant.rules.people import Person, people_in
from concord_purple.assistant.rules.skills import Found, Message, Step, clauses
from concord_purple.assistant.rules.times import day_in, days_in, range_in
from concord_purple.assistant.tools import TOOLS

Days = tuple[date, date]

_CANCEL: Final = re.compile(r"\bcancel (?:the|my|our|this) ([\w' -]+?)(?= by\b|,|;|\.|$| with\b| for\b| and\b)", re.I)
_DELETE: Final = re.compile(r"\b(?:delete|remove|take) (.+?) (?:from|out of|in) (?:the|my) calendar", re.I)
_NUMBERS: Final = {"two": 2, "three": 3, "four": 4, "five": 5, "both": 2, "all": 99}
_MEANS: Final = {
    "hotel": ("hotel", "room", "stay", "night", "guest"),
    "table": ("table", "restaurant", "reservation"),
    "flight": ("flight", "airline", "boarding"),
    "car": ("car", "rental", "hire"),
}
"""Words by which the confirmation of a booking names its kind."""


@dataclass(slots=True)
class CancelledBooking:
    """Cancels a booking with its number by email, waits for the answer, and tells the user what it says."""

    sentence: str
    what: str
    days: Days | None
    _asked: Letter | None = None
    _asked_at: datetime | None = None

    async def step(self, desk: Desk) -> Step:
        """Writes once, and then waits for the answer."""
        if self._asked is None or self._asked_at is None:
            found = [each for each in desk.letters if each.channel == "email" and self._confirms(each)]
            numbers = {references_in(each.words)[0] for each in found}
            if len(numbers) != 1:
                why = "no booking" if not numbers else f"{len(numbers)} bookings"
                return Step(report=(f"I found {why} for this, and cancelled none: {self.sentence}",), finished=True)
            self._asked, self._asked_at = found[-1], desk.now
            [number] = numbers
            when = "" if self.days is None else f" from {_day(self.days[0])} to {_day(self.days[1])}"
            text = f"Please cancel my booking {number}{when}, and confirm the cancellation with its number."
            await sending.start_email(desk, _sender(self._asked), text)
            return Step((f"I cancelled the {self.what} by email, booking {number}",))
        answers = desk.letters_from(_sender(self._asked), after=self._asked_at)
        if not answers:
            return Step()
        said = [each for each in answers[-1].sentences if re.search(r"\d", each)] or answers[-1].sentences
        return Step(report=(f"The {self.what} answered: {' '.join(said)}",), finished=True)

    def _confirms(self, letter: Letter) -> bool:
        """Whether an email confirms the booking: it has a number, the user's days, and a word for what is booked."""
        text = letter.words.casefold()
        if not references_in(letter.words) or re.search(r"\b(?:is|are|have) cancelled\b", text):
            return False
        if not any(re.search(rf"\b{word}s?\b", text) for word in _MEANS.get(self.what, (self.what,))):
            return False
        earliest = letter.at.date()
        return self.days is None or self.days[0] in days_in(letter.words, earliest)


@dataclass(slots=True)
class DeletedEvents:
    """Deletes the events that the user names, within the days of the message."""

    sentence: str
    wanted: tuple[tuple[str, int], ...]
    """Words that the titles have, and at most how many events."""
    days: Days | None

    async def step(self, desk: Desk) -> Step:
        """Deletes, unless more events fit than the user names."""
        done, report = [], []
        for words, count in self.wanted:
            found = [each for each in desk.events if self._fits(each, words, desk)]
            if not found or len(found) > count:
                report.append(f"I deleted nothing for “{words}”: {len(found)} events fit")
                continue
            for event in found:
                await TOOLS["calendar_delete"](desk.ues, {"event_id": event["event_id"]})
                done.append(f"I deleted “{event['title']}” on {moment(event['start']).astimezone(desk.zone):%d %B}")
        return Step(tuple(done), tuple(report), finished=True)

    def _fits(self, event: Item, words: str, desk: Desk) -> bool:
        start, wanted = moment(event["start"]).astimezone(desk.zone), wording.content_words(words)
        if start < desk.now or not wanted or not wanted <= wording.content_words(str(event["title"])):
            return False
        return self.days is None or self.days[0] <= start.date() <= self.days[1]


def read_booking(message: Message) -> Found | None:
    """The order to cancel a booking by email, with the order to tell the answer."""
    for number, sentence in enumerate(message.sentences):
        cancel = _CANCEL.search(sentence)
        if cancel is None or not re.search(r"\be-?mail\b|\bwrite\b", sentence, re.I):
            continue
        means = [each for each in _MEANS if re.search(rf"\b{each}\b", sentence, re.I)]
        what = means[0] if means else cancel[1].casefold()
        about = [
            each
            for each, text in enumerate(message.sentences)
            if wording.ME.search(text) and re.search(rf"\b(?:{re.escape(what)}|cancellation)\b", text, re.I)
        ]
        return Found(
            CancelledBooking(sentence, what, _days(message)),
            frozenset({number, *about}),
            tuple(each for each in clauses(sentence) if cancel[0] not in each),
        )
    return None


def read_deletion(message: Message) -> Found | None:
    """The order to delete events from the calendar."""
    for number, sentence in enumerate(message.sentences):
        if wording.NEGATED.match(sentence) or re.search(r"\bif\b", sentence, re.I):
            continue
        if (found := _DELETE.search(sentence)) is not None:
            skill = DeletedEvents(sentence, tuple(_wanted(found[1])), _days(message))
            return Found(
                skill,
                frozenset({number}),
                tuple(each for each in clauses(sentence) if each not in found[0] and found[0] not in each),
            )
    return None


def _wanted(text: str) -> Iterator[tuple[str, int]]:
    for part in re.split(r",(?: and)? | and ", text):
        words = re.sub(r"^(?:the|my|our|both|all|this|that)\b ?", "", part.strip(), flags=re.I)
        words = re.sub(r"^(?:the|my|our)\b ?", "", words, flags=re.I)
        first, _, rest = words.partition(" ")
        count = _NUMBERS.get(first.casefold()) or _NUMBERS.get(part.strip().split()[0].casefold())
        yield (rest if first.casefold() in _NUMBERS else words), count or 1


def _days(message: Message) -> Days | None:
    """The days that the message is about: the first span, else the first day."""
    for sentence in message.sentences:
        if (span := range_in(sentence, message.today)) is not None:
            return span
    days = _first_day(message.sentences, message.today)
    return None if days is None else (days, days)


def _first_day(sentences: Sequence[str], today: date) -> date | None:
    return next((day for each in sentences if (day := day_in(each, today)) is not None), None)


def _day(day: date) -> str:
    return f"{day.day} {day:%B}"


def _sender(letter: Letter) -> Person:
    [person, *_] = people_in([letter.item], (), (), "")
    return person if person.email == letter.sender.casefold() else Person(letter.sender, letter.sender)
