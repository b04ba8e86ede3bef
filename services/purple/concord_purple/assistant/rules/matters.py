"""Matters of somebody's email that the user settles in a sentence: confirm a date, answer, report an invoice."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from concord_purple.assistant.rules import sending, wording
from concord_purple.assistant.rules.amounts import amounts_in, references_in
from concord_purple.assistant.rules.desk import Desk
from concord_purple.assistant.rules.letters import Letter, closest
from concord_purple.assistant.rules.people import Person, named_in
from concord_purple.assistant.rules.skills import Found, Message, Step, clauses
from concord_purple.assistant.rules.times import day_in, month_in

_MATTER: Final = re.compile(r"^([^:]{5,160}): (.+)$", re.S)
_RAISED: Final = re.compile(
    r"\b(?:proposes?|offers?|suggests?|asks?|wants?|wrote|writes|has (?:sent|written|asked|proposed)|sent)\b", re.I
)
_CONFIRM: Final = re.compile(r"\b(?:confirm|agree|accept)\b", re.I)
_LIMIT: Final = re.compile(r"\bif\b[^;]*?\b(before|after|by|until)\b ([^;]+)", re.I)
_END_OF: Final = re.compile(r"\bend of\b", re.I)
_FROM_MAIL: Final = re.compile(
    r"\b(?:answer|tell (?:him|her|them))\b[^;]*\b(?:about|where to|when to|how to) (?:the |our |my )?([\w -]+)", re.I
)
_MY_MAIL: Final = re.compile(r"\bmy (?:e-?mails?|inbox|mailbox|mails?)\b", re.I)
_PASS_ON: Final = re.compile(r"\b(?:send|pass|report|give|forward|tell)\b(.*?)\b(?:to|on to)\b(.+)$", re.I)
_PLEASE: Final = re.compile(r"\b(?:please|from now on|must|should|has to|new|now)\b", re.I)


@dataclass(slots=True)
class Matter:
    """One matter with one person or organisation: waits for the message that it is about, and settles it once."""

    sentence: str
    raised: str
    """What the user says about the message."""
    order: str
    person: Person

    async def step(self, desk: Desk) -> Step:
        """Settles the matter, if the message is there. Raises UESClientError."""
        letter = closest(desk.letters_from(self.person), self.raised)
        if letter is None:
            return Step(report=(f"I found no email of {self.person.name}",), finished=True)
        if (passed := _PASS_ON.search(self.order)) and (receivers := named_in(passed[2], desk.people(self.order))):
            return await self._pass_on(letter, receivers, desk)
        if _CONFIRM.search(self.order):
            return await self._confirm(letter, desk)
        text = " ".join(self._answers(letter, desk))
        if not text:
            return Step(report=(f"I could not answer {self.person.name}",), finished=True)
        await sending.reply(desk, self.person, text, letter.item)
        return Step((f"I answered {self.person.name}: {text}",), finished=True)

    async def _confirm(self, letter: Letter, desk: Desk) -> Step:
        """Confirms the date in the message, if it is within the user's limit."""
        today = letter.at.astimezone(desk.zone).date()
        days = [day for each in letter.sentences if (day := day_in(each, today)) is not None]
        limit = _LIMIT.search(self.order)
        if not days or (limit is not None and not _within(days[0], limit[1], limit[2], today)):
            return Step(report=(f"I did not confirm the date of {self.person.name}",), finished=True)
        text = f"{days[0].day} {days[0]:%B} suits me, I confirm the date."
        await sending.reply(desk, self.person, text, letter.item)
        return Step((f"I confirmed {days[0].day} {days[0]:%B} to {self.person.name}",), finished=True)

    async def _pass_on(self, letter: Letter, receivers: Sequence[Person], desk: Desk) -> Step:
        """Writes the number and the amount of the message to somebody, and nothing else of it."""
        numbers, amounts = references_in(letter.words), amounts_in(letter.text)
        facts = [f"number {numbers[0]}"] if numbers else []
        facts += [f"amount {amounts[-1].currency} {amounts[-1].text}"] if amounts else []
        if not facts:
            return Step(report=(f"I found no number and no amount from {self.person.name}",), finished=True)
        text = f"{self.person.name}, “{letter.subject}”: {', '.join(facts)}."
        for receiver in receivers:
            await sending.start_email(desk, receiver, text)
        return Step((f"I sent {' and '.join(facts)} to {receivers[0].name}",), finished=True)

    def _answers(self, letter: Letter, desk: Desk) -> list[str]:
        """What to answer: what the user states, and what the user's own mailbox says about a topic."""
        found = [
            f"{part[:1].upper()}{part[1:]}."
            for each in clauses(self.order)
            if (part := each.strip(" ."))
            and not wording.COMMAND.match(part)
            and not _FROM_MAIL.search(part)
            and not _MY_MAIL.search(part)
        ]
        stated = [_statement(topic, letter, desk.letters) for topic in _FROM_MAIL.findall(self.order)]
        return [*found, *(each for each in stated if each is not None)]


def read(message: Message) -> list[Found]:
    """The matters of a message: `Halden Paper proposes a date: confirm it if it is before the end of January.`"""
    found = []
    for number, sentence in enumerate(message.sentences):
        matter = _MATTER.match(sentence)
        if matter is None or not _RAISED.search(matter[1]):
            continue
        if people := named_in(matter[1], message.people):
            found.append(Found(Matter(sentence, matter[1], matter[2], people[0]), frozenset({number})))
    return found


def _statement(topic: str, about: Letter, letters: Sequence[Letter]) -> str | None:
    """The latest sentence on a topic that somebody else wrote to the user and that says what to do now."""
    words = {word[:6] for word in wording.content_words(topic)}
    for letter in reversed(letters):
        if letter.sender == about.sender:
            continue
        for sentence in letter.sentences:
            said = {word[:6] for word in wording.content_words(sentence)}
            if words & said and _PLEASE.search(sentence):
                statement = sentence.rpartition(": ")[2] if ": " in sentence else sentence
                return f"{statement[:1].upper()}{statement[1:]}"
    return None


def _within(day: date, relation: str, limit: str, today: date) -> bool:
    """Whether a day is on the right side of a limit. False if the limit names no day."""
    end = day_in(limit, today)
    if end is None and (month := month_in(limit, today)) is not None:
        following = (month + timedelta(days=32)).replace(day=1)
        end = following - timedelta(days=1) if _END_OF.search(limit) else month
    if end is None:
        return False
    return day > end if relation.casefold() == "after" else day <= end
