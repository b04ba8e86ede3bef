"""What a seat sees at its turn, read out of the text of the turn."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

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
_BRIEF: Final = re.compile(r"^(?P<seat>\S+) knows:\n(?P<brief>.*)$", re.MULTILINE)


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
    return {found["seat"]: found["brief"] for found in _BRIEF.finditer(brief)}
