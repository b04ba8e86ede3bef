"""Single known faults of a team that otherwise plays well, each with the cause and the seat that should be found."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from pydantic import JsonValue

from concord.assessment.verdict import CauseKind
from concord.suite import Draw, Fact, Kind, SuiteTask, Value
from concord.suite.value_reader import normalised, values_in
from tests.kit.players.deeds import (
    Aggregated,
    Answering,
    Beside,
    Changed,
    CutOff,
    Late,
    ToAnother,
    Turns,
    Twice,
    Withheld,
)
from tests.kit.players.minds import Mind
from tests.kit.players.plans import Plan, needs_by_seat, plan_of
from tests.kit.players.play import Played, play
from tests.kit.players.silent import guesses
from tests.kit.players.teams import Habits, ScriptedTeam, Telling, distorted

MOST_TRIES: Final = 12
"""Seats and facts that are tried for a fault, until one changes the outcome."""

TeamFor = Callable[[Mind, Plan, Draw, Habits], ScriptedTeam]
"""A team with habits."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A task, and how a good team plays it."""

    mind: Mind
    plan: Plan
    played: Sequence[Telling]
    """What is told where nothing goes wrong."""
    max_rounds: int
    draw: Draw
    label: Callable[[Fact], str] | None = None
    """What messages call a fact; None if they may call it nothing."""

    def is_named(self, fact: Fact) -> bool:
        """Whether messages say of which fact a value is."""
        if self.label is None:
            return False
        return fact.anchor is not None or [self.label(each) for each in self.task.facts].count(self.label(fact)) == 1

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
    cause: CauseKind
    seat: str


def _withheld(situation: Situation) -> Iterator[Fault]:
    for seat, fact in situation.own():
        yield Fault(Withheld(seat, fact), CauseKind.NOT_SENT, seat)


def _wrong_name(situation: Situation) -> Iterator[Fault]:
    for seat, fact in situation.own():
        strangers = [each for each in situation.task.seats if each not in (seat, *situation.task.neighbours[seat])]
        name = situation.draw.choice([*strangers, f"{seat}0", seat.upper(), "the team"])
        yield Fault(ToAnother(seat, fact, name), CauseKind.MISDIRECTED, seat)


def _to_a_dead_end(situation: Situation) -> Iterator[Fault]:
    neighbours = situation.task.neighbours
    for seat, fact in situation.own():
        for other in neighbours[seat]:
            if neighbours[other] == (seat,) and needs_by_seat(situation.task).keys() != {other}:
                yield Fault(ToAnother(seat, fact, other), CauseKind.MISDIRECTED, seat)


def _not_passed_on(situation: Situation) -> Iterator[Fault]:
    for seat, fact in situation.relayed():
        yield Fault(Withheld(seat, fact), CauseKind.NOT_PASSED_ON, seat)


def _own_changed(situation: Situation) -> Iterator[Fault]:
    yield from _changed(situation, situation.own())


def _relayed_changed(situation: Situation) -> Iterator[Fault]:
    yield from _changed(situation, situation.relayed())


def _changed(situation: Situation, facts: Iterable[tuple[str, Fact]]) -> Iterator[Fault]:
    for seat, fact in facts:
        for wrong in _wrong(situation, fact):
            yield Fault(Changed(seat, fact, wrong), CauseKind.CHANGED, seat)


def _wrong(situation: Situation, fact: Fact) -> Iterator[Fact]:
    """The fact with a wrong value, none where the task leaves none: a slip, or a value far from it.

    Where neither the text nor the value says of which fact a second value is, it is one kind with an invented one. So
    far values are told of facts that the text names.
    """
    may_be_far = situation.is_named(fact) and situation.draw.chance(0.5)
    wrong = far_from(situation.draw, situation.task, fact) if may_be_far else fact
    wrong = distorted(situation.draw, situation.task, fact) if wrong == fact else wrong
    if wrong != fact:
        yield wrong


def far_from(draw: Draw, task: SuiteTask, fact: Fact) -> Fact:
    """A number or a code with another value that nothing in the task states; any other fact itself."""
    texts = [*task.briefs.values(), task.question]
    known = {found.value for text in texts for found in values_in(normalised(text))} | {
        each.value for each in task.facts
    }
    for _ in range(MOST_TRIES if not fact.domain else 0):
        digits = len(fact.value.text)
        number, letters = str(draw.between(10 ** (digits - 1), 10**digits - 1)), draw.choice(("KX", "QV", "ZW"))
        code = Value(Kind.CODE, f"{letters}-{draw.between(10_000, 99_999)}")
        value = {Kind.NUMBER: Value(Kind.NUMBER, number), Kind.CODE: code}.get(fact.value.kind, fact.value)
        if value not in known:
            return replace(fact, value=value)
    return fact


