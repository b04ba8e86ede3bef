"""Faults of the network between the seats of a good team: how each can be planted, and what should be found."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from concord.assessment.faults import Chatter, Cut, Delay, OnMessages, OnSeat, PlantedFault, Swap, Truncate
from concord.assessment.results import TurnRecord
from concord.assessment.verdict import Cause, CauseKind
from concord.suite import Draw, Fact, SuiteTask
from concord_gateway.rounds.exchange import Rounds, SeatMessage, Wire
from concord_gateway.rounds.reply import Reply, read_reply
from concord_gateway.rounds.texts import turn_text
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from concord_suites.player import reply
from tests.kit.players.minds import Mind
from tests.kit.players.plans import Send, plan_of
from tests.kit.players.planted import label_of
from tests.kit.players.play import Played
from tests.kit.players.play import reply as said
from tests.kit.players.teams import ScriptedTeam, Telling
from tests.kit.players.writings import WRITINGS

STYLES: Final = ("prose", "table", "JSON", "key=value lines")
"""Writings in which each value stands as the task has it."""

LOST: Final = frozenset({CauseKind.NOT_SENT, CauseKind.NOT_PASSED_ON, CauseKind.MISDIRECTED, CauseKind.TOO_LATE})
"""The record of a lost message is that of a seat which did not send it: it told nobody, only others, or only later."""

LATE: Final = frozenset({CauseKind.TOO_LATE, CauseKind.MISDIRECTED})
"""A message that comes to a seat which cannot pass it on in time any more is late, or misdirected."""

EXPECTED: Final[Mapping[str, frozenset[CauseKind]]] = {
    "drop": LOST,
    "silence": LOST | {CauseKind.NO_ANSWER},
    "null": LOST | {CauseKind.NO_ANSWER},
    "echo": LOST | {CauseKind.NO_ANSWER},
    "delay": LATE,
    "reorder": LATE,
    "truncate": frozenset({CauseKind.TRUNCATED}),
    "garble": frozenset({CauseKind.CHANGED, CauseKind.CONTRADICTED}),
    "swap": frozenset({CauseKind.MISDIRECTED, CauseKind.NOT_PASSED_ON}),
    "cut": frozenset({CauseKind.UNDELIVERED}),
    "duplicate": frozenset(),
    "chatter": frozenset(),
}
"""The causes that a kind of fault may have, where kinds with the same ones leave the same record.

