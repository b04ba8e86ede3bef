"""Who asks whom for what: each team's wiring, as data."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from concord.identity import RosterEntry
from concord_purple.requests import Kind


class Function(StrEnum):
    """What an agent does in its team, in the order in which the work passes through a chain."""

    COORDINATOR = "coordinator"
    RESEARCHER = "researcher"
    SYNTHESIZER = "synthesizer"
    REVIEWER = "reviewer"


class TeamName(StrEnum):
    """The teams that are shipped."""

    MESH = "mesh"
    HUB_SPOKE = "hub_spoke"
    CHAIN = "chain"
    BAD = "bad"
    FORGING = "forging"


class Choice(StrEnum):
    """Which of the agents that could be asked are: all, the first by id, those after the asker, or the very next."""

    ALL = "all"
    FIRST = "first"
    LATER = "later"
    NEXT = "next"


@dataclass(frozen=True, slots=True)
class Seat:
    """An agent in its team, where it can be reached, and what it does there."""

    agent_id: str
    function: Function
    url: str = ""

    @property
    def place(self) -> tuple[int, str]:
        """Orders the seats of a team: by function, then by id."""
        return list(Function).index(self.function), self.agent_id


@dataclass(frozen=True, slots=True)
class Consultation:
    """While an `asker` serves a request of kind `serving`, it sends requests of kind `kind` to agents of `asked`."""

    asker: Function
    serving: Kind
    kind: Kind
    asked: tuple[Function, ...]
    choice: Choice = Choice.ALL


Wiring = tuple[Consultation, ...]

_COORDINATION: Final[Wiring] = (
    Consultation(Function.COORDINATOR, Kind.TASK, Kind.RESEARCH, (Function.RESEARCHER,)),
    Consultation(Function.COORDINATOR, Kind.TASK, Kind.SYNTHESIZE, (Function.SYNTHESIZER,), Choice.FIRST),
    Consultation(Function.COORDINATOR, Kind.TASK, Kind.REVIEW, (Function.REVIEWER,), Choice.FIRST),
)

_MESH: Final[Wiring] = (
    *_COORDINATION,
    Consultation(Function.RESEARCHER, Kind.RESEARCH, Kind.CROSS_CHECK, (Function.RESEARCHER,), Choice.LATER),
    Consultation(Function.SYNTHESIZER, Kind.SYNTHESIZE, Kind.CLARIFY, (Function.RESEARCHER,)),
    Consultation(Function.REVIEWER, Kind.REVIEW, Kind.EVIDENCE, (Function.RESEARCHER, Function.SYNTHESIZER)),
)

_LINKS: Final = (Function.RESEARCHER, Function.SYNTHESIZER, Function.REVIEWER)
_CHAIN: Final[Wiring] = (
    Consultation(Function.COORDINATOR, Kind.TASK, Kind.RELAY, _LINKS, Choice.NEXT),
    *(Consultation(asker, Kind.RELAY, Kind.RELAY, _LINKS, Choice.NEXT) for asker in _LINKS),
)

WIRINGS: Final[dict[TeamName, Wiring]] = {
    TeamName.MESH: _MESH,
    TeamName.HUB_SPOKE: _COORDINATION,
    TeamName.CHAIN: _CHAIN,
    # Its fault is not in the wiring alone: a second reviewer sits in the team whom nobody ever asks.
    TeamName.BAD: _COORDINATION,
    # It works as a hub, and tells of a mesh.
    TeamName.FORGING: _COORDINATION,
}
"""A request leads only to kinds that come after it (task, then work, then answers) or, relayed, to a later seat.

So no call can come back to an agent that waits for it.
"""


def rules_for(wiring: Wiring, asker: Function, serving: Kind, kind: Kind) -> list[Consultation]:
    """The rules by which an agent of this function asks for `kind` while it serves `serving`."""
    return [rule for rule in wiring if (rule.asker, rule.serving, rule.kind) == (asker, serving, kind)]


def chosen(rules: Iterable[Consultation], asker: Seat, peers: Iterable[Seat]) -> list[Seat]:
    """Whom `asker` asks by these rules, each agent once, in the order of their places; never itself."""
    others = sorted((seat for seat in peers if seat.agent_id != asker.agent_id), key=lambda seat: seat.place)
    asked: dict[str, Seat] = {}
    for rule in rules:
        able = [seat for seat in others if seat.function in rule.asked]
        asked |= {seat.agent_id: seat for seat in _choose(rule.choice, asker, able)}
    return list(asked.values())


def _choose(choice: Choice, asker: Seat, able: Sequence[Seat]) -> Sequence[Seat]:
    later = [seat for seat in able if seat.place > asker.place]
    match choice:
        case Choice.ALL:
            return able
        case Choice.FIRST:
            return able[:1]
        case Choice.LATER:
            return later
        case Choice.NEXT:
            return later[:1]


def seat_of(entry: RosterEntry) -> Seat | None:
    """The seat of a peer: its function is one of those it declares, else the beginning of its id (`researcher_2`).

    None where neither names a function of this trade.
    """
    prefix = entry.id.partition("_")[0]
    for name in (*entry.functions, prefix):
        if name in set(Function):
            return Seat(entry.id, Function(name), entry.url)
    return None
