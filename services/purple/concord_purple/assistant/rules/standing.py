"""Standing orders, which hold until the user's report is due: pass news on, and keep the calendar up to date."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final

from concord_purple.assistant.items import Item
from concord_purple.assistant.rules import actions, sending, wording
from concord_purple.assistant.rules.desk import Desk, is_bulk, rfc3339
from concord_purple.assistant.rules.invitations import InvitationRules
from concord_purple.assistant.rules.letters import Channel, Letter, moment
from concord_purple.assistant.rules.moments import chosen_moment, clock, later, moments_in
from concord_purple.assistant.rules.people import Person, named_in
from concord_purple.assistant.rules.skills import Found, Message, Step
from concord_purple.assistant.rules.times import WEEKDAYS, days_in, weekdays_in
from concord_purple.assistant.tools import TOOLS

_ORDINAL: Final = re.compile(r"^(?:first|second|third|fourth|fifth|finally)(?:ly)?[,:] ", re.I)
_ASK: Final = re.compile(r"\bask\b", re.I)
_PASS_ON: Final = re.compile(r"\b(?:tell|write|text|email|let|inform)\b(.+)", re.I)
_DATE: Final = re.compile(r"\b(?:date|day|when)\b", re.I)
_CHANGES: Final = re.compile(
    r"\bif (?:some(?:body|one)|any(?:body|one)|people)\b[^,]*\b(?:moves?|cancels?|changes?|postpones?)\b[^,]*"
    r"\b(?:appointments?|meetings?|events?)\b",
    re.I,
)
_ALERT: Final = re.compile(
    r"\bif (?:the |my )?([\w' -]+?) (?:texts?|writes?|emails?|reports?)\b(?: me)?(?: that| about|,)? ?([^,]*), (.+)$",
    re.I,
)
_CALLED_OFF: Final = re.compile(
    r"\b(?:cancel(?:led)?|called off|call off|falls? out|cannot take place|can't make it)\b", re.I
)
_MOVED: Final = re.compile(
    r"\b(?:instead|moved?|postpone[ds]?|reschedule[ds]?|could we meet|new time|rather|shift(?:ed)?)\b", re.I
)
_GREETING: Final = re.compile(r"^(?:hi|hello|dear)\b[^,]{0,40}, ", re.I)


@dataclass(slots=True)
class PassedOn:
    """Asks somebody once, and passes the day in each answer on to somebody else, whenever it changes."""

    sentence: str
    asked: Person
    question: str
    receiver: Person
    until: datetime
    _asked_at: datetime | None = None
    _passed: str | None = None

    async def step(self, desk: Desk) -> Step:
        """Asks, or passes on the sentence with the latest day."""
        if self._asked_at is None:
            self._asked_at = desk.now
            await sending.start_email(desk, self.asked, self.question)
            return Step((f"I asked {self.asked.name}",))
        done: tuple[str, ...] = ()
        report: tuple[str, ...] = ()
        news = [each for letter in desk.letters_from(self.asked, after=self._asked_at) for each in _dated(letter)]
        if news and news[-1] != self._passed:
            self._passed = news[-1]
            await sending.reply(desk, self.receiver, self._passed)
            done = (f"I wrote to {self.receiver.name}: {self._passed}",)
        finished = desk.now >= self.until
        if finished:
            report = (self._passed,) if self._passed else (f"{self.asked.name} has not answered",)
        return Step(done, tuple(each.strip(" .") for each in report), finished)


@dataclass(slots=True)
class KeptCalendar:
    """Moves and deletes the user's appointments when the others say so."""

    sentence: str
    since: datetime
    until: datetime
    _read: set[str] = field(default_factory=set)
    _changes: list[str] = field(default_factory=list)

    async def step(self, desk: Desk) -> Step:
        """Reads what is new. Raises UESClientError."""
        done = []
        for letter in desk.letters:
            name = str(letter.item["message_id"])
            if (
                letter.at > self.since
                and name not in self._read
                and not (letter.channel == "email" and is_bulk(letter.item))
            ):
                self._read.add(name)
                done += await self._apply(letter, desk)
        self._changes += done
        finished = desk.now >= self.until
        return Step(tuple(done), tuple(self._changes) if finished else (), finished)

    async def _apply(self, letter: Letter, desk: Desk) -> list[str]:
        coming = [each for each in moments_in(letter, desk.zone) if each.start > letter.at]
        if _CALLED_OFF.search(letter.words):
            event = _event_of(letter, [each.start for each in coming], desk)
            if event is None:
                return []
            await TOOLS["calendar_delete"](desk.ues, {"event_id": event["event_id"]})
            return [f"“{event['title']}” was cancelled"]
        target = chosen_moment(coming, desk.now)
        if target is None or not _MOVED.search(letter.words):
            return []
        event = _event_of(letter, [], desk)
        if event is None:
            return []
        length = moment(event["end"]) - moment(event["start"])
        arguments = {
            "event_id": event["event_id"],
            "start": rfc3339(target.start),
            "end": rfc3339(later(target.start, length)),
        }
        await TOOLS["calendar_update"](desk.ues, arguments)
        return [f"“{event['title']}” moved to {target.start:%A} {clock(target.start)}"]


