"""Finds the causes of wrong parts of team tasks: where a fact was lost on its way, who misled, or who erred."""

import heapq
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from typing import Final

from pydantic import JsonValue

from concord.assessment.verdict import Cause, CauseKind, Evidence
from concord.suite import Answers, Fact, Family, Grade, Group, Part, SuiteTask, Value, distances
from concord.suite.value_reader import read
from concord_evaluator.information.falsehoods import Falsehood, Falsehoods
from concord_evaluator.information.flow import Conveyed, Flow
from concord_evaluator.information.recogniser import as_found
from concord_evaluator.information.turns import Answered, Turns
from concord_evaluator.messages import Sent

# Where a fact was lost on its way to a seat that needed it.


@dataclass(frozen=True)
class Losses:
    """Finds where facts were lost in one trial."""

    task: SuiteTask
    flow: Flow
    answered: Answered
    turns: Turns
    _told: dict[tuple[str, str], tuple[Sequence[Conveyed], Falsehood | None]] = field(default_factory=dict)

    def of(self, seat: str, missing: Iterable[str]) -> dict[str, Cause]:
        """Why facts that a seat needed did not arrive in time for its answer, by fact."""
        search = _Search(self, seat, distances(self.task.neighbours, seat))
        return {need: search.loss(need) for need in missing}

    @cached_property
    def facts(self) -> Mapping[str, Fact]:
        """The facts by id."""
        return {fact.id: fact for fact in self.task.facts}

    @cached_property
    def sent(self) -> Mapping[str, Sequence[Conveyed]]:
        """The messages of each seat, in their order."""
        found = defaultdict[str, list[Conveyed]](list)
        for each in self.flow.messages:
            found[each.message.sender].append(each)
        return found

    @cached_property
    def times(self) -> Mapping[str, Mapping[str, Sequence[int]]]:
        """When messages that state some fact, or that are cut off, were delivered to each seat, by sender."""
        found = defaultdict[str, defaultdict[str, list[int]]](lambda: defaultdict(list))
        for each in self.flow.messages:
            if each.message.delivered and (each.facts or each.message.is_cut):
                found[each.message.receiver][each.message.sender].append(each.message.time)
        return found

    @cached_property
    def answers(self) -> Mapping[str, Sequence[int]]:
        """By calls, when each seat answered a call."""
        found, asked = defaultdict[str, list[int]](list), set[str]()
        for each in self.flow.messages:
            if each.message.step_id in asked:
                found[each.message.sender].append(each.message.time)
            asked.add(each.message.step_id)
        return found

    @cached_property
    def undelivered(self) -> Sequence[Conveyed]:
        """The messages between neighbours that were not delivered."""
        neighbours, messages = self.task.neighbours, (each for each in self.flow.messages if not each.message.delivered)
        return [each for each in messages if each.message.receiver in neighbours.get(each.message.sender, ())]

    @cached_property
    def undelivered_by_fact(self) -> Mapping[str, Sequence[Conveyed]]:
        """The undelivered messages between neighbours before the last turn, by the facts that they tell."""
        found = defaultdict[str, list[Conveyed]](list)
        for each in self.undelivered:
            for fact in each.facts if each.message.time < self.answered.end else ():
                found[fact].append(each)
        return found

    @cached_property
    def addressed(self) -> frozenset[str]:
        """The seats that some message reached."""
        return frozenset(each.message.receiver for each in self.flow.messages if each.message.delivered)

    @cached_property
    def tellers(self) -> Mapping[str, Mapping[str, set[str]]]:
        """For each fact, the seats that received it, with the seats that sent it and did not have it from them."""
        found = defaultdict[str, defaultdict[str, set[str]]](lambda: defaultdict(set))
        for each in self.flow.messages:
            if each.message.delivered and each.message.receiver in self.flow.known:
                for fact in each.facts & self.flow.known[each.message.sender].keys():
                    if self._source(each.message.sender, fact) != each.message.receiver:
                        found[fact][each.message.receiver].add(each.message.sender)
        return found

    def _source(self, seat: str, fact: str) -> str | None:
        """The seat from which another first had a fact; None if it was its own."""
        step = self.flow.known[seat][fact].step_id
        return None if step is None else self.by_step[step, seat].message.sender

    @cached_property
    def falsehoods(self) -> Falsehoods:
        """The false values that seats told."""
        return Falsehoods(self.task, self.flow)

    def told(self, seat: str, need: str) -> tuple[Sequence[Conveyed], Falsehood | None]:
        """The messages in which a seat that knew a fact stated it, and the first other value that it gave for it.

        A value that may be one of other facts counts only where none is certain.
        """
        if (seat, need) not in self._told:
            since = self.flow.known[seat][need].time
            own = [each for each in self.sent.get(seat, ()) if each.message.time >= since]
            told = [each for each in own if need in each.facts]
            self._told[seat, need] = told, self._false(seat, need, (each for each in own if need not in each.facts))
        return self._told[seat, need]

    def _false(self, seat: str, need: str, messages: Iterable[Conveyed]) -> Falsehood | None:
        """The first value that messages of a seat certainly give for a fact; else the first of its own that may be one
        of it."""
        possible = None
        for falsehood in chain.from_iterable(map(self.falsehoods.told_in, messages)):
            if need in falsehood.about:
                if falsehood.is_certain:
                    return falsehood
                if possible is None and self.falsehoods.origin(falsehood).said.message.sender == seat:
                    possible = falsehood
        return possible

    @cached_property
    def by_step(self) -> Mapping[tuple[str, str], Conveyed]:
        """The messages by step and receiver: a call and its answer share a step."""
        return {(each.message.step_id, each.message.receiver): each for each in self.flow.messages}


