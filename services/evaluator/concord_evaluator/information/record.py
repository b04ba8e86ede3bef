"""The record of a trial's team task, from the gateway's own steps alone."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import fsum
from typing import Final, TypedDict

from concord.assessment import AssessmentPlan
from concord.assessment.plan import shared_processes
from concord.assessment.results import Finding, TrialOutcome
from concord.assessment.suite_tasks import family_of, instance_of
from concord.assessment.task_spec import Control, Exchange
from concord.assessment.team_results import (
    MAX_FACTS,
    MAX_FAILURES,
    MAX_MESSAGES,
    MAX_NAMED_FACTS,
    FactMessage,
    FlowRecord,
    PartFailure,
    TeamTaskRecord,
    UnexplainedKnowledge,
    UnprovenPart,
)
from concord.assessment.verdict import Cause, CauseKind
from concord.suite import SuiteTask, Topology, fewest_calls, flooding_calls, flooding_messages
from concord.trace.report import ReportBatch
from concord.wire.roster import Roster
from concord_evaluator.information.exchanges import Exchanged, by_calls, by_rounds
from concord_evaluator.information.flow import Conveyed, Flow, flow_of
from concord_evaluator.information.part_causes import failures_of
from concord_evaluator.information.receipts import (
    Credit,
    Gap,
    Unexplained,
    Unproven,
    credit_of,
    economy,
    gap_of,
    information,
    lost_by_part,
    unexplained_in,
)
from concord_evaluator.information.turns import Answered

# What a trial's record lists of its failures and of its flow of facts, within limits and with counts of the rest.


def listed_failures(failures: Sequence[Cause], lost: Mapping[str, float]) -> list[PartFailure]:
    """At most `MAX_FAILURES` failures in their order, among them one of each cause and seat.

    `lost`: by part, the share of the outcome that it is short of. Causes of one part share it equally.
    """
    causes = Counter(each.part for each in failures)
    return [
        PartFailure(
            part=each.part or "",
            cause=each.kind,
            seats=list(each.agents),
            step_id=each.step_id,
            facts=[lost_fact.text for lost_fact in each.evidence[:MAX_NAMED_FACTS]],
            facts_omitted=max(0, len(each.evidence) - MAX_NAMED_FACTS),
            lost=lost.get(each.part or "", 0.0) / causes[each.part],
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


def flow_record(task: SuiteTask, flow: Flow, answered: Answered, failures: Sequence[Cause]) -> FlowRecord:
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


def _some_of_each_kind(failures: Sequence[Cause]) -> Iterator[Cause]:
    seen = set[tuple[CauseKind, tuple[str, ...]]]()
    first, others = list[int](), list[int]()
    for place, failure in enumerate(failures):
        kind = failure.kind, failure.agents
        (others if kind in seen else first).append(place)
        seen.add(kind)
    return (failures[place] for place in sorted([*first, *others][:MAX_FAILURES]))


def _by_weight(task: SuiteTask, failures: Sequence[Cause]) -> Iterator[str]:
    """All facts: lost ones, then those that an answer follows from, then the others."""
    yield from (fact.text for failure in failures for fact in failure.evidence)
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


# The record.

MAX_NAMED: Final = 5
"""Facts that a finding names."""

SEEN_WITHOUT_FACTS: Final = frozenset({CauseKind.UNREADABLE, CauseKind.NO_ANSWER, CauseKind.AGENT_FAILED})
"""The causes that follow from replies alone."""


def team_task_record(
    plan: AssessmentPlan, outcome: TrialOutcome, batches: Sequence[ReportBatch]
) -> TeamTaskRecord | None:
    """The record of a trial of a team task; None for other tasks. `batches`: the trace's batches that count."""
    trial = plan.trial(outcome.trial_id)
    spec = plan.task(trial.task_id).family
    if spec is None:
        return None
    task, family = instance_of(plan, trial), family_of(spec.name)
    seats = plan.agents(trial.task_id)
    exchanged = _exchanged(task, outcome, batches, Roster(seats))
    answers = {each.agent: each.text for each in outcome.answers if each.text is not None}
    flow = flow_of(task, family, exchanged.messages, answers)
    alone = spec.control is Control.SOLO  # who knows all briefs needs no message
    grade = family.grade(answers, task.key)
    no_causes = alone or grade.harms  # of a harm, the reason of the grading tells
    failures = [] if no_causes else failures_of(task, family, answers, flow, exchanged.answered, exchanged.turns)
    credit = Credit(grade.parts) if spec.control else credit_of(task, grade, flow, exchanged.answered)
    gap = Gap() if spec.control else gap_of(task, grade, flow, exchanged.answered)
    values = {part.id: grade.parts.get(part.id, 0.0) for part in task.parts}
    is_whole = exchanged.is_complete and not exchanged.cut
    unexplained = unexplained_in(task, answers, exchanged.messages) if is_whole and not alone else []
    if not task.facts:  # its texts are prose: whether a message told what an answer follows from, no rule can see
        failures = [each for each in failures if each.kind in SEEN_WITHOUT_FACTS]
    in_calls = spec.exchange is Exchange.CALLS
    passed = not spec.control and credit.outcome >= plan.config.thresholds.pass_mark
    return TeamTaskRecord(
        family=spec.name,
        difficulty=spec.difficulty,
        topology=spec.topology.value if isinstance(spec.topology, Topology) else "edges",
        exchange="calls" if in_calls else "rounds",
        seats=[seat.id for seat in seats],
        shared_process=shared_processes(seats),
        control=None if spec.control is None else "solo" if alone else "silent",
        paired_with=spec.paired_with,
        chance=task.chance,
        rounds=None if outcome.rounds is None else outcome.rounds.rounds,
        messages=exchanged.count,
        redundant=exchanged.redundant(flow),
        credited=credit.outcome if task.facts else None,
        information=None if spec.control else information(task, flow, exchanged.answered),
        unproven=listed_unproven(credit.unproven, lost_by_part(values, credit.parts)),
        unproven_omitted=max(0, len(credit.unproven) - MAX_FAILURES),
        turns=_turns(outcome, exchanged, 1 if alone else len(seats)),
        failed_parts=gap.parts,
        failed_informed=gap.informed_parts,
        failed_seats=gap.seats,
        informed_seats=gap.informed_seats,
        cut_messages=exchanged.cut,
        **_yardsticks(task, exchanged, in_calls=in_calls, passed=passed),
        coverage=[_coverage(task, flow, time) for time in exchanged.times],
        failures=listed_failures(failures, lost_by_part(dict.fromkeys(values, 1.0), values)),
        failures_omitted=max(0, len(failures) - MAX_FAILURES),
        unexplained=listed_unexplained(unexplained),
        flow=flow_record(task, flow, exchanged.answered, failures) if spec.control is None and task.facts else None,
    )


