"""Single known faults of a team that otherwise plays well, each with the cause and the seat that should be found."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from pydantic import JsonValue

from concord.suite import Draw, Fact, SuiteTask
from concord_evaluator.information.causes import Cause
from tests.suites_gate.minds import Mind
from tests.suites_gate.plans import Plan, needs_by_seat, plan_of
from tests.suites_gate.play import Played, play
from tests.suites_gate.silent import guesses
from tests.suites_gate.teams import Habits, ScriptedTeam, Telling, distorted

MOST_TRIES: Final = 12
"""Seats and facts that are tried for a fault, until one changes the outcome."""

SPARE_ROUNDS: Final = 3
"""Rounds that a trial has beyond the plan."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A task, and how a good team plays it."""

    mind: Mind
    plan: Plan
    played: Sequence[Telling]
    """What is told where nothing goes wrong."""
    max_rounds: int
    draw: Draw

    @property
    def task(self) -> SuiteTask:
        """The task."""
        return self.mind.task

    def own(self) -> list[tuple[str, Fact]]:
        """Facts that one seat alone holds and tells, with that seat, in a random order."""
        return self._told(lambda seat, fact: fact.holders == (seat,))

    def relayed(self) -> list[tuple[str, Fact]]:
        """Facts that a seat passes on, with that seat, in a random order."""
        return self._told(lambda seat, fact: seat not in fact.holders and len(fact.holders) == 1)

    def answering(self) -> list[str]:
        """The seats whose answers are graded, in a random order."""
        return self.draw.shuffled(sorted(needs_by_seat(self.task)))

    def _told(self, wanted: Callable[[str, Fact], bool]) -> list[tuple[str, Fact]]:
        found = {
            (each.sender, fact.id): fact for each in self.played for fact in each.facts if wanted(each.sender, fact)
        }
        return self.draw.shuffled([(seat, fact) for (seat, _), fact in sorted(found.items(), key=lambda each: each[0])])


@dataclass(frozen=True, slots=True)
class Fault:
    """Habits with one fault, and what should be found."""

    habits: Habits
    cause: Cause
    seat: str


@dataclass
class _AboutAFact(Habits):
    """One seat does something else with one fact."""

    seat: str
    fact: Fact
    told_plainly: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.told_plainly = frozenset({self.fact.id})

    def tells(self, telling: Telling) -> Iterable[Telling]:
        if telling.sender != self.seat or all(fact.id != self.fact.id for fact in telling.facts):
            return [telling]
        rest = telling.only(fact for fact in telling.facts if fact.id != self.fact.id)
        return [rest, *self.instead(telling.only([self.fact]))]

    def instead(self, telling: Telling) -> Iterable[Telling]:
        """What the seat tells of the fact instead of what was planned."""
        del telling
        return []


class _Withheld(_AboutAFact):
    """Tells nobody."""


@dataclass
class _ToAnother(_AboutAFact):
    """Tells another receiver."""

    receiver: str

    def instead(self, telling: Telling) -> Iterable[Telling]:
        return [replace(telling, receiver=self.receiver)]


@dataclass
class _Changed(_AboutAFact):
    """Tells a wrong value."""

    wrong: Fact

    def tells(self, telling: Telling) -> Iterable[Telling]:
        if telling.sender != self.seat:
            return [telling]
        return [telling.only(self.wrong if fact.id == self.fact.id else fact for fact in telling.facts)]


@dataclass
class _TakenBack(_AboutAFact):
    """Tells the truth, and a wrong value with the next message."""

    wrong: Fact

    def tells(self, telling: Telling) -> Iterable[Telling]:
        if telling.sender != self.seat or all(fact.id != self.fact.id for fact in telling.facts):
            return [telling]
        return [telling, replace(telling.only([self.wrong]), round=telling.round + 1)]


@dataclass
class _Late(_AboutAFact):
    """Tells it in a certain round."""

    round: int
    last: int | None = None
    """The round in which all answer, if not in the planned one."""

    def instead(self, telling: Telling) -> Iterable[Telling]:
        return [replace(telling, round=self.round)]

    def answer_in(self, seat: str, planned: int) -> int | None:
        del seat
        return self.last or planned


