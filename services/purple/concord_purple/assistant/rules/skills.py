"""The interface of a skill of the rule-based assistant: work over several turns, read from the user's message."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import Protocol

from concord_purple.assistant.rules import wording
from concord_purple.assistant.rules.desk import Desk
from concord_purple.assistant.rules.letters import sentences
from concord_purple.assistant.rules.people import Person, named_in


@dataclass(frozen=True, slots=True)
class Step:
    """The work of a skill in one turn, as sentences without a full stop.

    `done`: actions. `report`: sentences for the user, which come first in the final report.
    """

    done: tuple[str, ...] = ()
    report: tuple[str, ...] = ()
    finished: bool = False


class Skill(Protocol):
    """Work on one matter. An object serves one assessment."""

    sentence: str
    """The user's text, for the notes of a turn."""

    async def step(self, desk: Desk) -> Step:
        """Does what can be done now. Raises UESClientError."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the user, sentence by sentence."""

    sentences: tuple[str, ...]
    people: tuple[Person, ...]
    now: datetime
    zone: tzinfo

    @property
    def today(self) -> date:
        """The user's day when the message was read."""
        return self.now.astimezone(self.zone).date()

    def named(self, number: int) -> list[Person]:
        """The people in a sentence; if it names none, those in the latest sentence before it that does."""
        for sentence in reversed(self.sentences[: number + 1]):
            if found := named_in(sentence, self.people):
                return found
        return []


@dataclass(frozen=True, slots=True)
class Found:
    """A skill that a message asks for, and the numbers of the sentences that it covers."""

    skill: Skill
    covered: frozenset[int]
    left: tuple[str, ...] = ()
    """Orders of these sentences that are not the skill's."""


def message_of(text: str, people: Sequence[Person], now: datetime, zone: tzinfo) -> Message:
    """The user's text as a message."""
    return Message(tuple(sentences(text)), tuple(people), now, zone)


def clauses(sentence: str) -> list[str]:
    """The orders of a sentence, each with the condition at its beginning."""
    condition = wording.CONDITION.match(sentence)
    rest = sentence[condition.end() :] if condition else sentence
    before = condition[0] if condition else ""
    return [f"{before}{part}" for each in wording.SPLIT.split(rest) if (part := each.strip(" ."))]