@dataclass(slots=True)
class Alert:
    """Passes a message of somebody on at once, if it is about what the user names."""

    sentence: str
    sender: str
    about: str
    receiver: Person
    channel: Channel
    since: datetime
    until: datetime
    _passed: set[str] = field(default_factory=set)

    async def step(self, desk: Desk) -> Step:
        """Reads what is new."""
        done = []
        for letter in desk.letters:
            name = str(letter.item["message_id"])
            if letter.at > self.since and name not in self._passed and self._fits(letter):
                self._passed.add(name)
                await sending.start_message(desk, self.receiver, letter.text.strip(), self.channel)
                done.append(f"I passed a message on to {self.receiver.name}")
        return Step(tuple(done), finished=desk.now >= self.until)

    def _fits(self, letter: Letter) -> bool:
        said = wording.content_words(f"{letter.sender} {letter.words}")
        names = set(re.findall(r"\b[A-Z]\w+", self.about))
        subject = (
            all(name in letter.words for name in names) if names else bool(wording.content_words(self.about) & said)
        )
        return subject and bool(wording.content_words(self.sender) & said)


@dataclass(slots=True)
class StandingInvitations:
    """Answers invitations by the user's rules as they arrive."""

    sentence: str
    rules: InvitationRules
    until: datetime
    _declined: list[str] = field(default_factory=list)

    async def step(self, desk: Desk) -> Step:
        """Answers what is open. Raises UESClientError."""
        done, _ = await actions.answer_invitations(self.rules, desk)
        self._declined += [each for each in done if "declined" in each]
        finished = desk.now >= self.until
        return Step(tuple(done), tuple(self._declined) if finished else (), finished)


def read(message: Message, until: datetime | None) -> list[Found]:
    """The standing orders of a message. `until`: the time of the report; without it, there are none."""
    if until is None:
        return []
    found = []
    for number, sentence in enumerate(message.sentences):
        text = _ORDINAL.sub("", sentence)
        if _CHANGES.search(text):
            found.append(Found(KeptCalendar(sentence, message.now, until), frozenset({number})))
        elif (passed := _passed_on(number, text, message, until)) is not None:
            found.append(passed)
        elif (alert := _alert(sentence, text, message, until)) is not None:
            found.append(Found(alert, frozenset({number})))
    return found


def report_time(message: Message) -> datetime | None:
    """When the user wants the report, if on a later day: `On Friday morning, sum up …`."""
    for sentence in message.sentences:
        found = re.match(r"^on (\w+day)(?: (morning|noon|afternoon|evening))?,", sentence, re.I)
        if found and wording.ME.search(sentence) and (weekdays := weekdays_in(found[1])):
            ahead = (weekdays[0] - message.today.weekday()) % 7 or 7
            hour = {"morning": 8, "noon": 12, "afternoon": 14, "evening": 18}.get((found[2] or "morning").casefold(), 8)
            day = date.fromordinal(message.today.toordinal() + ahead)
            return datetime(day.year, day.month, day.day, hour, tzinfo=message.zone)
    return None


def _passed_on(number: int, text: str, message: Message, until: datetime) -> Found | None:
    """`Ask Marcus when … As soon as he has answered, tell Ada the date, and write to her again if it changes.`"""
    question = wording.QUESTION.search(text.partition(";")[0]) if _ASK.search(text) else None
    following = message.sentences[number + 1] if number + 1 < len(message.sentences) else ""
    condition = wording.CONDITION.match(following)
    if question is None or condition is None or not _DATE.search(following):
        return None
    asked = named_in(text[: text.find(question[1], text.casefold().find("ask"))], message.people)
    rest = _PASS_ON.search(following[condition.end() :])
    receivers = named_in(rest[1], message.people) if rest else []
    if len(asked) != 1 or not receivers:
        return None
    about = question[2].strip(" .?")
    skill = PassedOn(text, asked[0], f"Could you please tell me {question[1].casefold()} {about}?", receivers[0], until)
    return Found(skill, frozenset({number, number + 1}))


def _alert(sentence: str, text: str, message: Message, until: datetime) -> Alert | None:
    found = _ALERT.search(text)
    if found is None or not wording.SAY.search(found[3]):
        return None
    receivers = named_in(found[3], message.people)
    if not receivers:
        return None
    channel: Channel = "sms" if wording.SMS.search(found[3]) else "email"
    return Alert(sentence, found[1], found[2], receivers[0], channel, message.now, until)


def _dated(letter: Letter) -> list[str]:
    """The sentences of a message that name a day."""
    said = [_GREETING.sub("", each) for each in letter.sentences]
    return [f"{each[:1].upper()}{each[1:]}" for each in said if days_in(each, letter.at.date())]


def _event_of(letter: Letter, starts: Sequence[datetime], desk: Desk) -> Item | None:
    """The user's coming event that a message is about: at one of the starts, or of the sender, with a word in common.

    None if several events fit equally well.
    """
    sender = {word for word in re.split(r"[^a-z]+", letter.sender.partition("@")[0].casefold()) if len(word) > 2}
    words = wording.content_words(letter.words) | sender
    named = {WEEKDAYS[each] for each in weekdays_in(letter.words)}
    ranked: list[tuple[tuple[bool, int, bool], Item]] = []
    for event in desk.events:
        start = moment(event["start"]).astimezone(desk.zone)
        shared = wording.content_words(str(event["title"])) & words
        at = start in starts
        if start > desk.now and desk.response_to(event) is None and (shared and (at or shared & sender or not starts)):
            ranked.append(((at, len(shared), f"{start:%A}" in named), event))
    best = max((rank for rank, _ in ranked), default=None)
    found = [event for rank, event in ranked if rank == best]
    return found[0] if len(found) == 1 else None
