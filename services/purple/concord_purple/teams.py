"""The teams: who asks whom for what, and what each team lets go undone or untold, as data."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import Final

from concord.assessment.roster import RosterEntry
from concord_purple.requests import Kind
from concord_purple.work import Aspect


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
    """While an `asker` serves a request of kind `serving`, it sends requests of kind `kind` to agents of `asked`.

    The requests are about those of its own aspects that are among `aspects`.
    """

    asker: Function
    serving: Kind
    kind: Kind
    asked: tuple[Function, ...]
    choice: Choice = Choice.ALL
    aspects: tuple[Aspect, ...] = tuple(Aspect)


Wiring = tuple[Consultation, ...]
"""A team's consultations. The coordinator holds its own in the order in which they stand."""


@dataclass(frozen=True, slots=True)
class Team:
    """How a team works together.

    In a team that `makes_up`, each agent does what should have been done before its own part and was not. The agents of
    a team that `forges` deny the calls that they made, and tell of calls that never took place.
    """

    wiring: Wiring
    makes_up: bool = True
    forges: bool = False


_RESEARCH: Final = Consultation(Function.COORDINATOR, Kind.TASK, Kind.RESEARCH, (Function.RESEARCHER,))
_SYNTHESIZE: Final = Consultation(
    Function.COORDINATOR, Kind.TASK, Kind.SYNTHESIZE, (Function.SYNTHESIZER,), Choice.FIRST
)
_REVIEW: Final = Consultation(Function.COORDINATOR, Kind.TASK, Kind.REVIEW, (Function.REVIEWER,), Choice.FIRST)
_COORDINATION: Final[Wiring] = (_RESEARCH, _SYNTHESIZE, _REVIEW)

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

_ROLL_CALL: Final[Wiring] = (
    Consultation(Function.COORDINATOR, Kind.TASK, Kind.PING, (Function.RESEARCHER, Function.SYNTHESIZER)),
    Consultation(Function.COORDINATOR, Kind.TASK, Kind.PING, (Function.REVIEWER,), Choice.FIRST),
)
_ONE_RESEARCHERS_SHARE: Final = replace(_RESEARCH, choice=Choice.FIRST, aspects=(Aspect.SENTENCES, Aspect.REPETITION))
_BAD: Final[Wiring] = (*_ROLL_CALL, _ONE_RESEARCHERS_SHARE, *_ROLL_CALL, _SYNTHESIZE, *_ROLL_CALL, _REVIEW)

_ALL_BUT_SUPPORT: Final = replace(_RESEARCH, aspects=(Aspect.SENTENCES, Aspect.REPETITION, Aspect.HEDGING))

TEAMS: Final[dict[TeamName, Team]] = {
    TeamName.MESH: Team(_MESH),
    TeamName.HUB_SPOKE: Team(_COORDINATION),
    TeamName.CHAIN: Team(_CHAIN),
    # Half of the research is never asked for, and nobody makes up for that. The others are asked again and again
    # whether they are there; only the second reviewer, whom it also has, is never asked for anything.
    TeamName.BAD: Team(_BAD, makes_up=False),
    # It works as a hub that never asks what has a source, and tells of a mesh that went over everything.
    TeamName.FORGING: Team((_ALL_BUT_SUPPORT, _SYNTHESIZE, _REVIEW), makes_up=False, forges=True),
}
"""A request leads only to kinds that come after it (task, then work, then answers) or, relayed, to a later seat.

So no call can come back to an agent that waits for it.
"""


def rules_for(wiring: Wiring, asker: Function, serving: Kind, kind: Kind) -> list[Consultation]:
    """The rules by which an agent of this function asks for `kind` while it serves `serving`."""
    return [rule for rule in wiring if (rule.asker, rule.serving, rule.kind) == (asker, serving, kind)]


def kinds_asked(wiring: Wiring, asker: Function, serving: Kind) -> list[Kind]:
    """What an agent of this function asks for while it serves `serving`: in the wiring's order, and as often."""
    rules = [rule for rule in wiring if (rule.asker, rule.serving) == (asker, serving)]
    return [kind for kind, _ in groupby(rules, lambda rule: rule.kind)]


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