@dataclass
class _Corrected(_TakenBack):
    """The same, where all answer late enough to believe the correction."""

    round: int
    believes_the_last: bool = True

    def answer_in(self, seat: str, planned: int) -> int | None:
        del seat, planned
        return self.round


@dataclass
class _Answering(Habits):
    """One seat answers otherwise."""

    seat: str
    planned: int | None = None
    """The round in which it answers instead."""
    instead: JsonValue = None
    """What it answers instead."""
    never: bool = False

    def answer_in(self, seat: str, planned: int) -> int | None:
        if seat == self.seat and self.never:
            return None
        return self.planned if seat == self.seat and self.planned is not None else planned

    def answer(self, seat: str, answer: JsonValue) -> JsonValue:
        return self.instead if seat == self.seat and self.instead is not None else answer


@dataclass
class _Turns(Habits):
    """One seat's turns end in a certain way."""

    seat: str
    state: Literal["unreadable", "late", "failed"]

    def turn(self, seat: str) -> Literal["replied", "unreadable", "late", "failed"]:
        return self.state if seat == self.seat else "replied"


def _withheld(situation: Situation) -> Iterator[Fault]:
    for seat, fact in situation.own():
        yield Fault(_Withheld(seat, fact), Cause.NOT_SENT, seat)


def _wrong_name(situation: Situation) -> Iterator[Fault]:
    for seat, fact in situation.own():
        strangers = [each for each in situation.task.seats if each not in (seat, *situation.task.neighbours[seat])]
        name = situation.draw.choice([*strangers, f"{seat}0", seat.upper(), "the team"])
        yield Fault(_ToAnother(seat, fact, name), Cause.MISDIRECTED, seat)


def _to_a_dead_end(situation: Situation) -> Iterator[Fault]:
    neighbours = situation.task.neighbours
    for seat, fact in situation.own():
        for other in neighbours[seat]:
            if neighbours[other] == (seat,) and needs_by_seat(situation.task).keys() != {other}:
                yield Fault(_ToAnother(seat, fact, other), Cause.MISDIRECTED, seat)


def _not_passed_on(situation: Situation) -> Iterator[Fault]:
    for seat, fact in situation.relayed():
        yield Fault(_Withheld(seat, fact), Cause.NOT_PASSED_ON, seat)


def _own_changed(situation: Situation) -> Iterator[Fault]:
    yield from _changed(situation, situation.own())


def _relayed_changed(situation: Situation) -> Iterator[Fault]:
    yield from _changed(situation, situation.relayed())


def _changed(situation: Situation, facts: Iterable[tuple[str, Fact]]) -> Iterator[Fault]:
    for seat, fact in facts:
        wrong = distorted(situation.draw, situation.task, fact)
        if wrong != fact:
            yield Fault(_Changed(seat, fact, wrong), Cause.CHANGED, seat)


def _taken_back(situation: Situation) -> Iterator[Fault]:
    """A truth that its author corrects to a falsehood, before the receiver answers what follows from the falsehood."""
    answers = situation.plan.answers.items()
    direct = {(each.sender, each.receiver): each.round for each in situation.plan.sends}
    for seat, fact in situation.own():
        wrong = distorted(situation.draw, situation.task, fact)
        told = [answer for answer, _ in answers if (seat, answer) in direct]
        if wrong != fact and told:
            later = max(dict(answers)[each] for each in told) + 2
            yield Fault(_Corrected(seat, fact, wrong, later), Cause.CONTRADICTED, seat)


def _in_the_last_round(situation: Situation) -> Iterator[Fault]:
    last = situation.max_rounds
    for seat, fact in situation.own():
        yield Fault(_Late(seat, fact, last, last), Cause.TOO_LATE, seat)


def _after_the_answer(situation: Situation) -> Iterator[Fault]:
    for seat, fact in situation.own():
        yield Fault(_Late(seat, fact, max(situation.plan.answers.values())), Cause.TOO_LATE, seat)


def _answered_early(situation: Situation) -> Iterator[Fault]:
    for seat in situation.answering():
        yield Fault(_Answering(seat, planned=1), Cause.ANSWERED_EARLY, seat)


