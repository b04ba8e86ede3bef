"""Why a part of an answer is wrong or missing: where the facts that it follows from were lost."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from concord.suite import Grade, Part, SuiteTask, distances
from concord_evaluator.information.flow import Conveyed, Flow


class Cause(StrEnum):
    """Why a part of an answer is not right."""

    NOT_SENT = "not_sent"
    """A seat told nobody what its brief says."""
    MISDIRECTED = "misdirected"
    """A seat told only those who did not need it and were no way to those who did, or nobody under that name."""
    NOT_PASSED_ON = "not_passed_on"
    """A seat was told, and did not tell the next."""
    CHANGED = "changed"
    """A seat told something else than it knew."""
    TOO_LATE = "too_late"
    """A seat told it later than it could have, and after the answer or the last round."""
    ANSWERED_EARLY = "answered_early"
    """A seat answered before what it needed could arrive, and did not correct its answer."""
    NOT_USED = "not_used"
    """Everything needed arrived, and the answer is wrong."""
    UNREADABLE = "unreadable"
    """A seat's reply or answer does not have the form that was asked for."""
    NO_ANSWER = "no_answer"
    """Everything needed arrived, and there is no answer."""
    AGENT_FAILED = "agent_failed"
    """A seat's agent failed."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One cause of a wrong or missing part: the seat where it lies, the message that shows it, and the lost facts."""

    part: str
    cause: Cause
    seat: str
    step_id: str | None
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Turns:
    """The rounds in which seats did not reply as asked, by seat. Empty where agents call each other."""

    unreadable: Mapping[str, frozenset[int]] = field(default_factory=dict)
    late: Mapping[str, frozenset[int]] = field(default_factory=dict)
    failed: Mapping[str, frozenset[int]] = field(default_factory=dict)

    def fault(self, seat: str, times: Iterable[int]) -> Cause | None:
        """What went wrong in a seat's turns at these times; None if it replied as asked in one of them at least."""
        wanted = frozenset(times)
        for missed, cause in (
            (self.failed, Cause.AGENT_FAILED),
            (self.late, Cause.TOO_LATE),
            (self.unreadable, Cause.UNREADABLE),
        ):
            if wanted & missed.get(seat, frozenset()):
                return cause
        return None


@dataclass(frozen=True, slots=True)
class Answered:
    """When each seat gave its last answer, and the last turn of the trial."""

    times: Mapping[str, int]
    end: int


def failures_of(task: SuiteTask, grade: Grade, flow: Flow, answered: Answered, turns: Turns) -> list[Failure]:
    """The causes of every part that is not right; facts that were lost for the same cause and seat are one."""
    return [
        failure
        for part in task.parts
        if grade.parts.get(part.id, 0) < 1
        for failure in _Diagnosis(task, grade, flow, answered, turns, part).failures()
    ]


@dataclass(frozen=True, slots=True)
class _Diagnosis:
    task: SuiteTask
    grade: Grade
    flow: Flow
    answered: Answered
    turns: Turns
    part: Part

    def failures(self) -> Iterator[Failure]:
        seat = self.part.seat
        time = self.answered.times.get(seat)
        if seat in self.grade.unreadable:
            yield self._failure(Cause.UNREADABLE, seat)
            return
        missing = [need for need in self.part.needs if not self.flow.knew(seat, need, time or self.answered.end)]
        if not missing:
            yield self._failure(self._without_missing(time), seat)
            return
        found: dict[tuple[Cause, str, str | None], list[str]] = {}
        for need in missing:
            found.setdefault(self._lost(need), []).append(need)
        for (cause, where, step_id), needs in found.items():
            yield Failure(self.part.id, cause, where, step_id, tuple(needs))

    def _without_missing(self, time: int | None) -> Cause:
        """The cause where the seat could know everything."""
        if time is not None:
            return Cause.NOT_USED
        return self.turns.fault(self.part.seat, range(1, self.answered.end + 1)) or Cause.NO_ANSWER

    def _failure(self, cause: Cause, seat: str) -> Failure:
        return Failure(self.part.id, cause, seat, None, ())

    def _lost(self, need: str) -> tuple[Cause, str, str | None]:
        """Where a fact was lost on its way to the seat that needed it."""
        away = distances(self.task.neighbours, self.part.seat)
        knowers = [seat for seat in self.task.seats if need in self.flow.known[seat] and seat != self.part.seat]
        last = min(knowers, key=lambda seat: (away[seat], self.flow.known[seat][need].time))
        if need in self.flow.known[self.part.seat]:
            return self._after_the_answer(need)
        return self._at(last, need)

    def _at(self, seat: str, need: str) -> tuple[Cause, str, str | None]:
        """Why a seat, the nearest to the answerer of those that knew a fact, told nobody nearer."""
        since = self.flow.known[seat][need].time
        own = [
            each for each in self.flow.messages if each.message.sender == seat and each.message.time >= max(since, 1)
        ]
        told = [each for each in own if need in each.facts]
        if undelivered := [each for each in told if not each.message.delivered]:
            if all(each.message.time >= self.answered.end for each in undelivered):
                return Cause.TOO_LATE, seat, undelivered[0].message.step_id
            return Cause.MISDIRECTED, seat, undelivered[0].message.step_id
        if (changed := self._changed(own, need)) is not None:
            return Cause.CHANGED, seat, changed
        if told:
            return Cause.MISDIRECTED, seat, told[0].message.step_id
        turns = range(max(since, 1), self.answered.end + 1)
        if (fault := self.turns.fault(seat, turns)) is not None:
            return fault, seat, None
        arrival = self.flow.known[seat][need]
        if arrival.step_id is None:
            return Cause.NOT_SENT, seat, None
        if arrival.time >= self.answered.end:
            return self._after_the_answer(need, seat)
        return Cause.NOT_PASSED_ON, seat, arrival.step_id

    def _changed(self, own: Sequence[Conveyed], need: str) -> str | None:
        """The step in which a seat stated a fact wrongly, or something that the task does not know instead of it."""
        for each in own:
            if need in each.stated.contradicted or (need not in each.facts and each.stated.strange):
                return each.message.step_id
        return None

    def _after_the_answer(self, need: str, seat: str | None = None) -> tuple[Cause, str, str | None]:
        """Who was late, where a fact arrived after the answer: the first on its way who waited, else the answerer."""
        path = list(self._path(need, seat or self.part.seat))
        for each in path:
            since = max(self.flow.known[each.message.sender][need].time, 1)
            if each.message.time > since:
                fault = self.turns.fault(each.message.sender, range(since, each.message.time))
                return fault or Cause.TOO_LATE, each.message.sender, each.message.step_id
        last = path[-1].message if path else None
        if self.part.seat not in self.answered.times and last is not None:
            return Cause.TOO_LATE, last.sender, last.step_id
        return Cause.ANSWERED_EARLY, self.part.seat, None if last is None else last.step_id

    def _path(self, need: str, seat: str) -> Iterator[Conveyed]:
        """The messages by which a fact first came to a seat, from its holder on."""
        by_step = {each.message.step_id: each for each in self.flow.messages}
        path: list[Conveyed] = []
        arrival = self.flow.known[seat].get(need)
        while arrival is not None and arrival.step_id is not None and len(path) < len(self.task.seats):
            each = by_step[arrival.step_id]
            path.append(each)
            arrival = self.flow.known[each.message.sender].get(need)
        return reversed(path)