def _turns(outcome: TrialOutcome, exchanged: Exchanged, seats: int) -> int:
    """The turns of a trial. By calls, each seat replies to its brief and to the question, and to each call."""
    return len(outcome.rounds.turns) if outcome.rounds else 2 * seats + exchanged.count


def _exchanged(task: SuiteTask, outcome: TrialOutcome, batches: Sequence[ReportBatch], roster: Roster) -> Exchanged:
    if outcome.rounds:
        return by_rounds(batches, roster, outcome.rounds)
    return by_calls(batches, roster, outcome.replies, task.message_limit)


class _Yardsticks(TypedDict):
    """What the messages of a team are compared with."""

    fewest_messages: int
    fewest_is_exact: bool
    simple_messages: int
    economy: float | None


def _yardsticks(task: SuiteTask, exchanged: Exchanged, *, in_calls: bool, passed: bool) -> _Yardsticks:
    fewest = fewest_calls(task) if in_calls else task.fewest_messages
    simple = flooding_calls(task) if in_calls else flooding_messages(task)
    return _Yardsticks(
        fewest_messages=fewest.value,
        fewest_is_exact=fewest.exact,
        simple_messages=simple,
        economy=economy(simple, exchanged.sent) if passed and task.facts else None,
    )


def unexplained_findings(record: TeamTaskRecord | None) -> list[Finding]:
    """A finding for each seat whose answer states a fact that no message had brought. Its part earns nothing by it."""
    return [
        Finding(
            id="unexplained_knowledge",
            agents=[each.seat],
            metric_id=None,
            value=float(len(each.facts) + each.facts_omitted),
            threshold=None,
            step_ids=[],
            advice=f"{each.seat} answered with {', '.join(each.facts[:MAX_NAMED])}, which no message and no brief told "
            "it. An answer counts only as far as messages brought its facts.",
            measured="facts without a source",
        )
        for each in ([] if record is None else record.unexplained)
    ]


def _coverage(task: SuiteTask, flow: Flow, time: int) -> float:
    """The mean over the answering seats of the part of their needed facts that they could know after a time."""
    needs: dict[str, set[str]] = {}
    for part in task.parts:
        needs.setdefault(part.seat, set()).update(part.needs)
    return fsum(flow.coverage(seat, needed, time + 1) for seat, needed in needs.items()) / len(needs) if needs else 1.0
