"""Events whose time somebody else's message states."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Final

from concord_purple.assistant.rules import sending, wording
from concord_purple.assistant.rules.desk import Desk, rfc3339
from concord_purple.assistant.rules.letters import Letter, closest
from concord_purple.assistant.rules.moments import Moment, chosen_moment, clock, later, moments_in
from concord_purple.assistant.rules.people import Person, named_in
from concord_purple.assistant.rules.skills import Found, Message, Step
from concord_purple.assistant.rules.times import Interval, duration_in
from concord_purple.assistant.tools import TOOLS

_ORDINAL: Final = re.compile(r"^(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|fourth|finally|then)[,:] ", re.I)
_ITEM: Final = re.compile(r"^(?P<title>[^:]{3,80}): (?P<source>.+)$", re.S)
_SOURCE: Final = re.compile(r"\b(?:e-?mails?|mails?|texts?|messages?|write|letter)\b", re.I)
_STATES: Final = re.compile(r"\b(?:says?|tells?|states?|has|when|will)\b", re.I)
_LATER_ON: Final = re.compile(r"\bwill\b|\bgoing to\b", re.I)
_AFTER_TITLE: Final = re.compile(
    r" on (?:mon|tues|wednes|thurs|fri|satur|sun)day\b.*$|, (?:\w+[ -])?\w+[ -]minutes?.*$|, .*$", re.I
)
_BEFORE: Final = re.compile(r"\b(?:begin|start)s? (half an hour|an? hour|\d+ (?:minutes?|hours?)) before\b", re.I)
_THIS_MONTH: Final = re.compile(r"\bthis month's\b| of this month\b", re.I)
_PUT: Final = re.compile(r"\b(?:put|add|enter|note)\b(.+?)\b(?:in|into|to) (?:my|the) calendar\b", re.I)


@dataclass(slots=True)
class Entry:
    """Enters an event when the message that states its time is there, and then writes to the person."""

    sentence: str
    title: str
    words: str
    """The user's words about the event and the message."""
    person: Person | None
    not_before: datetime | None
    """The time after which the message comes; earlier messages do not state the time of the event."""
    duration: timedelta | None
    lead: timedelta | None
    """The event ends at the stated time and begins so long before."""
    notes: tuple[str, ...]
    """What to write to the person, as the user's orders."""

    async def step(self, desk: Desk) -> Step:
        """Looks for the time, enters the event, and writes. Raises UESClientError."""
        moment = self._moment(desk)
        if moment is None:
            if self.not_before is None:
                return Step(report=(f"I found no message with the time of “{self.title}”",), finished=True)
            return Step()
        span = moment.span(self.duration or timedelta(hours=1))
        if self.duration is not None:
            span = Interval(span.start, later(span.start, self.duration))
        if self.lead is not None:
            span = Interval(later(span.start, -self.lead), span.start)
        event = {"title": self.title, "start": rfc3339(span.start), "end": rfc3339(span.end)}
        await TOOLS["calendar_create"](desk.ues, event)
        begins = f"{self.title} begins on {span.start:%A}, {span.start.day} {span.start:%B}, at {clock(span.start)}"
        done = [await self._write(note, moment, desk) for note in self.notes if self.person is not None]
        return Step(tuple(done), (begins,), finished=True)

    def _moment(self, desk: Desk) -> Moment | None:
        letters = desk.letters
        if self.person is not None:
            letters = [each for each in letters if each.is_from(self.person)]
        if self.not_before is not None:
            letters = [each for each in letters if each.at >= self.not_before]
        timed = [(each, found) for each in letters if (found := _coming(each, desk.now, desk.zone)) is not None]
        if not timed:
            return None
        about = closest([letter for letter, _ in timed], self.words) if self.person is None else timed[-1][0]
        return next((found for letter, found in timed if letter is about), None)

    async def _write(self, note: str, moment: Moment, desk: Desk) -> str:
        person = self.person or Person("", None)
        said = wording.CONTENT.search(note)
        text = said[1].strip(" .") if said else ""
        text = (
            ""
            if re.match(r"(?:says )?what time\b", text, re.I)
            else re.sub(r",? (?:with the time|and when)\b.*$", "", text)
        )
        zone = _city(desk.zone)
        at = f"{moment.start:%A} at {clock(moment.start)}"
        sentence = f"{text[:1].upper()}{text[1:]}: {at}." if text else f"That is {at} here{zone}."
        if wording.SMS.search(note):
            await sending.start_message(desk, person, sentence, "sms")
        else:
            await sending.reply(desk, person, sentence)
        return f"I wrote to {person.name}"


def read(message: Message) -> list[Found]:
    """The events whose times are in messages: enumerated ones, and `put the … of this month into my calendar`."""
    found: list[Found] = []
    for number, sentence in enumerate(message.sentences):
        text = _ORDINAL.sub("", sentence)
        item = _ITEM.match(text)
        if item is not None and _SOURCE.search(item["source"]) and _STATES.search(item["source"]):
            if not wording.COMMAND.match(text) and "calendar" in " ".join(message.sentences[:number]):
                found.append(_enumerated(number, item, message))
        elif (
            (put := _PUT.search(sentence))
            and not wording.QUOTED.search(sentence)
            and (month := _THIS_MONTH.search(put[1]))
        ):
            title = re.sub(r"^(?:the|my|our)\b ", "", put[1].replace(month[0], "").strip(), flags=re.I)
            named = f"{title[:1].upper()}{title[1:]}"
            found.append(Found(Entry(sentence, named, title, None, None, None, None, ()), frozenset({number})))
    if found and any(_ORDINAL.match(each) for each in message.sentences):
        first = min(min(each.covered) for each in found)
        heads = {number for number in range(first) if "calendar" in message.sentences[number]}
        found[0] = Found(found[0].skill, found[0].covered | heads)
    return found


def _enumerated(number: int, item: re.Match[str], message: Message) -> Found:
    """An item of an enumeration, with the sentences about it that follow."""
    covered, notes, lead = {number}, [], None
    for other in range(number + 1, len(message.sentences)):
        sentence = message.sentences[other]
        if _ORDINAL.match(sentence) or wording.CONDITION.match(sentence) or wording.ME.search(sentence):
            break
        if (before := _BEFORE.search(sentence)) is not None:
            lead = duration_in(before[1])
        elif wording.SAY.search(sentence) and wording.PRONOUN.search(sentence):
            notes.append(sentence)
        else:
            break
        covered.add(other)
    title = _AFTER_TITLE.sub("", item["title"]).strip()
    people = named_in(item[0], message.people)
    entry = Entry(
        sentence=message.sentences[number],
        title=title,
        words=f"{title} {item['source']}",
        person=people[0] if people else None,
        not_before=message.now if _LATER_ON.search(item["source"]) else None,
        duration=duration_in(item[0]),
        lead=lead,
        notes=tuple(notes),
    )
    return Found(entry, frozenset(covered))


def _coming(letter: Letter, now: datetime, zone: tzinfo) -> Moment | None:
    moments: Sequence[Moment] = moments_in(letter, zone)
    return chosen_moment(moments, now)


def _city(zone: tzinfo) -> str:
    name = str(zone)
    return f" in {name.rpartition('/')[2].replace('_', ' ')}" if "/" in name else ""
