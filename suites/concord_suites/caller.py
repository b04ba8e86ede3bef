"""A player that takes one seat of a task by calls: it asks its neighbours, who ask theirs, and answers by rules."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from concord_suites.family import Setting, TextFamily
from concord_suites.habits import Habit, with_habit
from concord_suites.player import answer, family_of, solo_answer
from concord_suites.view import Seat, View, all_briefs, told_in

WAIT_S: Final = 10.0
"""How long a seat that waits to be told waits after the last call that reached it (seconds)."""

_BRIEF: Final = re.compile(
    r"You are (?P<seat>\S+), one of (?P<seats>\d+) seats of a team\. .*?\n\nWhat only you know:\n(?P<brief>.*?)\n\n"
    r"(?:You may call these seats, [^\n]*\n(?P<addresses>.*?)\n\n)?(?:[^\n]*\n\n)?The question comes",
    re.DOTALL,
)
_QUESTION: Final = re.compile(r"The question to the team:\n(?P<question>.*?)\nYou (?:have to|need not) ", re.DOTALL)
_ASKED: Final = re.compile(r"^Asked: (?P<seats>.*)\.$", re.MULTILINE)
_ASKS: Final = " asks what you know."
_ASKS_AND_SAYS: Final = " asks what you know, and says what it knows."
_TELLS_ALL: Final = " tells all that it found."
_SAYS: Final = " says what it knows."

Call = Callable[[str, str], Awaitable[str]]
"""Sends a text to the address of a neighbour, and returns the text of the answer; empty if the call fails."""


@dataclass
class Caller:
    """One seat. It is given its brief, then the question, and calls of other seats at any time.

    For one answer, the answering seat asks its neighbours, and each asks those that nobody else asks. Where several
    seats answer, requests also carry what is known: one seat begins, and each calls the next before it answers.
    """

    own: Seat
    seats: int
    addresses: Mapping[str, str]
    call: Call
    families: Sequence[TextFamily]
    habit: Habit = Habit.NONE
    wait_s: float = WAIT_S
    known: dict[str, Seat] = field(init=False)
    """All seats that are known, its own among them."""
    _behind: dict[str, None] = field(default_factory=dict)
    """The neighbours that this seat asked, and told what it knew."""
    _has_passed_on: bool = False
    _waiting: asyncio.Timeout | None = None
    _informed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.known = {self.own.name: self.own}

    async def asked(self, text: str) -> str:
        """The reply to the question: one JSON object."""
        match = _QUESTION.search(text)
        question = "" if match is None else match["question"]
        family = family_of(question, self.families)
        if family is None:
            return json.dumps({"answer": None})
        if (briefs := all_briefs(self.own.brief)) is not None:
            return json.dumps({"answer": solo_answer(question, briefs, family)})
        answerers = Setting(family.read(question), {}, {}).answerers
        if self.habit is Habit.CHATTERING:
            await self._say_everything()
        if len(answerers) == 1:
            if self.own.name in answerers:
                await self._ask_on({self.own.name}, push=False)
        elif self.begins():
            await self._ask_on({self.own.name}, push=True)
            if not self._knows_all or self.habit is not Habit.NONE:  # others then lack what it knows
                await self._pass_on()
        else:
            await self._wait()
        return json.dumps({"answer": self._answer(question, family, answerers)})

    async def called(self, text: str) -> str:
        """The answer to a call of another seat."""
        told = {seat.name for seat in told_in(text)}
        if self._waiting is not None:
            self._waiting.reschedule(asyncio.get_running_loop().time() + self.wait_s)
        self._learn(text)
        if _ASKS in text or _ASKS_AND_SAYS in text:
            asked = await self._ask_on(_asked_in(text) | {self.own.name}, push=_ASKS_AND_SAYS in text)
            news = [seat for name, seat in sorted(self.known.items()) if name not in told]
            return "\n".join([_asked_line(asked), *self._told(text.partition(" ")[0], news)])
        if _TELLS_ALL in text:
            self._informed.set()
            await self._pass_on()
        return "Noted."

    def begins(self) -> bool:
        """Whether this seat begins where several have to answer: if its name is before those of all its neighbours."""
        return all(self.own.name < other for other in self.own.neighbours)

    def worth_asking(self) -> Sequence[str]:
        """The neighbours to ask, in order."""
        return self.own.neighbours

    @property
    def _knows_all(self) -> bool:
        return len(self.known) == self.seats

    async def _ask_on(self, asked: set[str], *, push: bool) -> set[str]:
        """Asks the neighbours that nobody has asked, one after the other; returns all that were asked by then.

        With `push`, each is told what is known, and may ask the next ones itself.
        """
        waiting = [other for other in self.worth_asking() if other not in asked]
        if not push:
            asked |= set(waiting)
        children: list[str] = []
        for other in waiting:
            if push and other in asked:
                continue
            asked.add(other)
            children.append(other)
            known = [seat for _, seat in sorted(self.known.items())] if push else []
            verb = _ASKS_AND_SAYS if push else _ASKS
            told = await self._call(other, verb, [_asked_line(asked), *self._told(other, known)])
            asked |= _asked_in(told)
        if push:
            self._behind |= dict.fromkeys(children)
        if push and self._knows_all:
            self._informed.set()
            await self._tell_all(children[:-1])
        return asked

    async def _tell_all(self, children: Iterable[str]) -> None:
        """Tells seats that were asked too early to know what is known now."""
        for other in list(children):
            await self._call(other, _TELLS_ALL, self._told(other, list(self.known.values())))

    async def _pass_on(self) -> None:
        """Tells all seats that were asked what was found, once: seats that asked each other would go on for ever."""
        if not self._has_passed_on:
            self._has_passed_on = True
            await self._tell_all(self._behind)

    async def _say_everything(self) -> None:
        for other in self.own.neighbours:
            await self._call(other, _SAYS, self._told(other, list(self.known.values())))

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(self.wait_s) as self._waiting:
                await self._informed.wait()
        except TimeoutError:
            return  # the seat that should have told it is gone
        finally:
            self._waiting = None

    async def _call(self, other: str, verb: str, lines: Sequence[str]) -> str:
        told = await self.call(self.addresses[other], "\n".join([f"{self.own.name}{verb}", *lines]))
        self._learn(told)
        return told

    def _learn(self, text: str) -> None:
        for seat in told_in(text):
            self.known.setdefault(seat.name, seat)

    def _told(self, receiver: str, seats: list[Seat]) -> list[str]:
        """The lines that tell another seat of seats, after what this seat's habit makes of them."""
        told = with_habit(self.habit, self._view(""), {receiver: seats})
        return [seat.told() for seat in told.get(receiver, [])]

    def _answer(self, question: str, family: TextFamily, answerers: Sequence[str]) -> JsonValue:
        return answer(self._view(question), family) if not answerers or self.own.name in answerers else None

    def _view(self, question: str) -> View:
        return View(self.own, self.seats, True, question, self.known)


def caller_of(text: str, call: Call, families: Sequence[TextFamily], habits: Mapping[str, Habit]) -> Caller:
    """The seat that a brief gives. Raises ValueError for another text."""
    brief = _BRIEF.search(text)
    if brief is None:
        raise ValueError("this is not a brief of a task by calls")
    addresses = dict(line.split(": ", 1) for line in (brief["addresses"] or "").splitlines())
    own = Seat(brief["seat"], tuple(addresses), brief["brief"])
    return Caller(own, int(brief["seats"]), addresses, call, families, habits.get(own.name, Habit.NONE))


def is_brief(text: str) -> bool:
    """Whether a text is a brief of a task by calls."""
    return _BRIEF.search(text) is not None


def is_question(text: str) -> bool:
    """Whether a text is the question of a task by calls."""
    return _QUESTION.search(text) is not None


def _asked_in(text: str) -> set[str]:
    return {name for found in _ASKED.finditer(text) for name in found["seats"].split(", ")}


def _asked_line(asked: Iterable[str]) -> str:
    return f"Asked: {', '.join(sorted(asked))}."
