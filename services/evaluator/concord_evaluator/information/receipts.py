"""Receipts: how much of a right answer rests on facts that the messages of the trial brought to its seat."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum

from concord.suite import Grade, SuiteTask
from concord_evaluator.information.causes import Answered
from concord_evaluator.information.flow import Flow


@dataclass(frozen=True, slots=True)
class Unproven:
    """Needed facts of a right part that its seat could not know when it answered."""

    part: str
    seat: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Credit:
    """The credited value of each part, from 0 to 1, and what is missing in right parts."""

    parts: Mapping[str, float]
    unproven: tuple[Unproven, ...] = ()

    @property
    def outcome(self) -> float:
        """The mean of the parts, from 0 to 1."""
        return fsum(self.parts.values()) / len(self.parts)


def credit_of(task: SuiteTask, grade: Grade, flow: Flow, answered: Answered) -> Credit:
    """Credits each part of the answers with its value, times the share of its needed facts that its seat could know.

    Facts of the seat's own brief need no receipt; a part that needs no other fact is credited whole.
    """
    parts, unproven = dict[str, float](), list[Unproven]()
    for part in task.parts:
        value = grade.parts.get(part.id, 0.0)
        from_others = [need for need in part.needs if not _held(flow, part.seat, need)]
        time = answered.times.get(part.seat, answered.end)
        missing = tuple(need for need in from_others if not flow.knew(part.seat, need, time))
        parts[part.id] = value * (1 - len(missing) / len(from_others)) if from_others else value
        if value and missing:
            unproven.append(Unproven(part.id, part.seat, missing))
    return Credit(parts, tuple(unproven))


@dataclass(frozen=True, slots=True)
class Gap:
    """Failed parts of answers, and those whose seats answered though they could know all that the part follows from.

    Source: Silo-Bench (arXiv 2603.01045), which finds that agents get what they need, and cannot put it together.
    """

    parts: int = 0
    informed_parts: int = 0
    seats: int = 0
    informed_seats: int = 0


def gap_of(task: SuiteTask, grade: Grade, flow: Flow, answered: Answered) -> Gap:
    """The gap of a trial between what reached its seats and what they made of it."""
    informed: dict[str, list[bool]] = {}
    for part in task.parts:
        if grade.parts.get(part.id, 0.0) < 1:
            time = answered.times.get(part.seat)
            knew = time is not None and all(flow.knew(part.seat, need, time) for need in part.needs)
            informed.setdefault(part.seat, []).append(knew)
    of_seats = informed.values()
    return Gap(sum(map(len, of_seats)), sum(map(sum, of_seats)), len(informed), sum(map(all, of_seats)))


def lost_by_part(whole: Mapping[str, float], kept: Mapping[str, float]) -> dict[str, float]:
    """By part, the share of the outcome that is lost where parts worth `whole` (0 to 1) keep only `kept`."""
    return {part: max(0.0, value - kept.get(part, 0.0)) / len(whole) for part, value in whole.items()}


def information(task: SuiteTask, flow: Flow, answered: Answered) -> float | None:
    """The share of needed facts outside the answering seats' own briefs that reached them before they answered.

    From 0 to 1; None if no seat needs a fact of another.
    """
    reached = list[bool]()
    needs: dict[str, dict[str, None]] = {}
    for part in task.parts:
        needs.setdefault(part.seat, {}).update(dict.fromkeys(part.needs))
    for seat, needed in needs.items():
        time = answered.times.get(seat, answered.end)
        reached += [flow.knew(seat, need, time) for need in needed if not _held(flow, seat, need)]
    return fsum(reached) / len(reached) if reached else None


def economy(simple: int, sent: int) -> float:
    """What a simple team sends, per message that this team sent: from 0 to 1."""
    return min(1.0, simple / sent) if sent else 1.0


def _held(flow: Flow, seat: str, fact: str) -> bool:
    """Whether a seat's brief states a fact."""
    arrival = flow.known[seat].get(fact)
    return arrival is not None and arrival.time == 0
