"""What a trial's record lists of its failures and of its flow of facts, within limits and with counts of the rest."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from concord.assessment.team_results import (
    MAX_FACTS,
    MAX_FAILURES,
    MAX_MESSAGES,
    MAX_NAMED_FACTS,
    FactMessage,
    FlowRecord,
    PartFailure,
    UnexplainedKnowledge,
    UnprovenPart,
)
from concord.suite import SuiteTask
from concord_evaluator.information.causes import Answered, Cause
from concord_evaluator.information.failures import Failure
from concord_evaluator.information.flow import Conveyed, Flow
from concord_evaluator.information.receipts import Unproven
from concord_evaluator.information.unexplained import Unexplained


def listed_failures(failures: Sequence[Failure], lost: Mapping[str, float]) -> list[PartFailure]:
    """At most `MAX_FAILURES` failures in their order, among them one of each cause and seat.

    `lost`: by part, the share of the outcome that it is short of. Causes of one part share it equally.
    """
    causes = Counter(each.part for each in failures)
    return [
        PartFailure(
            part=each.part,
            cause=each.cause.value,
            seats=list(each.seats),
            step_id=each.step_id,
            facts=list(each.facts[:MAX_NAMED_FACTS]),
            facts_omitted=max(0, len(each.facts) - MAX_NAMED_FACTS),
            lost=lost.get(each.part, 0.0) / causes[each.part],
        )
        for each in _some_of_each_kind(failures)
    ]


def listed_unproven(found: Sequence[Unproven], lost: Mapping[str, float]) -> list[UnprovenPart]:
    """At most `MAX_FAILURES` unproven parts, each with at most `MAX_NAMED_FACTS` of its facts.

    `lost`: by part, the share of the outcome that is not credited.
    """
    return [
        UnprovenPart(
            part=each.part,
            seat=each.seat,
            facts=list(each.facts[:MAX_NAMED_FACTS]),
            facts_omitted=max(0, len(each.facts) - MAX_NAMED_FACTS),
            lost=lost.get(each.part, 0.0),
        )
        for each in found[:MAX_FAILURES]
    ]


def listed_unexplained(found: Iterable[Unexplained]) -> list[UnexplainedKnowledge]:
    """The knowledge without a source, with at most `MAX_NAMED_FACTS` facts of each seat."""
    return [
        UnexplainedKnowledge(
            seat=each.seat,
            facts=list(each.facts[:MAX_NAMED_FACTS]),
            facts_omitted=max(0, len(each.facts) - MAX_NAMED_FACTS),
        )
        for each in found
    ]


def flow_record(task: SuiteTask, flow: Flow, answered: Answered, failures: Sequence[Failure]) -> FlowRecord:
    """Which fact went where and when, of the facts that matter most."""
    order = dict.fromkeys(_by_weight(task, failures))
    facts = list(islice(order, MAX_FACTS))
    places = {fact: place for place, fact in enumerate(facts)}
    needs = _needs(task)
    delivered = [each for each in flow.messages if each.message.delivered and each.message.receiver in flow.known]
    messages = list(_messages(delivered, task.seats, places))
    return FlowRecord(
        seats=list(task.seats),
        facts=facts,
        facts_omitted=len(order) - len(facts),
        needs=[[places[fact] for fact in needs.get(seat, ()) if fact in places] for seat in task.seats],
        known_from=[[_time(flow, seat, fact) for fact in facts] for seat in task.seats],
        answered=[answered.times.get(seat) for seat in task.seats],
        end=answered.end,
        sent=_counts(task.seats, delivered),
        redundant=_counts(task.seats, [each for each in delivered if not each.news]),
        messages=messages,
        messages_omitted=len(delivered) - len(messages),
    )


def _some_of_each_kind(failures: Sequence[Failure]) -> Iterator[Failure]:
    seen = set[tuple[Cause, tuple[str, ...]]]()
    first, others = list[int](), list[int]()
    for place, failure in enumerate(failures):
        kind = failure.cause, failure.seats
        (others if kind in seen else first).append(place)
        seen.add(kind)
    return (failures[place] for place in sorted([*first, *others][:MAX_FAILURES]))


def _by_weight(task: SuiteTask, failures: Sequence[Failure]) -> Iterator[str]:
    """All facts: lost ones, then those that an answer follows from, then the others."""
    yield from (fact for failure in failures for fact in failure.facts)
    yield from (need for part in task.parts for need in part.needs)
    yield from (fact.id for fact in task.facts)


def _needs(task: SuiteTask) -> Mapping[str, Sequence[str]]:
    needs = defaultdict[str, dict[str, None]](dict)
    for part in task.parts:
        needs[part.seat].update(dict.fromkeys(part.needs))
    return {seat: list(needed) for seat, needed in needs.items()}


def _time(flow: Flow, seat: str, fact: str) -> int | None:
    arrival = flow.known[seat].get(fact)
    return None if arrival is None else arrival.time


def _counts(seats: Sequence[str], messages: Iterable[Conveyed]) -> list[int]:
    senders = Counter(each.message.sender for each in messages)
    return [senders[seat] for seat in seats]


def _messages(delivered: Sequence[Conveyed], seats: Sequence[str], places: Mapping[str, int]) -> Iterator[FactMessage]:
    number = {seat: place for place, seat in enumerate(seats)}
    listed = sorted(range(len(delivered)), key=lambda place: (not delivered[place].news, place))[:MAX_MESSAGES]
    for each in (delivered[place] for place in sorted(listed)):
        yield FactMessage(
            step_id=each.message.step_id,
            time=each.message.time,
            sender=number[each.message.sender],
            receiver=number[each.message.receiver],
            facts=sorted(places[fact] for fact in each.facts if fact in places),
            news=sorted(places[fact] for fact in each.news if fact in places),
        )
