"""A player that takes one seat of a task in rounds by rules: it knows the grammar of briefs, never a key.

It keeps nothing between rounds, since the text of a turn holds all that it needs.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from concord_suites.family import Setting, TextFamily

_SEAT: Final = re.compile(r"You are (?P<seat>\S+), one of (?P<seats>\d+) seats")
_SECTION: Final = re.compile(
    r"What only you know:\n(?P<brief>.*?)\n\nThe question to the team:\n(?P<question>.*?)\n.*?You may write to: "
    r"(?P<neighbours>[^\n]*)\.\n",
    re.DOTALL,
)
_MESSAGE: Final = re.compile(
    r"^\[round \d+\] (?:you to (?P<receiver>\S+)|(?P<sender>\S+) to you)(?: \(not delivered[^)]*\))?: ", re.MULTILINE
)
_TOLD: Final = re.compile(r"(?P<seat>[\w./-]*\w) \(next to (?P<neighbours>[^)]*)\) knows: (?P<brief>.*)")


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
        raise NotATurnError("this is no turn of a task in rounds")
    own = Seat(seat["seat"], tuple(section["neighbours"].split(", ")), section["brief"])
    known, told = {own.name: own}, {neighbour: frozenset[str]() for neighbour in own.neighbours}
    for other, line in _lines(text[section.end() :]):
        for found in _TOLD.finditer(line):
            about = Seat(found["seat"], tuple(found["neighbours"].split(", ")), found["brief"])
            known.setdefault(about.name, about)
            told[other] = told.get(other, frozenset()) | {about.name}
    return View(own, int(seat["seats"]), section["question"], known, told)


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """The messages in the text of a turn, each with the other end."""
    starts = list(_MESSAGE.finditer(text))
    for start, following in zip(starts, [*starts[1:], None], strict=False):
        end = len(text) if following is None else following.start()
        yield start["receiver"] or start["sender"], text[start.end() : end]


def messages(view: View, family: TextFamily) -> dict[str, list[Seat]]:
    """What to tell each neighbour: every seat that it was not told of, did not tell of, and is not told of by the seat
    itself."""
    answerers = Setting(family.read(view.question), {}, {}).answerers
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
    """The seat's own answer once it knows what every seat knows, else None."""
    if len(view.known) < view.seats:
        return None
    setting = Setting(
        family.read(view.question),
        {name: family.read(seat.brief) for name, seat in sorted(view.known.items())},
        {name: seat.neighbours for name, seat in sorted(view.known.items())},
    )
    return family.solve(setting).get(view.own.name)


def family_of(question: str, families: Sequence[TextFamily]) -> TextFamily | None:
    """The family whose grammar reads a question."""
    return next(
        (family for family in families if any(each.statement == "question" for each in family.read(question))), None
    )


def reply(text: str, families: Sequence[TextFamily]) -> str:
    """The reply to a turn: one JSON object. Raises NotATurnError."""
    view = view_of(text)
    family = family_of(view.question, families)
    if family is None:
        return json.dumps({"messages": [], "answer": None})
    entries = [
        {"to": receiver, "text": "\n".join(seat.told() for seat in seats)}
        for receiver, seats in messages(view, family).items()
    ]
    return json.dumps({"messages": entries, "answer": answer(view, family)})
