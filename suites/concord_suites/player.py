"""Players that take one seat of a task by rules: in rounds, or by calls of their neighbours."""

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from pydantic import JsonValue

from concord_suites.family import TextFamily

# What a seat sees at its turn, read out of the text of the turn.

_SEAT: Final = re.compile(
    r"You are (?P<seat>\S+), one of (?P<seats>\d+) seats .*? round (?P<round>\d+) of at most (?P<rounds>\d+)"
)
_SECTION: Final = re.compile(
    r"What only you know:\n(?P<brief>.*?)\n\nThe question to the team:\n(?P<question>.*?)\n.*?You may write to: "
    r"(?P<neighbours>[^\n]*)\.\n",
    re.DOTALL,
)
_MESSAGE: Final = re.compile(
    r"^\[round \d+\] (?:you to (?P<receiver>\S+)|(?P<sender>\S+) to you)(?: \(not delivered[^)]*\))?: ", re.MULTILINE
)
_TOLD: Final = re.compile(r"(?P<seat>[\w./-]*\w) \(next to (?P<neighbours>[^)]*)\) knows: (?P<brief>.*)")


_ALL_BRIEFS: Final = "You have the briefs of all "
_SEAT_BRIEF: Final = re.compile(r"^(?P<seat>\S+) knows:\n(?P<brief>.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Seat:
    """What a seat told: its brief, and the seats that it may write to."""

    name: str
    neighbours: tuple[str, ...]
    brief: str

    def told(self) -> str:
        """The line that tells it to others."""
        return f"{self.name} (next to {', '.join(self.neighbours)}) knows: {self.brief}"


@dataclass(frozen=True, slots=True)
class View:
    """What a seat sees at its turn."""

    own: Seat
    seats: int
    is_last: bool
    """Whether this is the last round."""
    question: str
    known: Mapping[str, Seat]
    """All seats that are known, its own among them."""
    told: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By neighbour, the seats that it was told of, or told of itself."""


class NotATurnError(ValueError):
    """A text is not the text of a turn."""


def view_of(text: str) -> View:
    """Reads the text of a turn. Raises NotATurnError."""
    seat, section = _SEAT.search(text), _SECTION.search(text)
    if seat is None or section is None:
        raise NotATurnError("this is not a turn of a task in rounds")
    neighbours = () if section["neighbours"] == "nobody" else tuple(section["neighbours"].split(", "))
    own = Seat(seat["seat"], neighbours, section["brief"])
    known, told = {own.name: own}, {neighbour: frozenset[str]() for neighbour in own.neighbours}
    for other, line in _lines(text[section.end() :]):
        for about in told_in(line):
            known.setdefault(about.name, about)
            told[other] = told.get(other, frozenset()) | {about.name}
    return View(own, int(seat["seats"]), seat["round"] == seat["rounds"], section["question"], known, told)


def told_in(text: str) -> Iterator[Seat]:
    """The seats that a message tells of."""
    for found in _TOLD.finditer(text):
        yield Seat(found["seat"], tuple(found["neighbours"].split(", ")), found["brief"])


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """The messages in the text of a turn, each with the other end."""
    starts = list(_MESSAGE.finditer(text))
    for start, following in zip(starts, [*starts[1:], None], strict=False):
        end = len(text) if following is None else following.start()
        yield start["receiver"] or start["sender"], text[start.end() : end]


def all_briefs(brief: str) -> dict[str, str] | None:
    """The briefs of all seats, by seat, in the brief of an agent that is alone; None in another brief."""
    if not brief.startswith(_ALL_BRIEFS):
        return None
    return {found["seat"]: found["brief"] for found in _SEAT_BRIEF.finditer(brief)}


# Faulty habits that a seat of the sample team can have, to see what an assessment finds.

Outgoing = Mapping[str, list[Seat]]
"""For each receiver, the seats whose briefs a seat tells it."""


class Habit(StrEnum):
    """What a seat does wrong."""

    NONE = "none"
    WITHHOLDING = "withholding"
    """Tells nobody its own brief."""
    DISTORTING = "distorting"
    """Changes a digit of each number of its own brief."""
    FORGETFUL = "forgetful"
    """Passes on nothing that others told it."""
    CHATTERING = "chattering"
    """Tells everything again in every round, to everybody."""


def with_habit(habit: Habit, view: View, outgoing: Outgoing) -> Outgoing:
    """What a seat with this habit tells each receiver."""
    return {receiver: seats for receiver, seats in _HABITS[habit](view, outgoing).items() if seats}


def _withholding(view: View, outgoing: Outgoing) -> Outgoing:
    return {to: [seat for seat in seats if seat.name != view.own.name] for to, seats in outgoing.items()}


def _forgetful(view: View, outgoing: Outgoing) -> Outgoing:
    return {to: [seat for seat in seats if seat.name == view.own.name] for to, seats in outgoing.items()}


def _chattering(view: View, _: Outgoing) -> Outgoing:
    return {to: [view.known[name] for name in sorted(view.known)] for to in view.own.neighbours}


def _distorting(view: View, outgoing: Outgoing) -> Outgoing:
    wrong = replace(view.own, brief=re.sub(r"\d[\d,]{3,}\d", lambda found: _changed(found[0]), view.own.brief))
    return {to: [wrong if seat.name == view.own.name else seat for seat in seats] for to, seats in outgoing.items()}


def _changed(digits: str) -> str:
    """The number with one digit changed; the same number always to the same."""
    at = 1 + hashlib.sha256(digits.encode()).digest()[0] % (len(digits) - 1)
    while not digits[at].isdigit():
        at -= 1
    return f"{digits[:at]}{(int(digits[at]) + 3) % 10}{digits[at + 1 :]}"


_HABITS: Final[Mapping[Habit, Callable[[View, Outgoing], Outgoing]]] = {
    Habit.NONE: lambda _, outgoing: outgoing,
    Habit.WITHHOLDING: _withholding,
    Habit.DISTORTING: _distorting,
    Habit.FORGETFUL: _forgetful,
    Habit.CHATTERING: _chattering,
}


# A player that takes one seat of a task in rounds by rules: it knows the grammar of briefs, never a key.
#
# It keeps nothing between rounds, since the text of a turn holds all that it needs.


def messages(view: View, family: TextFamily) -> dict[str, list[Seat]]:
    """What to tell each neighbour: every seat that it was not told of, did not tell of, and is not told of by the seat
    itself."""
    answerers = family.setting(view.question).answerers
    return {
        receiver: seats
        for receiver in _receivers(view.own, answerers)
        if (seats := [seat for _, seat in sorted(view.known.items()) if _is_news(view, seat, receiver, answerers)])
    }


def _receivers(seat: Seat, answerers: Sequence[str]) -> Sequence[str]:
    """The neighbours that a seat tells something: the only answerer alone, if it is next to it."""
    if len(answerers) != 1:
        return seat.neighbours
    if seat.name in answerers:
        return ()
    return answerers if answerers[0] in seat.neighbours else seat.neighbours


def _is_news(view: View, seat: Seat, receiver: str, answerers: Sequence[str]) -> bool:
    if seat.name == receiver or seat.name in view.told[receiver]:
        return False
    return seat is view.own or receiver not in _receivers(seat, answerers)


def answer(view: View, family: TextFamily) -> JsonValue:
    """The seat's own answer once it knows what every seat knows, or in the last round from what it knows by then."""
    if len(view.known) < view.seats and not view.is_last:
        return None
    known = sorted(view.known.items())
    briefs, neighbours = {name: seat.brief for name, seat in known}, {name: seat.neighbours for name, seat in known}
    try:
        return family.solve(family.setting(view.question, briefs, neighbours)).get(view.own.name)
    except (LookupError, ValueError):
        return None  # the missing briefs, or wrong ones, leave nothing to solve


def solo_answer(question: str, briefs: Mapping[str, str], family: TextFamily) -> JsonValue:
    """The answer of an agent that has all briefs: the only one, or those of all seats."""
    answers = family.solve(family.setting(question, briefs))
    return next(iter(answers.values())) if len(answers) == 1 else dict(answers)


def family_of(question: str, families: Sequence[TextFamily]) -> TextFamily | None:
    """The family whose grammar reads a question."""
    return next(
        (family for family in families if any(each.statement == "question" for each in family.read(question))), None
    )


def reply(text: str, families: Sequence[TextFamily], habits: Mapping[str, Habit] | None = None) -> str:
    """The reply to a turn: one JSON object. `habits` are what seats do wrong. Raises NotATurnError."""
    view = view_of(text)
    family = family_of(view.question, families)
    if family is None:
        return json.dumps({"messages": [], "answer": None})
    if (briefs := all_briefs(view.own.brief)) is not None:
        return json.dumps({"messages": [], "answer": solo_answer(view.question, briefs, family)})
    outgoing = with_habit((habits or {}).get(view.own.name, Habit.NONE), view, messages(view, family))
    entries = [{"to": to, "text": "\n".join(seat.told() for seat in seats)} for to, seats in outgoing.items()]
    return json.dumps({"messages": entries, "answer": answer(view, family)})


# A player that takes one seat of a task by calls: it asks its neighbours, who ask theirs, and answers by rules.

WAIT_S: Final = 10.0
"""How long a seat that waits to be told waits after the last call that reached it (seconds)."""

_CALLER_BRIEF: Final = re.compile(
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
class CallingPlayer:
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
        answerers = family.setting(question).answerers
        if self.habit is Habit.CHATTERING:
            await self._tell(_SAYS, self.own.neighbours)
        if len(answerers) == 1:
            if self.own.name in answerers:
                await self._ask_on({self.own.name}, push=False)
        elif self.begins():
            await self._ask_on({self.own.name}, push=True)
            if not self._knows_all or self.habit is not Habit.NONE:  # others then lack what it knows
                await self._pass_on()
        else:
            await self._wait()
        has_to = not answerers or self.own.name in answerers
        return json.dumps({"answer": answer(self._view(question), family) if has_to else None})

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
            await self._tell(_TELLS_ALL, children[:-1])
        return asked

    async def _tell(self, verb: str, others: Iterable[str]) -> None:
        """Tells seats all that is known now."""
        for other in list(others):
            await self._call(other, verb, self._told(other, list(self.known.values())))

    async def _pass_on(self) -> None:
        """Tells all seats that were asked what was found, once: seats that asked each other would go on for ever."""
        if not self._has_passed_on:
            self._has_passed_on = True
            await self._tell(_TELLS_ALL, self._behind)

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

    def _view(self, question: str) -> View:
        return View(self.own, self.seats, True, question, self.known)


def caller_of(text: str, call: Call, families: Sequence[TextFamily], habits: Mapping[str, Habit]) -> CallingPlayer:
    """The seat that a brief gives. Raises ValueError for another text."""
    brief = _CALLER_BRIEF.search(text)
    if brief is None:
        raise ValueError("this is not a brief of a task by calls")
    addresses = dict(line.split(": ", 1) for line in (brief["addresses"] or "").splitlines())
    own = Seat(brief["seat"], tuple(addresses), brief["brief"])
    return CallingPlayer(own, int(brief["seats"]), addresses, call, families, habits.get(own.name, Habit.NONE))


def is_brief(text: str) -> bool:
    """Whether a text is a brief of a task by calls."""
    return _CALLER_BRIEF.search(text) is not None


def is_question(text: str) -> bool:
    """Whether a text is the question of a task by calls."""
    return _QUESTION.search(text) is not None


def _asked_in(text: str) -> set[str]:
    return {name for found in _ASKED.finditer(text) for name in found["seats"].split(", ")}


def _asked_line(asked: Iterable[str]) -> str:
    return f"Asked: {', '.join(sorted(asked))}."
