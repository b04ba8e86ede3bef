"""A question to several people whose answers decide the next step: a common day, or the lowest offer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Final

from concord_purple.assistant.rules import sending, wording
from concord_purple.assistant.rules.amounts import Money
from concord_purple.assistant.rules.answers import common_days, lowest, offers
from concord_purple.assistant.rules.desk import Desk, rfc3339
from concord_purple.assistant.rules.letters import Channel
from concord_purple.assistant.rules.moments import clock, day_name
from concord_purple.assistant.rules.people import Person, named_in
from concord_purple.assistant.rules.skills import Found, Message, Step, clauses
from concord_purple.assistant.rules.times import WEEKDAYS, clock_times_in, day_in, weekdays_in
from concord_purple.assistant.tools import TOOLS

_ASK: Final = re.compile(r"\bask\b", re.I)
_PRICE: Final = re.compile(r"\b(?:costs?|prices?|quotes?|how much|charge)\b", re.I)
_LOWEST: Final = re.compile(r"\b(?:lowest|cheapest|least expensive|best (?:price|offer))\b", re.I)
_COMMON: Final = re.compile(
    r"\bthe (?:day|evening|date|morning|afternoon|time)\b[^.,]*\b(?:suits?|works?|fits?|possible|can)\b[^.,]*", re.I
)
_NAMES: Final = re.compile(r"(?!SMS\b)\b[A-Z][\w'-]+(?: [A-Z][\w'-]+)*")
_OTHERS: Final = re.compile(r"\bthe (?:others?|rest)\b", re.I)
_WITH: Final = re.compile(r"\b(?:that|who|which) (?:has|have|offers?) (.+)$", re.I)
_COUNT: Final = re.compile(r"\bfor (\d+)\b|\b(\d+) (?:people|guests|persons)\b", re.I)
_ORDERED: Final = re.compile(r"\bwhat (.+?) (?:costs?|would cost|is)\b", re.I)
_BOOKING: Final = re.compile(r"\b((?:book|reserve|order) .+?)(?= on the\b|,|$| for the (?:day|evening))", re.I)


@dataclass(slots=True)
class _Choice:
    """The choice that the answers decide."""

    person: Person | None = None
    total: Money | None = None
    day: date | None = None


@dataclass(slots=True)
class Poll:
    """Asks each person, waits for all answers, chooses, and then performs the rest of the user's message."""

    sentence: str
    asked: tuple[Person, ...]
    question: str
    channel: Channel
    options: tuple[int, ...]
    """The weekdays to choose from."""
    rest: list[str]
    """The orders that follow, as sentences and clauses."""
    unknown: tuple[str, ...]
    """The names in the user's message that have no address."""
    day: date | None
    """The day that the message is about."""
    _asked_at: datetime | None = None
    _choice: _Choice | None = None
    _time: time | None = None
    _booked: tuple[Person, datetime] | None = None
    _lines: list[str] = field(default_factory=list)

    async def step(self, desk: Desk) -> Step:
        """Asks, or goes on as far as the answers permit."""
        if self.unknown:
            names = " and ".join(self.unknown)
            return Step(report=(f"I asked nobody: I do not know how to reach {names}",), finished=True)
        if self._asked_at is None:
            self._asked_at = desk.now
            reached = [each.name for each in self.asked if await _ask(desk, each, self.question, self.channel)]
            return Step((f"I asked {_listed(reached, 'and')}",))
        answers = {
            person: " ".join(each.text for each in found)
            for person in self.asked
            if (found := desk.letters_from(person, after=self._asked_at))
        }
        if len(answers) < len(self.asked):
            return Step()
        if self._choice is None:
            self._choice = self._chosen(answers, desk)
            if self._choice is None:
                said = tuple(f"{person.name} answered: {text[:120]}" for person, text in answers.items())
                return Step(report=("I could not choose by the answers, so I went no further", *said), finished=True)
        done: list[str] = []
        while self.rest:
            if not self._may_go_on(self.rest[0], desk):
                return Step(tuple(done))
            done += await self._perform(self.rest.pop(0), self._choice, desk)
        return Step(tuple(done), tuple(self._lines), finished=True)

    def _chosen(self, answers: dict[Person, str], desk: Desk) -> _Choice | None:
        text = " ".join(self.rest)
        if _LOWEST.search(text):
            count = _COUNT.search(self.question)
            order = next((each for each in self.rest if _LOWEST.search(each)), "")
            needed = _WITH.search(order)
            totals = offers(answers, int(count[1] or count[2]) if count else 1, needed[1] if needed else "")
            person = lowest(totals) if totals else None
            return None if person is None else _Choice(person, totals[person], self.day)
        if self.options:
            common = common_days(list(answers.values()), self.options)
            return _Choice(day=_next(common[0], desk.now.astimezone(desk.zone).date(), self.day)) if common else None
        return _Choice(day=self.day)

    def _may_go_on(self, clause: str, desk: Desk) -> bool:
        """Whether the answer that an order waits for has arrived."""
        if wording.CONDITION.match(clause) is None or self._booked is None:
            return True
        person, since = self._booked
        return bool(desk.letters_from(person, after=since))

    async def _perform(self, clause: str, choice: _Choice, desk: Desk) -> list[str]:
        clause = wording.CONDITION.sub("", clause)
        when = "" if choice.day is None else day_name(choice.day)
        others = [person for person in self.asked if person != choice.person]
        named = [each for each in named_in(clause, desk.people(clause)) if each not in self.asked]
        if wording.ME.search(clause):
            self._lines.append(self._summary(choice))
            return []
        if wording.CALENDAR.search(clause):
            return await self._enter(clause, choice, desk)
        if _LOWEST.search(clause) and choice.person is not None:
            ordered = _ORDERED.search(self.question)
            text = f"we order {ordered[1] if ordered else 'as you offer'}{f' for {when}' if when else ''}."
            await _answer(desk, choice.person, f"{text[:1].upper()}{text[1:]} Please confirm the order.", self.channel)
            return [f"I ordered from {choice.person.name}"]
        if _OTHERS.search(clause):
            said = wording.CONTENT.search(clause)
            text = said[1].strip().replace("them", "you") if said else "we chose another offer this time"
            for person in others:
                await _answer(desk, person, f"Thank you for your answer. {text[:1].upper()}{text[1:]}.", self.channel)
            return [f"I told {_listed([each.name for each in others], 'and')}"]
        times = clock_times_in(clause)
        if (booking := _BOOKING.search(clause)) and named:
            self._time = times[0] if times else None
            await sending.start_email(desk, named[0], f"I would like to {booking[1]} on {when}. Please confirm.")
            self._booked = (named[0], desk.now)
            return [f"I wrote to {named[0].name}: {booking[1]} on {when}"]
        if wording.SAY.search(clause):
            await self._tell_all(when, desk)
            return [f"I told {_listed([each.name for each in self.asked], 'and')}"]
        self._lines.append(f"I could not do this: {clause}")
        return []

    async def _tell_all(self, when: str, desk: Desk) -> None:
        at = f" at {self._time.hour}:{self._time:%M}" if self._time else ""
        place = f", {self._booked[0].name}" if self._booked else ""
        for person in self.asked:
            await _answer(desk, person, f"It is {when}{at}{place}.", self.channel)

    async def _enter(self, clause: str, choice: _Choice, desk: Desk) -> list[str]:
        title, times = wording.TITLE.search(wording.CALENDAR.sub("", clause)), clock_times_in(clause)
        day = day_in(clause, desk.now.astimezone(desk.zone).date()) or choice.day
        if title is None or day is None or not times:
            self._lines.append(f"I could not enter this: {clause}")
            return []
        start = datetime.combine(day, times[0], desk.zone)
        end = datetime.combine(day, times[1], desk.zone) if len(times) > 1 else start + timedelta(hours=1)
        event = {"title": title[1], "start": rfc3339(start), "end": rfc3339(end)}
        await TOOLS["calendar_create"](desk.ues, event)
        return [f"“{title[1]}” is in the calendar"]

    def _summary(self, choice: _Choice) -> str:
        parts = []
        if choice.person is not None:
            parts.append(f"{choice.person.name} has the lowest total: {choice.total}")
        if choice.day is not None:
            at = f" at {clock(datetime.combine(choice.day, self._time))}" if self._time else ""
            parts.append(f"{'it' if parts else 'It'} is on {day_name(choice.day)}{at}")
        return "; ".join(parts) or "All have answered"


