"""Faults of the network between seats that call each other: how each can be planted, and what should be found."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from concord.assessment.faults import Cut, OnMessages, OnSeat, PlantedFault, Swap, Truncate
from concord.assessment.verdict import Cause, CauseKind
from concord.suite import Draw, SuiteTask
from concord_suites.family import TextFamily
from tests.kit.players.calls import Played, play_well
from tests.kit.players.plans import needs_by_seat

LOST: Final = frozenset({CauseKind.UNDELIVERED, CauseKind.NOT_SENT, CauseKind.NOT_PASSED_ON, CauseKind.NO_ANSWER})
"""A lost request is an undelivered call. A lost answer is that of a seat that was asked and told nothing."""

EXPECTED: Final[Mapping[str, frozenset[CauseKind]]] = {
    "drop": LOST,
    "silence": LOST,
    "cut": frozenset({CauseKind.UNDELIVERED}),
    "truncate": frozenset({CauseKind.NOT_SENT, CauseKind.NOT_PASSED_ON}),
    "garble": frozenset({CauseKind.CHANGED, CauseKind.CONTRADICTED}),
    "swap": frozenset(),
    "duplicate": frozenset(),
}
"""The causes that a kind of fault may have. The record holds of a cut message what arrived, so that it is one whose
seat did not tell the rest."""

Calls = Sequence[tuple[str, str]]
"""Caller and callee of each call of the twin, in a random order."""


def plays_by_calls(task: SuiteTask) -> bool:
    """Whether the team of a task asks and waits for nobody: one seat answers, and all others are asked."""
    return len(needs_by_seat(task)) == 1


@dataclass(frozen=True, slots=True)
class PlantedByCalls:
    """A fault, and the trial that has it, beside its twin without."""

    fault: PlantedFault
    twin: Played
    played: Played
    failures: Sequence[Cause]

    @property
    def tolerated(self) -> bool:
        """Whether the team was as right as without it."""
        return self.played.grade.outcome == self.twin.grade.outcome

    @property
    def kind_found(self) -> bool:
        """Whether every wrong part has a cause that this kind of fault has."""
        return bool(self.failures) and all(each.kind in EXPECTED[self.fault.kind] for each in self.failures)

    @property
    def place_found(self) -> bool:
        """Whether every wrong part names the seat whose messages these are; of an undelivered call, both its ends."""
        return bool(self.failures) and all(self._is_place(each) for each in self.failures)

    def _is_place(self, failure: Cause) -> bool:
        seats = set(failure.agents)
        if failure.kind is not CauseKind.UNDELIVERED:
            return seats == set(self.fault.seats[:1])
        return seats == set(self.fault.seats) if len(self.fault.seats) > 1 else seats > set(self.fault.seats)

    @property
    def step_found(self) -> bool:
        """Whether every call that is shown is one that the fault was in, or that the seat took part in."""
        shown = [each.step_id for each in self.failures if each.step_id is not None]
        ends = {each.step_id: {each.sender, each.receiver} for each in self.played.sent}
        return all(ends[step] & set(self.fault.seats[:1]) for step in shown)


def planted_by_calls(fault: PlantedFault, family: TextFamily, twin: Played) -> PlantedByCalls:
    """The trial of the good team with a fault, beside the one without."""
    played = play_well(family, twin.task, fault)
    return PlantedByCalls(fault, twin, played, played.failures())


def _messages(kind: str) -> Callable[[Calls, Draw], Iterator[PlantedFault]]:
    def faults(calls: Calls, draw: Draw) -> Iterator[PlantedFault]:
        for caller, callee in calls:
            sender, receiver = draw.shuffled([caller, callee])
            yield OnMessages.model_validate({"kind": kind, "sender": sender, "receiver": receiver})

    return faults


def _silences(calls: Calls, draw: Draw) -> Iterator[PlantedFault]:
    for seat in draw.shuffled(sorted({seat for call in calls for seat in call})):
        yield OnSeat(kind="silence", seat=seat)


def _cuts(calls: Calls, _: Draw) -> Iterator[PlantedFault]:
    for call in calls:
        yield Cut(kind="cut", edge=call)


def _truncations(calls: Calls, draw: Draw) -> Iterator[PlantedFault]:
    for caller, callee in calls:
        yield Truncate(kind="truncate", sender=callee, receiver=caller, characters=draw.between(0, 60))


def _swaps(calls: Calls, _: Draw) -> Iterator[PlantedFault]:
    for caller, callee in calls:
        for instead in sorted({other for one, other in calls if one == caller and other != callee}):
            yield Swap(kind="swap", sender=caller, receiver=callee, instead=instead)


CALL_FAULTS: Final[Mapping[str, Callable[[Calls, Draw], Iterator[PlantedFault]]]] = {
    "drop": _messages("drop"),
    "garble": _messages("garble"),
    "duplicate": _messages("duplicate"),
    "truncate": _truncations,
    "silence": _silences,
    "cut": _cuts,
    "swap": _swaps,
}
"""By kind, the ways in which it can be planted in the calls of a trial. Without a clock, no call is delayed."""