def _contradicted(situation: Situation) -> Iterator[Fault]:
    """A truth that its author corrects to a falsehood, which is passed on to those who answer."""
    yield from _taken_back(situation, situation.own())


def _contradicted_by_a_relay(situation: Situation) -> Iterator[Fault]:
    """A truth of another that a seat passed on, and corrects to a falsehood."""
    yield from _taken_back(situation, situation.relayed())


def _taken_back(situation: Situation, facts: Iterable[tuple[str, Fact]]) -> Iterator[Fault]:
    begin = max(situation.plan.answers.values())
    for seat, fact in facts:
        for wrong in _wrong(situation, fact):
            route = _route(situation, seat, fact)
            if route and set(route[1:]).isdisjoint(fact.holders):
                extra = _along(route, wrong, begin)
                yield Fault(Beside(extra, begin + len(route)), _second(situation, fact), seat)


def _invented(situation: Situation) -> Iterator[Fault]:
    """A value of a fact from a seat that was told none, before the truth or after it."""
    end = max(situation.plan.answers.values())
    for _, fact in situation.own():
        told = {each.receiver for each in situation.played if any(other.id == fact.id for other in each.facts)}
        for seat in situation.draw.shuffled(situation.task.seats):
            route = [] if seat in told or seat in fact.holders else _route(situation, seat, fact)
            if not route or not set(route).isdisjoint(fact.holders):
                continue
            begin = situation.draw.choice((1, end))
            answered = end + len(route) if begin == end else None
            for wrong in _wrong(situation, fact):
                habits = Beside(_along(route, wrong, begin), answered, believes_the_last=begin == end)
                yield Fault(habits, CauseKind.INVENTED, seat)


def _route(situation: Situation, seat: str, fact: Fact) -> list[str]:
    """The seats from one to the nearest that needs the fact, on the way of the plan to its root; none if none does."""
    needing = {answerer for answerer, needs in needs_by_seat(situation.task).items() if fact.id in needs}
    route = situation.plan.route(seat)
    ends = [place for place, each in enumerate(route) if place and each in needing]
    return route[: ends[0] + 1] if ends else []


def _along(route: Sequence[str], wrong: Fact, begin: int) -> list[Telling]:
    """A wrong fact that goes from seat to seat."""
    return [
        Telling(begin + place, sender, receiver, (wrong,)) for place, (sender, receiver) in enumerate(pairwise(route))
    ]


def _twice(situation: Situation) -> Iterator[Fault]:
    """Two values of one fact in one message, or in two of one round where facts have no order within a message."""
    in_one = situation.label is not None and situation.draw.chance(0.5)
    for seat, fact in situation.own():
        for wrong in _wrong(situation, fact):
            yield Fault(Twice(seat, fact, wrong, in_one), _second(situation, fact), seat)


def _second(situation: Situation, fact: Fact) -> CauseKind:
    """What a second value of a fact is. A day that is said of no fact by name is one more, and not another."""
    is_day = fact.value.kind is Kind.DATE and not situation.is_named(fact)
    return CauseKind.INVENTED if is_day else CauseKind.CONTRADICTED


def _truncated(situation: Situation) -> Iterator[Fault]:
    """A fact at the end of a message that is too long."""
    limit = situation.task.message_limit
    for seat, fact in situation.own():
        yield Fault(CutOff(seat, fact, limit, situation.draw.chance(0.5)), CauseKind.TRUNCATED, seat)


def _stale(situation: Situation) -> Iterator[Fault]:
    """Another value of the brief, such as an old version, instead of the fact.

    Only the family knows of which fact it is a version: the record is that of a seat which withholds its fact and
    mentions something else. So the two are one kind.
    """
    task = situation.task
    taken = {each for fact in task.facts for each in (fact.value, fact.anchor, *fact.domain)}
    for seat, fact in situation.own():
        brief = values_in(normalised(task.briefs[seat]))
        others = sorted({each.value for each in brief if each.value.kind is fact.value.kind} - taken)
        if others and fact.value.kind in {Kind.NUMBER, Kind.CODE, Kind.DATE}:
            wrong = replace(fact, value=situation.draw.choice(others))
            yield Fault(Changed(seat, fact, wrong), CauseKind.NOT_SENT, seat)