def read(message: Message) -> Found | None:
    """The order to ask several people and to go on when all have answered."""
    for number, sentence in enumerate(message.sentences):
        question = wording.QUESTION.search(sentence) if _ASK.search(sentence) else None
        asked = message.named(number)
        waits = [each for each in range(number, len(message.sentences)) if wording.WAIT.search(message.sentences[each])]
        if question is None or len(asked) < 2 or not waits:
            continue
        before = " ".join(message.sentences[: number + 1])
        days = tuple(weekdays_in(before))
        options = days if len(days) > 1 else ()
        day = None if options else day_in(before, message.today)
        channel: Channel = "sms" if wording.SMS.search(sentence) else "email"
        rest = [
            clause
            for each in message.sentences[waits[0] :]
            if each != sentence and not _is_aside(each)
            for clause in clauses(each)
        ]
        if any(_LOWEST.search(each) for each in rest) and not _PRICE.search(question[2]):
            continue
        text = _question(question[1], question[2], options, day)
        addressed = sentence[sentence.casefold().find("ask") : question.start(1)]
        unknown = [each for each in _NAMES.findall(addressed) if not named_in(each, asked)]
        skill = Poll(sentence, tuple(asked), text, channel, options, rest, tuple(unknown), day)
        return Found(skill, frozenset(range(len(message.sentences))))
    return None


