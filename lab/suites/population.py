"""A population of scripted teams of graded skill: the ladders at several rungs, alone and two at a time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from pydantic import JsonValue

from concord.suite import Draw, Fact
from tests.kit.players.ladders import LADDERS
from tests.kit.players.minds import Mind
from tests.kit.players.plans import plan_of
from tests.kit.players.play import play
from tests.kit.players.teams import Habits, ScriptedTeam, Telling
from tests.kit.players.writings import WRITINGS

ALONE: Final = (0.1, 0.4)
CROSSED: Final = (0.05, 0.2)
"""Rungs: what part of a team's facts, messages or seats is spoiled."""

SILENCES: Final = 0.1
"""Up to this part of the seats, rounded down, none is silent in teams of up to ten."""

_COSTING: Final = tuple(name for name, ladder in LADDERS.items() if ladder.costs)
_PAIRED: Final = ("forgetting", "distorting", "withholding", "overlooking", "a solo lead", "random answers")


@dataclass(frozen=True)
class Both(Habits):
    """The habits of a team that spoils its work in two ways."""

    first: Habits
    second: Habits

    def reads(self, seat: str, facts: Sequence[Fact]) -> Iterable[Fact]:
        """What neither way overlooks."""
        return self.second.reads(seat, list(self.first.reads(seat, facts)))

    def tells(self, telling: Telling) -> Iterable[Telling]:
        """What is left of what the first way leaves."""
        return [last for each in self.first.tells(telling) for last in self.second.tells(each)]

    def hears(self, telling: Telling) -> Telling:
        """What the receiver takes in."""
        return self.second.hears(self.first.hears(telling))

    def answer(self, seat: str, answer: JsonValue) -> JsonValue:
        """What a seat answers instead."""
        return self.second.answer(seat, self.first.answer(seat, answer))


@dataclass(frozen=True, slots=True)
class SkilledTeam:
    """A team of the population: the ladders on which it stands, and its rungs."""

    rungs: Mapping[str, float]

    def __str__(self) -> str:
        return ", ".join(f"{name} {rung:g}" for name, rung in self.rungs.items()) or "no fault"

    def habits(self, mind: Mind) -> Habits:
        """Its habits in a task."""
        own, habits = copy(mind), Habits()
        own.luck = str(self)  # else the luck of all teams with a task would be one
        for name, rung in self.rungs.items():
            habits = Both(habits, LADDERS[name].habits(own, rung))
        return habits

    def outcome(self, mind: Mind) -> float:
        """The credited outcome of a trial. What is spoiled follows from the task and the team."""
        draw = Draw(f"{mind.task.question} {mind.task.briefs[mind.task.seats[0]]}".encode())
        team = ScriptedTeam(mind, plan_of(mind.task), draw, self.habits(mind), 0, WRITINGS["prose"])
        return play(mind.family, mind.task, team).credit().outcome


def _teams() -> Iterator[SkilledTeam]:
    yield SkilledTeam({})
    for name in _COSTING:
        yield from (SkilledTeam({name: rung}) for rung in ALONE if name != "silent seats" or rung > SILENCES)
    for one, other in combinations(_PAIRED, 2):
        yield from (SkilledTeam({one: rung, other: rung}) for rung in CROSSED)
    yield SkilledTeam(dict.fromkeys(_PAIRED, 0.3))


POPULATION: Final = tuple(_teams())