def _not_used(situation: Situation) -> Iterator[Fault]:
    """A readable wrong answer: what follows without some fact, else a guess."""
    mind, task = situation.mind, situation.task
    for seat in situation.answering():
        wrong = [
            mind.answer(seat, [fact for fact in task.facts if fact != left_out], situation.draw)
            for left_out in situation.draw.shuffled(task.facts)[:4]
        ]
        wrong += [guess(mind.family, task, seat, situation.draw) for guess in guesses(mind.family)]
        for answer in wrong:
            if _is_readable(situation, seat, answer):
                yield Fault(_Answering(seat, instead=answer), Cause.NOT_USED, seat)


def _unreadable_replies(situation: Situation) -> Iterator[Fault]:
    for seat in _senders(situation):
        yield Fault(_Turns(seat, "unreadable"), Cause.UNREADABLE, seat)


def _unreadable_answer(situation: Situation) -> Iterator[Fault]:
    candidates: tuple[JsonValue, ...] = ("I could not decide.", "I cannot tell whether it is 48213 or 51872.", {}, True)
    for seat in situation.answering():
        for answer in candidates:
            if not _is_readable(situation, seat, answer):
                yield Fault(_Answering(seat, instead=answer), Cause.UNREADABLE, seat)


def _no_answer(situation: Situation) -> Iterator[Fault]:
    for seat in situation.answering():
        yield Fault(_Answering(seat, never=True), Cause.NO_ANSWER, seat)


def _failed(situation: Situation) -> Iterator[Fault]:
    for seat in _senders(situation):
        yield Fault(_Turns(seat, "failed"), Cause.AGENT_FAILED, seat)


FAULTS: Final[dict[str, Callable[[Situation], Iterator[Fault]]]] = {
    "withheld": _withheld,
    "told to a wrong name": _wrong_name,
    "told only to a dead end": _to_a_dead_end,
    "not passed on": _not_passed_on,
    "own fact changed": _own_changed,
    "relayed fact changed": _relayed_changed,
    "truth taken back": _taken_back,
    "sent in the last round": _in_the_last_round,
    "sent after the answer": _after_the_answer,
    "answered early": _answered_early,
    "not used": _not_used,
    "replies unreadable": _unreadable_replies,
    "answer unreadable": _unreadable_answer,
    "no answer": _no_answer,
    "agent failed": _failed,
}
"""The known faults by name. Each gives the ways in which it can be made, none if it does not apply to an instance."""


def situation_of(mind: Mind, draw: Draw) -> Situation:
    """How a good team plays a task, without partial results."""
    recorded = _Recorded()
    plan = plan_of(mind.task)
    max_rounds = max([*plan.answers.values(), *(each.round for each in plan.sends)]) + SPARE_ROUNDS
    play(mind.family, mind.task, ScriptedTeam(mind, plan, draw, recorded, partial_results=0), max_rounds)
    return Situation(mind, plan, recorded.tellings, max_rounds, draw)


def played_with(situation: Situation, name: str) -> tuple[Fault, Played] | None:
    """A trial with that fault; None if the fault cannot be made, or does not change the outcome."""
    for at, fault in enumerate(FAULTS[name](situation)):
        if at == MOST_TRIES:
            break
        team = ScriptedTeam(situation.mind, situation.plan, situation.draw, fault.habits)
        played = play(situation.mind.family, situation.task, team, situation.max_rounds)
        if played.grade.outcome < 1:
            return fault, played
    return None


@dataclass
class _Recorded(Habits):
    """Everything right, and all that is told is kept."""

    tellings: list[Telling] = field(default_factory=list)

    def tells(self, telling: Telling) -> Iterable[Telling]:
        self.tellings.append(telling)
        return [telling]


def _senders(situation: Situation) -> list[str]:
    """The seats that tell somebody something, in a random order."""
    return situation.draw.shuffled(sorted({each.sender for each in situation.played if each.facts}))


def _is_readable(situation: Situation, seat: str, answer: JsonValue) -> bool:
    return seat not in situation.mind.family.grade({seat: answer}, situation.task.key).unreadable