def _wrong_result(situation: Situation) -> Iterator[Fault]:
    """A wrong partial result instead of the facts for which it would stand."""
    task, family = situation.task, situation.mind.family
    for telling in situation.draw.shuffled(situation.played):
        known = {fact.id for fact in task.facts if telling.sender in fact.holders}
        heard = [each for each in situation.played if each.receiver == telling.sender and each.round < telling.round]
        known |= {fact.id for each in heard for fact in each.facts}
        told = {fact.id: fact for fact in telling.facts}
        results = family.partial_results(task, [fact for fact in task.facts if fact.id in known])
        for value, covered in sorted(results.items()):
            if value.kind is Kind.NUMBER and covered <= told.keys():
                about = told[min(covered)]
                for wrong in _wrong(situation, replace(about, value=value, anchor=None, domain=())):
                    yield Fault(Aggregated(telling.sender, covered, wrong), CauseKind.CHANGED, telling.sender)


def _in_the_last_round(situation: Situation) -> Iterator[Fault]:
    last = situation.max_rounds
    for seat, fact in situation.own():
        yield Fault(Late(seat, fact, last, last), CauseKind.TOO_LATE, seat)


def _after_the_answer(situation: Situation) -> Iterator[Fault]:
    for seat, fact in situation.own():
        yield Fault(Late(seat, fact, max(situation.plan.answers.values())), CauseKind.TOO_LATE, seat)


def _answered_early(situation: Situation) -> Iterator[Fault]:
    for seat in situation.answering():
        yield Fault(Answering(seat, planned=1), CauseKind.ANSWERED_EARLY, seat)


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
                yield Fault(Answering(seat, instead=answer), CauseKind.NOT_USED, seat)


def _unreadable_replies(situation: Situation) -> Iterator[Fault]:
    for seat in _senders(situation):
        yield Fault(Turns(seat, "unreadable"), CauseKind.UNREADABLE, seat)


def _unreadable_answer(situation: Situation) -> Iterator[Fault]:
    candidates: tuple[JsonValue, ...] = ("I could not decide.", "I cannot tell whether it is 48213 or 51872.", {}, True)
    for seat in situation.answering():
        for answer in candidates:
            if not _is_readable(situation, seat, answer):
                yield Fault(Answering(seat, instead=answer), CauseKind.UNREADABLE, seat)


def _no_answer(situation: Situation) -> Iterator[Fault]:
    for seat in situation.answering():
        yield Fault(Answering(seat, never=True), CauseKind.NO_ANSWER, seat)


def _failed(situation: Situation) -> Iterator[Fault]:
    for seat in _senders(situation):
        yield Fault(Turns(seat, "failed"), CauseKind.AGENT_FAILED, seat)


FAULTS: Final[dict[str, Callable[[Situation], Iterator[Fault]]]] = {
    "withheld": _withheld,
    "told to a wrong name": _wrong_name,
    "told only to a dead end": _to_a_dead_end,
    "not passed on": _not_passed_on,
    "own fact changed": _own_changed,
    "relayed fact changed": _relayed_changed,
    "contradicted": _contradicted,
    "contradicted by a relay": _contradicted_by_a_relay,
    "invented": _invented,
    "told twice, in conflict": _twice,
    "truncated": _truncated,
    "sent in the last round": _in_the_last_round,
    "sent after the answer": _after_the_answer,
    "answered early": _answered_early,
    "stale": _stale,
    "wrong result": _wrong_result,
    "not used": _not_used,
    "replies unreadable": _unreadable_replies,
    "answer unreadable": _unreadable_answer,
    "no answer": _no_answer,
    "agent failed": _failed,
}
"""The known faults by name. Each gives the ways in which it can be made, none if it does not apply to an instance."""


NEED_RELAYS: Final = frozenset(
    {"told only to a dead end", "not passed on", "relayed fact changed", "contradicted by a relay"}
)
"""The faults that are made where facts pass through a seat that does not hold them."""


def situation_of(mind: Mind, draw: Draw, label: Callable[[Fact], str] | None = None) -> Situation:
    """How a good team plays a task, without partial results."""
    recorded = _Recorded()
    plan = plan_of(mind.task)
    max_rounds = max([*plan.answers.values(), *(each.round for each in plan.sends)]) + len(mind.task.seats)
    play(mind.family, mind.task, ScriptedTeam(mind, plan, draw, recorded, partial_results=0), max_rounds)
    return Situation(mind, plan, recorded.tellings, max_rounds, draw, label)


def played_with(situation: Situation, name: str, team: TeamFor = ScriptedTeam) -> tuple[Fault, Played] | None:
    """A trial with that fault; None if the fault cannot be made, or does not change the outcome."""
    for at, fault in enumerate(FAULTS[name](situation)):
        if at == MOST_TRIES:
            break
        replying = team(situation.mind, situation.plan, situation.draw, fault.habits)
        played = play(situation.mind.family, situation.task, replying, situation.max_rounds)
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