@dataclass(frozen=True)
class _Search:
    """Looks for the facts that one seat lacked."""

    losses: Losses
    seat: str
    away: Mapping[str, int]
    """The distances of all seats to the seat."""
    _ways: dict[tuple[str, str], bool] = field(default_factory=dict)

    @property
    def _deadline(self) -> int:
        return self.losses.answered.times.get(self.seat, self.losses.answered.end)

    def _known(self, seat: str, need: str) -> int:
        """From which turn on a seat knew a fact that it was told or held."""
        return max(self.losses.flow.known[seat][need].time, 1)

    def loss(self, need: str) -> Cause:
        """Why a fact did not arrive in time."""
        answered = self.losses.answered
        nearest = min(self.away[holder] for holder in self.losses.facts[need].holders)
        if answered.in_rounds and answered.times.get(self.seat, nearest + 1) <= nearest:
            return _lost(CauseKind.ANSWERED_EARLY, (self.seat,))
        if need in self.losses.flow.known[self.seat]:
            return self._on_its_way(need, self.seat)
        if (undelivered := self._not_delivered(need)) is not None:
            return undelivered
        found = [self._at(knower, need) for knower in self._silent_suppliers(need) or self._ends(need)]
        first, *_ = found
        seats = dict.fromkeys(seat for each in found if each.kind is first.kind for seat in each.agents)
        return first if len(found) == 1 else first.model_copy(update={"agents": tuple(seats)})

    def _silent_suppliers(self, need: str) -> list[str]:
        """The seats that knew a fact, and did not state it in messages to the seat or to those that supplied it.

        If one of them is the only holder of the fact, the fault is its alone. One of several may leave it to another.
        """
        holders = self.losses.facts[need].holders
        found, seen = set[str](), {self.seat}
        queue = [(-self._deadline, self.seat)]
        while queue:
            before, receiver = heapq.heappop(queue)
            suppliers = self.losses.times.get(receiver, {})
            if len(holders) == 1 and suppliers.get(holders[0], (-before,))[0] < -before:
                return list(holders)
            for sender, times in suppliers.items():
                place = bisect_left(times, -before)
                if not place:
                    continue
                if self.losses.flow.knew(sender, need, times[place - 1]):
                    found.add(sender)
                elif sender not in seen:
                    seen.add(sender)
                    heapq.heappush(queue, (-times[place - 1], sender))
        return sorted(found.difference(holders) or found)

    def _ends(self, need: str) -> list[str]:
        """The seats where a fact came to an end: those that were told and told nobody, though they could have; else
        those that told only such as lead nowhere else; else all that held the fact and told nobody.

        Of several, those in time count before others, those whose turns failed before others, and the nearest. Where
        all of them were told too late, it came to an end where it could still have been told in time.
        """
        tellers = self.losses.tellers.get(need, {})
        told = set[str]().union(*tellers.values())
        silent = [seat for seat in tellers if seat not in told]
        able = [seat for seat in silent if any(self._leads_on(seat, teller) for teller in tellers[seat])]
        ends = able or sorted(set[str]().union(*(tellers[seat] for seat in silent)))
        if not ends:
            holders = self.losses.facts[need].holders
            return [seat for seat in holders if seat not in told] or list(holders)
        if self.losses.answered.in_rounds and all(self._is_too_late(each, self._known(each, need)) for each in ends):
            ends = self._able_in_time(need) or ends
        ranks = {seat: self._rank(seat, need) for seat in ends}
        best = min(ranks.values())
        return [seat for seat in ends if ranks[seat] == best]

    def _able_in_time(self, need: str) -> list[str]:
        """The seats that knew a fact early enough to bring it to the seat, and told none that still could."""
        knowing = [seat for seat, facts in self.losses.flow.known.items() if need in facts]
        able = [seat for seat in knowing if not self._is_too_late(seat, self._known(seat, need))]
        tellers = self.losses.tellers.get(need, {})
        relieved = set[str]().union(*(tellers.get(seat, ()) for seat in able))
        return [seat for seat in able if seat not in relieved] or able

    def _rank(self, seat: str, need: str) -> tuple[bool, bool, int]:
        since = self._known(seat, need)
        failed = self.losses.turns.fault(seat, range(since, self.losses.answered.end + 1)) is not None
        return self._is_too_late(seat, since), not failed, self.away[seat]

    def _leads_on(self, seat: str, without: str) -> bool:
        """Whether a way leads from one seat to the seat that is not through another."""
        if (seat, without) not in self._ways:
            rest = {
                each: tuple(other for other in others if other != without)
                for each, others in self.losses.task.neighbours.items()
            }
            self._ways[seat, without] = self.seat != without and self.seat in distances(rest, seat)
        return self._ways[seat, without]

    def _at(self, seat: str, need: str) -> Cause:
        """Why a seat that knew a fact did not bring it further."""
        arrival, answered = self.losses.flow.known[seat][need], self.losses.answered
        since = self._known(seat, need)
        told, false = self.losses.told(seat, need)
        in_time = [each for each in told if not self._is_too_late(seat, each.message.time)]
        reached = {each.message.receiver for each in in_time}
        cut = (each.message for each in self.losses.sent.get(seat, ()) if each.message.is_cut)
        beyond = next((each for each in cut if each.receiver not in reached), None)
        if told and not in_time:
            if beyond is not None and since <= beyond.time and not self._is_too_late(seat, beyond.time):
                return _lost(CauseKind.TRUNCATED, (seat,), beyond.step_id)
            return self._too_late(seat, told[0], since)
        if undelivered := [each for each in told if not each.message.delivered]:
            return _lost(CauseKind.MISDIRECTED, (seat,), undelivered[0].message.step_id)
        if false is not None:
            return self.losses.falsehoods.blame(false, need, is_lost=True)
        if beyond is not None:
            return _lost(CauseKind.TRUNCATED, (seat,), beyond.step_id)
        if told:
            return _lost(CauseKind.MISDIRECTED, (seat,), told[0].message.step_id)
        if (fault := self.losses.turns.fault(seat, range(since, answered.end + 1))) is not None:
            return _lost(fault, (seat,))
        if arrival.step_id is None:
            unasked = not answered.in_rounds and seat != self.seat and seat not in self.losses.addressed
            if unasked and (lost := self._lost_on_the_way_to(seat)) is not None:
                return _lost(CauseKind.UNDELIVERED, (lost.sender, lost.receiver), lost.step_id)
            return _lost(CauseKind.NOT_SENT, (seat, self.seat) if unasked else (seat,))
        if arrival.time >= answered.end or self._is_too_late(seat, arrival.time):
            return self._on_its_way(need, seat)
        return _lost(CauseKind.NOT_PASSED_ON, (seat,), arrival.step_id)

    def _lost_on_the_way_to(self, seat: str) -> Sent | None:
        """The first call between neighbours towards a seat, if it was not carried and nobody else called its callee."""
        away = distances(self.losses.task.neighbours, seat)
        calls = (each.message for each in self.losses.undelivered)
        lost = (
            each
            for each in calls
            if each.receiver not in self.losses.addressed and away[each.receiver] < away[each.sender]
        )
        return next(lost, None)

    def _not_delivered(self, need: str) -> Cause | None:
        """The first connection between neighbours that did not deliver a fact, in rounds, in time; None without one."""
        for each in self.losses.undelivered_by_fact.get(need, ()) if self.losses.answered.in_rounds else ():
            sent = each.message
            is_known = need in self.losses.flow.known[sent.receiver]
            if not is_known and not self._is_too_late(sent.sender, sent.time):
                return _lost(CauseKind.UNDELIVERED, (sent.sender, sent.receiver), sent.step_id)
        return None

    def _is_too_late(self, sender: str, time: int) -> bool:
        """Whether no message that a seat sends at that time can lead to the seat in time."""
        return time + (self.away[sender] if self.losses.answered.in_rounds else 1) > self._deadline

    def _too_late(self, sender: str, each: Conveyed, since: int) -> Cause:
        """Who was late with a message. By calls, its sender is, if it was asked before and did not tell then."""
        if self.losses.answered.in_rounds or self._kept_back(sender, since):
            return _lost(CauseKind.TOO_LATE, (sender,), each.message.step_id)
        return _lost(CauseKind.ANSWERED_EARLY, (self.seat,), each.message.step_id)

    def _kept_back(self, seat: str, since: int) -> bool:
        """Whether a seat answered a call in time, after it had learned the fact, which it told only later."""
        return any(since <= time < self._deadline for time in self.losses.answers.get(seat, ()))

    def _on_its_way(self, need: str, seat: str) -> Cause:
        """Who was late with a fact that came to a seat after it could be used: the first that waited, or the seat that
        answered. By calls, a seat may have waited to be asked."""
        path = self._path(need, seat)
        for each in path:
            sender, time = each.message.sender, each.message.time
            if need not in self.losses.flow.known[sender]:
                continue  # it stated what nothing had told it
            since = self._known(sender, need)
            if not self.losses.answered.in_rounds:
                if time >= self._deadline and self._kept_back(sender, since):
                    return _lost(CauseKind.TOO_LATE, (sender,), each.message.step_id)
            elif time > since and not self._is_prompt(each, need):
                fault = self.losses.turns.fault(sender, range(since, time))
                return _lost(fault or CauseKind.TOO_LATE, (sender,), each.message.step_id)
        last = path[-1].message
        if self.seat not in self.losses.answered.times:
            return _lost(CauseKind.TOO_LATE, (last.sender,), last.step_id)
        return _lost(CauseKind.ANSWERED_EARLY, (self.seat,), last.step_id)

    def _is_prompt(self, each: Conveyed, need: str) -> bool:
        """Whether a message states something that its sender had only just learned: it waited for that."""
        known = self.losses.flow.known[each.message.sender]
        facts = each.stated.facts if need in each.stated.facts else each.facts
        return any(known[fact].time == each.message.time for fact in facts if fact in known)

    def _path(self, need: str, seat: str) -> list[Conveyed]:
        """The messages by which a fact first came to a seat, from its holder on."""
        path: list[Conveyed] = []
        arrival = self.losses.flow.known[seat].get(need)
        while arrival is not None and arrival.step_id is not None and len(path) < len(self.losses.task.seats):
            each = self.losses.by_step[arrival.step_id, seat]
            path.append(each)
            seat = each.message.sender
            arrival = self.losses.flow.known[seat].get(need)
        return path[::-1]


