"""The record of a trial's team task, from the gateway's own steps alone."""

from collections.abc import Sequence
from math import fsum
from typing import Final, TypedDict

from concord.assessment import AssessmentPlan
from concord.assessment.plan import shared_processes
from concord.assessment.results import Finding, TrialOutcome
from concord.assessment.suite_tasks import family_of, instance_of
from concord.assessment.task_spec import Control, Exchange
from concord.assessment.team_results import MAX_FAILURES, TeamTaskRecord
from concord.suite import SuiteTask, Topology, fewest_calls, flooding_calls, flooding_messages
from concord.trace.report import ReportBatch
from concord.wire.roster import Roster
from concord_evaluator.information.causes import Cause
from concord_evaluator.information.exchanges import Exchanged, by_calls, by_rounds
from concord_evaluator.information.failures import failures_of
from concord_evaluator.information.flow import Flow, flow_of
from concord_evaluator.information.listing import flow_record, listed_failures, listed_unexplained, listed_unproven
from concord_evaluator.information.receipts import Credit, Gap, credit_of, economy, gap_of, information, lost_by_part
from concord_evaluator.information.unexplained import unexplained_in

MAX_NAMED: Final = 5
"""Facts that a finding names."""

SEEN_WITHOUT_FACTS: Final = frozenset({Cause.UNREADABLE, Cause.NO_ANSWER, Cause.AGENT_FAILED})
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
    failures = [] if alone else failures_of(task, family, answers, flow, exchanged.answered, exchanged.turns)
    grade = family.grade(answers, task.key)
    credit = Credit(grade.parts) if spec.control else credit_of(task, grade, flow, exchanged.answered)
    gap = Gap() if spec.control else gap_of(task, grade, flow, exchanged.answered)
    values = {part.id: grade.parts.get(part.id, 0.0) for part in task.parts}
    is_whole = exchanged.is_complete and not exchanged.cut
    unexplained = unexplained_in(task, answers, exchanged.messages) if is_whole and not alone else []
    if not task.facts:  # its texts are prose: whether a message told what an answer follows from, no rule can see
        failures = [each for each in failures if each.cause in SEEN_WITHOUT_FACTS]
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