def _question(word: str, rest: str, options: Sequence[int], day: date | None) -> str:
    asked = rest.strip(" .?")
    for theirs, yours in (("they have", "you have"), ("they can", "you can"), ("their", "your"), ("them", "you")):
        asked = re.sub(rf"\b{theirs}\b", yours, asked, flags=re.I)
    asked = re.sub(r"\b(suits?)$", r"\1 you", asked)
    about = f": {_listed([WEEKDAYS[each] for each in options], 'or')}" if options else ""
    context = "" if day is None or f"{day.day} {day:%B}" in asked else f" It is for {day_name(day)}."
    return f"Could you please tell me {word.casefold()} {asked}{about}?{context}"


def _is_aside(sentence: str) -> bool:
    """Whether a sentence only says how to wait or to write, and contains no order."""
    order = wording.CONDITION.sub("", sentence)
    waits = wording.WAIT.search(sentence) is not None and order == sentence
    return waits or wording.FORMAT.match(order) is not None or wording.COMMAND.match(order) is None


def _listed(words: Sequence[str], last: str) -> str:
    """`a, b and c`."""
    return f"{', '.join(words[:-1])} {last} {words[-1]}" if len(words) > 1 else "".join(words)


def _next(weekday: int, today: date, not_before: date | None) -> date:
    first = not_before or today + timedelta(days=1)
    return first + timedelta(days=(weekday - first.weekday()) % 7)


async def _ask(desk: Desk, person: Person, question: str, channel: Channel) -> bool:
    return await sending.start_message(desk, person, question, channel)


async def _answer(desk: Desk, person: Person, text: str, channel: Channel) -> None:
    if channel == "sms" and person.phone is not None:
        await sending.start_message(desk, person, text, "sms")
    else:
        await sending.reply(desk, person, text)