@lru_cache(maxsize=256)
def _lost(kind: CauseKind, seats: tuple[str, ...], step_id: str | None = None) -> Cause:
    """Why a fact did not arrive, at which seat (any of them, if several), and the message that shows it."""
    return Cause(kind=kind, agents=seats, certainty="proven", steps=() if step_id is None else (step_id,))


# Who misled a seat that was told all facts that it needed, and beside them a false value of one.

MAX_STANDING: Final = 200
"""False values that stand at one time before a seat, the first ones."""


def misleading(losses: Losses, seat: str, needs: Sequence[str], time: int) -> list[Cause]:
    """Who first stated the false values that stood when a seat answered at `time`, of needed facts of other seats.

    A false value no longer stands when its author has told the seat the right one since. What stands in a brief, or
    follows from what its sender knew, is not false.
    """
    heard = [each for each in losses.flow.messages if _reached(each, seat, time)]
    standing = _standing(losses.falsehoods, heard)
    found = {
        losses.falsehoods.blame(falsehood, need, is_lost=False): None
        for need in needs
        if seat not in losses.facts[need].holders
        for falsehood in standing
        if need in falsehood.about
    }
    return list(found)


def _reached(each: Conveyed, seat: str, time: int) -> bool:
    """Whether a message came to a seat before its turn at a time."""
    return each.message.delivered and each.message.receiver == seat and each.message.time < time


