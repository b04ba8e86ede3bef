"""Why a part of an answer is wrong or missing: where the facts that it follows from were lost."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import JsonValue

from concord.suite import Answers, Family, Grade, Group, Part, SuiteTask, Value
from concord_evaluator.information.causes import Answered, Cause, Loss, Turns
from concord_evaluator.information.falsehoods import Falsehood, Falsehoods
from concord_evaluator.information.flow import Conveyed, Flow
from concord_evaluator.information.losses import Losses
from concord_evaluator.information.recogniser import as_found
from concord_evaluator.information.values import read

# Who misled a seat that was told all facts that it needed, and beside them a false value of one.

MAX_STANDING: Final = 200
"""False values that stand at one time before a seat, the first ones."""


def misleading(losses: Losses, seat: str, needs: Sequence[str], time: int) -> list[Loss]:
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


MAX_TRIED: Final = 300
"""Other answers of a seat that are tried."""

MAX_SUSPECTS: Final = 10
"""Seats whose other answers are tried."""

_FALSE: Final = (Cause.CHANGED, Cause.CONTRADICTED, Cause.INVENTED)
"""What a false value may be, in the order in which one goes before another."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A cause of a wrong or missing part."""

    part: str
    cause: Cause
    seats: tuple[str, ...]
    """The seat where it lies; several where messages and answers do not tell which of them."""
    step_id: str | None
    """The message that shows it."""
    facts: tuple[str, ...]
    """The facts that were lost."""


def failures_of(
    task: SuiteTask, family: Family, answers: Answers, flow: Flow, answered: Answered, turns: Turns
) -> list[Failure]:
    """The causes of every part that is not right. Facts of a part that were lost alike are in one failure."""
    grade = family.grade(answers, task.key)
    losses = Losses(task, flow, answered, turns)
    causes = {part.id: list(_causes(part, grade, losses, answers)) for part in task.parts}
    found = [each for part in task.parts if grade.parts.get(part.id, 0) < 1 for each in causes[part.id]]
    if family.group is Group.AGREE:
        return list(_one_by_message([*_in_a_common_answer(found, causes, task, family, answers)]))
    return list(_one_by_message([*_in_their_answers(found, task, grade)]))


def _causes(part: Part, grade: Grade, losses: Losses, answers: Answers) -> Iterator[Failure]:
    seat, answered = part.seat, losses.answered
    time = answered.times.get(seat)
    missing = [need for need in part.needs if not losses.flow.knew(seat, need, time or answered.end)]
    if not missing:
        end = answered.end if time is None else time
        if grade.parts.get(part.id, 0) < 1 and (misled := misleading(losses, seat, part.needs, end)):
            yield from (Failure(part.id, each.cause, each.seats, each.step_id, ()) for each in misled)
            return
        yield Failure(part.id, _without_loss(seat, time if seat in answers else None, grade, losses), (seat,), None, ())
        return
    found: dict[Loss, list[str]] = {}
    for need, loss in losses.of(seat, missing).items():
        found.setdefault(loss, []).append(need)
    for loss, needs in found.items():
        yield Failure(part.id, loss.cause, loss.seats, loss.step_id, tuple(needs))


def _without_loss(seat: str, time: int | None, grade: Grade, losses: Losses) -> Cause:
    """Why an answer is wrong or missing where everything needed arrived. `time`: that of the answer."""
    if time is None:
        return losses.turns.fault(seat, range(1, losses.answered.end + 1)) or Cause.NO_ANSWER
    if seat in grade.unreadable or losses.turns.fault(seat, [time]) is Cause.UNREADABLE:
        return Cause.UNREADABLE
    return Cause.NOT_USED


def _one_by_message(found: Sequence[Failure]) -> Iterator[Failure]:
    """The failures; a false value has one cause, even if it is lost to one seat and misleads another."""
    first = dict[tuple[tuple[str, ...], str | None], Cause]()
    for failure in sorted(found, key=lambda each: _FALSE.index(each.cause) if each.cause in _FALSE else len(_FALSE)):
        first.setdefault((failure.seats, failure.step_id), failure.cause)
    for failure in found:
        cause = first[failure.seats, failure.step_id] if failure.cause in _FALSE else failure.cause
        yield replace(failure, cause=cause)


