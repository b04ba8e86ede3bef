"""Changes of a recorded trial: one of its messages, or one that a cause says was missing."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from concord.assessment.verdict import Cause, CauseKind
from concord.suite import SuiteTask, distances
from concord_cli.errors import UsageError
from concord_cli.replay.recorded import Ended, Recorded
from concord_gateway.rounds.exchange import SeatMessage

SPOILT: Final = frozenset({CauseKind.CHANGED, CauseKind.CONTRADICTED, CauseKind.INVENTED, CauseKind.TRUNCATED})
"""The causes that lie in what a message says."""

OWN_ANSWER: Final = frozenset({CauseKind.NOT_USED, CauseKind.NO_ANSWER, CauseKind.UNREADABLE, CauseKind.ANSWERED_EARLY})
"""The causes that lie in a seat's answer: no message of another would turn them."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What arrives from a seat at another in a round, in addition to what it sent or instead of one of its messages.

    `text` is empty for nothing.
    """

    round: int
    sender: str
    receiver: str
    text: str
    instead: SeatMessage | None = None


def edit_at(recorded: Recorded, step_id: str, text: str) -> Edit:
    """Another text of a recorded message. Raises UsageError."""
    place = recorded.ended.place_of(step_id)
    if place is None:
        raise UsageError(f"{recorded.trial_id} has no message {step_id!r}")
    message = recorded.ended.rounds.messages[place]
    return Edit(message.round, message.sender, message.receiver, text, message)


@dataclass(frozen=True, slots=True)
class Repair:
    """What the task needs in place of a cause, and the parts of the answer that it cost."""

    cause: CauseKind
    seats: tuple[str, ...]
    edits: Sequence[Edit]
    parts: frozenset[str]


def repairs(ended: Ended) -> list[Repair]:
    """A repair for each cause of the wrong parts that another message could turn: its seat tells, as early as it could,
    what the brief states that holds each lost fact."""
    found: dict[tuple[CauseKind, tuple[str, ...]], list[Cause]] = {}
    for failure in ended.failures:
        if failure.kind not in OWN_ANSWER and failure.agents:
            found.setdefault((failure.kind, failure.agents), []).append(failure)
    return [
        Repair(cause, seats, list(dict.fromkeys(each for one in failures for each in _edits(ended, one))), parts)
        for (cause, seats), failures in found.items()
        if (parts := frozenset(each.part for each in failures if each.part))
    ]


def _edits(ended: Ended, failure: Cause) -> Iterator[Edit]:
    """The messages of the cause's seat that would have brought the facts on their way to those who lacked them.

    A message that told something false, or was cut off, is replaced: by what it told rightly, and what was lost.
    """
    task, seat = ended.task, failure.agents[0]
    part = next(part for part in task.parts if part.id == failure.part)
    known, lost_facts = ended.flow.known[seat], [each.text for each in failure.evidence]
    lost = [fact for fact in lost_facts or part.needs if fact in known]
    place = ended.place_of(failure.step_id)
    if place is not None and failure.kind in SPOILT:
        message, told = ended.rounds.messages[place], ended.flow.messages
        rightly = {fact for each in told if each.message.step_id == failure.step_id for fact in each.facts}
        yield Edit(message.round, seat, message.receiver, quoted(task, [*rightly, *lost]), message)
        return
    for fact in lost:
        for receiver in _next(task, seat, part.seat):
            yield Edit(max(known[fact].time, 1), seat, receiver, quoted(task, [fact]))


def _next(task: SuiteTask, seat: str, goal: str) -> list[str]:
    """The neighbours of a seat on shortest ways to another."""
    away = distances(task.neighbours, goal)
    return [other for other in task.neighbours[seat] if away[other] < away[seat]]


def quoted(task: SuiteTask, facts: Collection[str]) -> str:
    """The briefs that hold facts, word for word, as another seat would quote them."""
    holders = {fact.holders[0] for fact in task.facts if fact.id in facts and fact.holders}
    return "\n".join(
        f"{seat} (next to {', '.join(task.neighbours[seat])}) knows: {task.briefs[seat]}" for seat in sorted(holders)
    )