def _standing(falsehoods: Falsehoods, heard: Sequence[Conveyed]) -> Sequence[Falsehood]:
    """The false values that were told and not taken back."""
    standing = dict[tuple[str, Value], Falsehood]()
    for each in heard:
        if standing and each.facts:
            standing = {key: one for key, one in standing.items() if not falsehoods.is_taken_back(one, each)}
        for one in falsehoods.told_in(each):
            if len(standing) < MAX_STANDING and not (one.is_corrected and falsehoods.origin(one) == one):
                standing[each.message.sender, one.value] = one
    return list(standing.values())


# Why a part is wrong or missing.

MAX_TRIED: Final = 300
"""Other answers of a seat that are tried."""

MAX_SUSPECTS: Final = 10
"""Seats whose other answers are tried."""

_FALSE: Final = (CauseKind.CHANGED, CauseKind.CONTRADICTED, CauseKind.INVENTED)
"""What a false value may be, in the order in which one goes before another."""


def failures_of(
    task: SuiteTask, family: Family, answers: Answers, flow: Flow, answered: Answered, turns: Turns
) -> list[Cause]:
    """The causes of every part that is not right. Facts of a part that were lost alike are evidence of one cause."""
    grade = family.grade(answers, task.key)
    losses = Losses(task, flow, answered, turns)
    causes = {part.id: list(_causes(part, grade, losses, answers)) for part in task.parts}
    found = [each for part in task.parts if grade.parts.get(part.id, 0) < 1 for each in causes[part.id]]
    if family.group is Group.AGREE:
        return list(_one_by_message([*_in_a_common_answer(found, causes, task, family, answers)]))
    return list(_one_by_message([*_in_their_answers(found, task, grade)]))