def _in_their_answers(found: Sequence[Failure], task: SuiteTask, grade: Grade) -> Iterator[Failure]:
    """The failures; where a part is worth less only because of other parts of its answer, the causes of these."""
    seats = {part.id: part.seat for part in task.parts}
    others = defaultdict[str, list[Failure]](list)
    for failure in found:
        if failure.cause is not Cause.NOT_USED:
            others[seats[failure.part]].append(failure)
    for failure in found:
        of_the_answer = others[seats[failure.part]]
        if failure.cause is Cause.NOT_USED and of_the_answer and grade.parts[failure.part]:
            yield from _alike(of_the_answer, failure.part)
        else:
            yield failure


def _alike(found: Sequence[Failure], part: str) -> Iterator[Failure]:
    """A failure of the part for each different cause."""
    causes = {(each.cause, each.seats, each.step_id): each for each in found}
    return (replace(each, part=part, facts=()) for each in causes.values())


def _in_a_common_answer(
    found: Sequence[Failure], causes: Mapping[str, Sequence[Failure]], task: SuiteTask, family: Family, answers: Answers
) -> Iterator[Failure]:
    """The failures where an answer is only right together with the other seats' answers.

    A seat that knew everything is then wrong because of another seat, if any has a fault. Or a seat that it relied on
    lacked a fact, and answered otherwise. Without either, the fault is of the seats that could set it right alone; if
    there are none, of any of those whose answers would still be wrong if all seats gave the same.
    """
    unused = [failure for failure in found if failure.cause is Cause.NOT_USED]
    suspects = [seat for each in unused for seat in each.seats if not _is_right(each.part, seat, task, family, answers)]
    others = [failure for failure in found if failure.cause is not Cause.NOT_USED]
    if not others:
        lacking = [each for failures in causes.values() for each in failures if each.cause is not Cause.NOT_USED]
        named = {holder for seat in suspects for holder in _named(answers[seat], task)}
        seats = {part.id: part.seat for part in task.parts}
        others = [each for each in lacking if not suspects or seats[each.part] in named]
    if not others and len(suspects) != 1:
        suspects = _able_to_repair(unused, task, family, answers) or suspects
    for failure in found:
        if failure.cause is not Cause.NOT_USED:
            yield failure
        elif others:
            yield from _alike(others, failure.part)
        else:
            yield replace(failure, seats=tuple(suspects) or tuple(seat for each in unused for seat in each.seats))


def _able_to_repair(unused: Sequence[Failure], task: SuiteTask, family: Family, answers: Answers) -> list[str]:
    """The seats of failures each of which would have made all answers right by another answer of its own: by what
    another seat answered, or by a value of the task."""
    values = [value.text for fact in task.facts for value in (fact.value, fact.anchor) if value is not None]
    candidates = list(dict.fromkeys([*map(str, answers.values()), *values]))[:MAX_TRIED]
    seats = list(dict.fromkeys(seat for each in unused for seat in each.seats))[:MAX_SUSPECTS]
    return [
        seat
        for seat in seats
        if any(family.grade({**answers, seat: other}, task.key).outcome == 1 for other in candidates)
    ]


def _named(answer: JsonValue, task: SuiteTask) -> Iterator[str]:
    """The seats that hold the values which an answer states."""
    stated = {each.value for each in read(str(answer))[1]}
    return (holder for fact in task.facts if as_found(fact.value) in stated for holder in fact.holders)


def _is_right(part: str, seat: str, task: SuiteTask, family: Family, answers: Answers) -> bool:
    """Whether a seat's answer would be right if all seats gave the same."""
    return family.grade(dict.fromkeys(task.answerers, answers[seat]), task.key).parts[part] == 1