A delay beyond the end of the trial is a loss. A seat whose number is garbled in one message, and right in another, has
told two values. Who gets a message instead of its receiver, and could pass it on, leaves the record of one who did not.
Duplicates and chatter cost no team an answer.
"""


class ReadingTeam(ScriptedTeam):
    """A team that follows its plan, takes what arrives as it arrives, and passes on late what comes late."""

    style: str = STYLES[0]

    def _text(self, telling: Telling) -> str:
        facts = {fact.id: fact for fact in self.mind.task.facts}
        return WRITINGS[self.style](
            self.mind.task, [replace(each, id=label_of(facts[each.id])) for each in telling.facts]
        )

    def _due(self, number: int) -> Sequence[Send]:
        return [replace(each, round=number) for each in self.plan.sends if each.round <= number]

    def _learn(self, rounds: Rounds) -> None:
        for each in rounds.messages:
            if each.round == rounds.round - 1 and each.error is None:
                for telling, text in self._on_the_way:
                    if telling.sender == each.sender and (heard := _heard(telling, text, each.text)) is not None:
                        self._believe(replace(heard, receiver=each.receiver))
                        break

    def _reply(self, rounds: Rounds, seat: str, messages: Sequence[tuple[str, str]]) -> Reply | TurnRecord:
        planned = self.plan.answers.get(seat)
        if planned is None or rounds.round < planned:
            return said(messages)
        return said(messages, self.mind.answer(seat, self._believed[seat], Draw(seat.encode())))


def _heard(telling: Telling, written: str, arrived: str) -> Telling | None:
    """What a text tells that arrived instead of another: its beginning, or the same with another digit; None if it is
    neither."""
    if written.startswith(arrived):
        return telling.only(fact for fact in telling.facts if fact.value.text in arrived)
    if len(written) != len(arrived) or sum(old != new for old, new in zip(written, arrived, strict=True)) > 1:
        return None
    return telling.only(_as_arrived(fact, written, arrived) for fact in telling.facts)


def _as_arrived(fact: Fact, written: str, arrived: str) -> Fact:
    at = written.find(fact.value.text)
    return replace(fact, value=replace(fact.value, text=arrived[at : at + len(fact.value.text)])) if at >= 0 else fact


class SampleTeam:
    """The sample agent in every seat: it reads the texts that the gateway sends, and only these."""

    def replies(self, rounds: Rounds) -> Mapping[str, Reply | TurnRecord]:
        """The reply of each seat in the current round."""
        return {seat: read_reply(reply(turn_text(rounds, seat), FAMILIES)) for seat in rounds.asked}


@dataclass(frozen=True, slots=True)
class Team:
    """A team of a task, which plays it as often as wanted, always alike."""

    mind: Mind
    style: str
    max_rounds: int

    def play(self, *faults: PlantedFault) -> Played:
        """A trial over a wire with these faults."""
        task, draw = self.mind.task, Draw(self.mind.task.question.encode())
        team = ReadingTeam(self.mind, plan_of(task), draw, partial_results=0)
        team.style = self.style
        rounds = Rounds(task, self.max_rounds, wire=Wire(faults, task.neighbours))
        while not rounds.over:
            rounds.begin()
            rounds.take(team.replies(rounds))
        return Played(self.mind.family, task, rounds)


def team_of(family: TextFamily, task: SuiteTask, style: str) -> Team:
    """The team of a task. It has as many rounds more than its plan takes as seats."""
    plan = plan_of(task)
    return Team(Mind(family, task), style, max(plan.answers.values()) + len(task.seats))


@dataclass(frozen=True, slots=True)
class Planted:
    """A fault, and the trial that has it, beside its twin without."""

    fault: PlantedFault
    twin: Played
    played: Played
    failures: list[Cause] = field(default_factory=list)

    @property
    def tolerated(self) -> bool:
        """Whether the team was as right as without it."""
        return self.played.grade.outcome == self.twin.grade.outcome

    @property
    def kind_found(self) -> bool:
        """Whether every wrong part has a cause that this kind of fault has."""
        causes = EXPECTED[self.fault.kind] | (LOST if self.is_lost else frozenset())
        return bool(self.failures) and all(each.kind in causes for each in self.failures)

    @property
    def is_lost(self) -> bool:
        """Whether it leaves no message in the record."""
        return self.fault.kind in {"drop", "silence", "null", "echo"} or self.played.rounds.wire.holds

    @property
    def place_found(self) -> bool:
        """Whether every wrong part names the seat, or both ends of the edge, and nobody else."""
        return bool(self.failures) and all(set(each.agents) == set(self._place(each.kind)) for each in self.failures)

    def _place(self, cause: CauseKind) -> Sequence[str]:
        if isinstance(self.fault, Cut):
            return self.fault.edge
        if isinstance(self.fault, Swap) and cause is CauseKind.NOT_PASSED_ON:
            return [self.fault.instead]
        return self.fault.seats[:1]

    @property
    def step_found(self) -> bool:
        """Whether every message that is shown is one that the fault changed. Of a message that is not there, the record
        shows none, or the last one before it: what the seat was told, or whom else it told."""
        shown = [self.played.rounds.messages[int(each.step_id)] for each in self.failures if each.step_id is not None]
        if self.is_lost:
            return all(self.fault.seats[0] in {each.sender, each.receiver} for each in shown)
        return len(shown) == len(self.failures) > 0 and all(each not in self.twin.rounds.messages for each in shown)

    @property
    def found(self) -> bool:
        """Whether the kind, the place and the step are found."""
        return self.kind_found and self.place_found and self.step_found


def planted(fault: PlantedFault, team: Team, twin: Played) -> Planted:
    """The trial of a team with a fault, beside the one without."""
    played = team.play(fault)
    return Planted(fault, twin, played, played.failures())


def _of_a_message(kind: str) -> Callable[[Played, Draw], Iterator[PlantedFault]]:
    def faults(twin: Played, draw: Draw) -> Iterator[PlantedFault]:
        for each in _messages(twin, draw):
            here = {"sender": each.sender, "receiver": each.receiver, "first_round": each.round}
            yield OnMessages.model_validate({"kind": kind, **here, "last_round": each.round})

    return faults


def _lost_seat(kind: str) -> Callable[[Played, Draw], Iterator[PlantedFault]]:
    def faults(twin: Played, draw: Draw) -> Iterator[PlantedFault]:
        for seat in draw.shuffled(twin.task.seats):
            first = draw.between(1, 2) if kind == "silence" else 1
            yield OnSeat.model_validate({"kind": kind, "seat": seat, "first_round": first})

    return faults


def _delays(twin: Played, draw: Draw) -> Iterator[PlantedFault]:
    for each in _messages(twin, draw):
        rounds = draw.between(1, twin.rounds.max_rounds)
        here = {"sender": each.sender, "receiver": each.receiver, "first_round": each.round}
        yield Delay.model_validate({"kind": "delay", **here, "rounds": rounds})


def _reorderings(twin: Played, draw: Draw) -> Iterator[PlantedFault]:
    for each in _messages(twin, draw):
        yield OnMessages(kind="reorder", sender=each.sender, receiver=each.receiver)


def _truncations(twin: Played, draw: Draw) -> Iterator[PlantedFault]:
    for each in _messages(twin, draw):
        characters = draw.between(0, max(0, len(each.text) // 2))
        yield Truncate(kind="truncate", sender=each.sender, receiver=each.receiver, characters=characters)


def _swaps(twin: Played, draw: Draw) -> Iterator[PlantedFault]:
    for each in _messages(twin, draw):
        for other in twin.task.neighbours[each.sender]:
            if other != each.receiver:
                yield Swap(kind="swap", sender=each.sender, receiver=each.receiver, instead=other)


def _cuts(twin: Played, draw: Draw) -> Iterator[PlantedFault]:
    for each in _messages(twin, draw):
        yield Cut(kind="cut", edge=(each.sender, each.receiver))


def _chatter(twin: Played, draw: Draw) -> Iterator[PlantedFault]:
    for seat in draw.shuffled(twin.task.seats):
        yield Chatter(kind="chatter", sender=seat, last_round=twin.rounds.round)


def _messages(twin: Played, draw: Draw) -> list[SeatMessage]:
    return draw.shuffled(twin.rounds.messages)


NETWORK_FAULTS: Final[Mapping[str, Callable[[Played, Draw], Iterator[PlantedFault]]]] = {
    "drop": _of_a_message("drop"),
    "delay": _delays,
    "reorder": _reorderings,
    "truncate": _truncations,
    "garble": _of_a_message("garble"),
    "swap": _swaps,
    "silence": _lost_seat("silence"),
    "null": _lost_seat("null"),
    "echo": _lost_seat("echo"),
    "cut": _cuts,
    "duplicate": _of_a_message("duplicate"),
    "chatter": _chatter,
}
"""By kind, the ways in which it can be planted in a trial, in a random order."""