def _causes(part: Part, grade: Grade, losses: Losses, answers: Answers) -> Iterator[Cause]:
    seat, answered = part.seat, losses.answered
    time = answered.times.get(seat)
    missing = [need for need in part.needs if not losses.flow.knew(seat, need, time or answered.end)]
    if not missing:
        end = answered.end if time is None else time
        if grade.parts.get(part.id, 0) < 1 and (misled := misleading(losses, seat, part.needs, end)):
            yield from (_of_part(each, part.id) for each in misled)
            return
        yield _of_part(_lost(_without_loss(part, time if seat in answers else None, grade, losses), (seat,)), part.id)
        return
    found: dict[Cause, list[str]] = {}
    for need, loss in losses.of(seat, missing).items():
        found.setdefault(loss, []).append(need)
    for loss, needs in found.items():
        yield _of_part(loss, part.id, needs)


def _of_part(cause: Cause, part: str | None, facts: Iterable[str] = ()) -> Cause:
    """The cause as that of a part, for which these facts were lost."""
    return cause.model_copy(update={"part": part, "evidence": tuple(Evidence(text=fact) for fact in facts)})


def _without_loss(part: Part, time: int | None, grade: Grade, losses: Losses) -> CauseKind:
    """Why an answer is wrong or missing where everything needed arrived. `time`: that of the answer."""
    seat = part.seat
    if time is None:
        return losses.turns.fault(seat, range(1, losses.answered.end + 1)) or CauseKind.NO_ANSWER
    if not {seat, part.id}.isdisjoint(grade.unreadable) or losses.turns.fault(seat, [time]) is CauseKind.UNREADABLE:
        return CauseKind.UNREADABLE
    return CauseKind.NOT_USED


