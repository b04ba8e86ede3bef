"""Sorts the timed calls of a trial into lanes, and stacks calls that overlap."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from concord.assessment.results import CallRecord
from concord.wire.roster import GREEN_AGENT, UNKNOWN_AGENT
from concord_cli.report.calls import CallName

MAX_LANES: Final = 60
"""Limit of the agents in a timeline: those that took part in the most calls."""

LONGEST_MS: Final = 1e10
"""A later start or longer duration (four months) is not credible."""


@dataclass(frozen=True, slots=True)
class TimedCall:
    """A call with a known start; times in milliseconds. `end` equals `start` if the duration is unknown."""

    record: CallRecord
    name: CallName
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a call: its lane, and its row within the lane."""

    call: TimedCall
    lane: int
    row: int


def timed(calls: Sequence[CallRecord], names: Sequence[CallName]) -> Iterator[TimedCall]:
    """The calls with times, in the given order."""
    for record, name in zip(calls, names, strict=True):
        if record.start_ms is not None and abs(record.start_ms) <= LONGEST_MS:
            length = min(max(record.duration_ms or 0.0, 0.0), LONGEST_MS)
            yield TimedCall(record, name, record.start_ms, record.start_ms + length)


def lanes_of(calls: Sequence[TimedCall]) -> list[str]:
    """The agents that made or answered calls, in the order of their first call, without the assessor."""
    taken = Counter(agent for call in calls for agent in _ends(call))
    if len(taken) <= MAX_LANES:
        return list(taken)
    busiest = {agent for agent, _ in taken.most_common(MAX_LANES)}
    return [agent for agent in taken if agent in busiest]


def _ends(call: TimedCall) -> Iterator[str]:
    if call.record.caller not in (GREEN_AGENT, UNKNOWN_AGENT):
        yield call.record.caller
    yield call.record.callee


def stacked(calls: Sequence[TimedCall], lanes: Sequence[str], shortest: float) -> tuple[list[Slot], list[int]]:
    """Each call's slot, and the number of rows of each lane (at least one). A call occupies at least `shortest` ms.

    A call takes the first row of its callee's lane that is free at its start.
    """
    number = {agent: lane for lane, agent in enumerate(lanes)}
    free_from: list[list[float]] = [[] for _ in lanes]
    slots = []
    for call in sorted(calls, key=lambda call: (call.start, -call.end)):
        lane = number.get(call.record.callee)
        if lane is not None:
            slots.append(Slot(call, lane, _take_row(free_from[lane], call.start, max(call.end, call.start + shortest))))
    return slots, [max(1, len(rows)) for rows in free_from]


def _take_row(free_from: list[float], start: float, end: float) -> int:
    for row, free in enumerate(free_from):
        if free <= start:
            free_from[row] = end
            return row
    free_from.append(end)
    return len(free_from) - 1