def _one_by_message(found: Sequence[Cause]) -> Iterator[Cause]:
    """The failures; a false value has one cause, even if it is lost to one seat and misleads another."""
    first = dict[tuple[tuple[str, ...], tuple[str, ...]], CauseKind]()
    for failure in sorted(found, key=lambda each: _FALSE.index(each.kind) if each.kind in _FALSE else len(_FALSE)):
        first.setdefault((failure.agents, failure.steps), failure.kind)
    for failure in found:
        kind = first[failure.agents, failure.steps]
        yield failure.model_copy(update={"kind": kind}) if failure.kind in _FALSE else failure


def _in_their_answers(found: Sequence[Cause], task: SuiteTask, grade: Grade) -> Iterator[Cause]:
    """The failures; where a part is worth less only because of other parts of its answer, the causes of these."""
    seats: dict[str | None, str] = {part.id: part.seat for part in task.parts}
    others = defaultdict[str, list[Cause]](list)
    for failure in found:
        if failure.kind is not CauseKind.NOT_USED:
            others[seats[failure.part]].append(failure)
    for failure in found:
        of_the_answer = others[seats[failure.part]]
        if failure.kind is CauseKind.NOT_USED and of_the_answer and grade.parts[failure.part or ""]:
            yield from _alike(of_the_answer, failure.part)
        else:
            yield failure


def _alike(found: Sequence[Cause], part: str | None) -> Iterator[Cause]:
    """A failure of the part for each different cause."""
    causes = {(each.kind, each.agents, each.steps): each for each in found}
    return (_of_part(each, part) for each in causes.values())


def _in_a_common_answer(
    found: Sequence[Cause], causes: Mapping[str, Sequence[Cause]], task: SuiteTask, family: Family, answers: Answers
) -> Iterator[Cause]:
    """The failures where an answer is only right together with the other seats' answers.

    A seat that knew everything is then wrong because of another seat, if any has a fault. Or a seat that it relied on
    lacked a fact, and answered otherwise. Without either, the fault is of the seats that could set it right alone; if
    there are none, of any of those whose answers would still be wrong if all seats gave the same.
    """
    unused = [failure for failure in found if failure.kind is CauseKind.NOT_USED]
    suspects = [
        seat for each in unused for seat in each.agents if not _is_right(each.part, seat, task, family, answers)
    ]
    others = [failure for failure in found if failure.kind is not CauseKind.NOT_USED]
    if not others:
        lacking = [each for failures in causes.values() for each in failures if each.kind is not CauseKind.NOT_USED]
        named = {holder for seat in suspects for holder in _named(answers[seat], task)}
        seats: dict[str | None, str] = {part.id: part.seat for part in task.parts}
        others = [each for each in lacking if not suspects or seats[each.part] in named]
    if not others and len(suspects) != 1:
        suspects = _able_to_repair(unused, task, family, answers) or suspects
    for failure in found:
        if failure.kind is not CauseKind.NOT_USED:
            yield failure
        elif others:
            yield from _alike(others, failure.part)
        else:
            yield failure.model_copy(update={"agents": tuple(suspects or (s for each in unused for s in each.agents))})


def _able_to_repair(unused: Sequence[Cause], task: SuiteTask, family: Family, answers: Answers) -> list[str]:
    """The seats of failures each of which would have made all answers right by another answer of its own: by what
    another seat answered, or by a value of the task."""
    values = [value.text for fact in task.facts for value in (fact.value, fact.anchor) if value is not None]
    candidates = list(dict.fromkeys([*map(str, answers.values()), *values]))[:MAX_TRIED]
    seats = list(dict.fromkeys(seat for each in unused for seat in each.agents))[:MAX_SUSPECTS]
    return [
        seat
        for seat in seats
        if any(family.grade({**answers, seat: other}, task.key).outcome == 1 for other in candidates)
    ]


def _named(answer: JsonValue, task: SuiteTask) -> Iterator[str]:
    """The seats that hold the values which an answer states."""
    stated = {each.value for each in read(str(answer))[1]}
    return (holder for fact in task.facts if as_found(fact.value) in stated for holder in fact.holders)


def _is_right(part: str | None, seat: str, task: SuiteTask, family: Family, answers: Answers) -> bool:
    """Whether a seat's answer would be right if all seats gave the same."""
    return family.grade(dict.fromkeys(task.answerers, answers[seat]), task.key).parts[part or ""] == 1
