"""The record of a trial's team task, from the gateway's own steps alone."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from concord.assessment import AssessmentPlan
from concord.assessment.instances import family_of, instance_of
from concord.assessment.request import Control
from concord.assessment.results import Finding, RoundsRecord, TrialOutcome
from concord.assessment.roster import Roster
from concord.assessment.seats import shared_processes
from concord.assessment.team_results import MAX_FAILURES, TeamTaskRecord
from concord.suite import SuiteTask, Topology
from concord.trace.attributes import AGENT_NAME, ROUND
from concord.trace.decoding import read
from concord.trace.report import ReportBatch, unpack
from concord_evaluator.information.failures import failures_of
from concord_evaluator.information.flow import Flow, Sent, flow_of
from concord_evaluator.information.listing import flow_record, listed_failures, listed_unexplained
from concord_evaluator.information.losses import Answered, Turns
from concord_evaluator.information.unexplained import unexplained_in
from concord_evaluator.trace.gateway_calls import is_observed

MAX_NAMED: Final = 5
"""Facts that a finding names."""

MAX_MESSAGES: Final = 50_000
"""Messages of a trial that are read, the first ones."""


def team_task_record(
    plan: AssessmentPlan, outcome: TrialOutcome, batches: Iterable[ReportBatch]
) -> TeamTaskRecord | None:
    """The record of a trial of a team task; None for other tasks. `batches`: the trace's batches that count."""
    trial = plan.trial(outcome.trial_id)
    spec = plan.task(trial.task_id).family
    if spec is None:
        return None
    task, family = instance_of(plan, trial), family_of(spec.name)
    seats = plan.agents(trial.task_id)
    messages = list(_messages(batches, Roster(seats), outcome.rounds))
    flow = flow_of(task, family, messages)
    answers = {each.agent: each.text for each in outcome.answers if each.text is not None}
    end = outcome.rounds.rounds if outcome.rounds is not None else max((each.time for each in messages), default=0) + 1
    times = outcome.rounds.answered_in if outcome.rounds is not None else dict.fromkeys(answers, end)
    answered = Answered(times, end, in_rounds=outcome.rounds is not None)
    alone = spec.control is Control.SOLO  # who knows all briefs needs no message
    failures = [] if alone else failures_of(task, family, answers, flow, answered, _turns(outcome.rounds))
    unread = len(messages) == MAX_MESSAGES  # further messages may have told it
    unexplained = [] if alone or unread else unexplained_in(task, answers, messages)
    return TeamTaskRecord(
        family=spec.name,
        difficulty=spec.difficulty,
        topology=spec.topology.value if isinstance(spec.topology, Topology) else "edges",
        seats=[seat.id for seat in seats],
        shared_process=shared_processes(seats),
        control=None if spec.control is None else spec.control.value,
        paired_with=spec.paired_with,
        chance=task.chance,
        rounds=None if outcome.rounds is None else outcome.rounds.rounds,
        messages=sum(each.delivered for each in messages),
        fewest_messages=task.fewest_messages.value,
        fewest_is_exact=task.fewest_messages.exact,
        redundant=flow.redundant,
        coverage=[] if outcome.rounds is None else [_coverage(task, flow, time) for time in range(1, end + 1)],
        failures=listed_failures(failures),
        failures_omitted=max(0, len(failures) - MAX_FAILURES),
        unexplained=listed_unexplained(unexplained),
        flow=flow_record(task, flow, answered, failures) if spec.control is None else None,
    )


def unexplained_findings(record: TeamTaskRecord | None) -> list[Finding]:
    """A finding for each seat whose answer states a fact that no message had brought. The trial's score is then 0."""
    return [
        Finding(
            id="unexplained_knowledge",
            agents=[each.seat],
            metric_id=None,
            value=float(len(each.facts) + each.facts_omitted),
            threshold=None,
            step_ids=[],
            advice=f"{each.seat} answered with {', '.join(each.facts[:MAX_NAMED])}, which no message and no brief told "
            "it. The trial counts 0, because seats may exchange what they know in messages only.",
            measured="facts without a source",
        )
        for each in ([] if record is None else record.unexplained)
    ]


def _messages(batches: Iterable[ReportBatch], roster: Roster, rounds: RoundsRecord | None) -> Iterator[Sent]:
    """The messages between seats that the gateway observed, in the order of their rounds, else of their steps."""
    count = 0
    for batch in filter(is_observed, batches):
        for step in read(unpack(batch.body)).steps:
            call = step.agent_call
            sender = step.additional_attributes.get(AGENT_NAME, "")
            if call is None or sender not in roster or count == MAX_MESSAGES:
                continue
            count += 1
            text = (call.requests or {}).get("text")
            number = step.additional_attributes.get(ROUND)
            time = int(number) if rounds is not None and number is not None else count
            yield Sent(
                step_id=step.step_id,
                time=time,
                sender=sender,
                receiver=roster.resolve(call.agent_url, call.agent_name),
                text=text if isinstance(text, str) else "",
                delivered=step.failure is None and (rounds is None or time < rounds.rounds),
            )


def _turns(rounds: RoundsRecord | None) -> Turns:
    if rounds is None:
        return Turns()
    return Turns(*(_by_seat(rounds, state) for state in ("unreadable", "late", "failed")))


def _by_seat(rounds: RoundsRecord, state: str) -> Mapping[str, frozenset[int]]:
    seats = {turn.seat for turn in rounds.turns}
    return {
        seat: frozenset(turn.round for turn in rounds.turns if turn.seat == seat and turn.state == state)
        for seat in seats
    }


def _coverage(task: SuiteTask, flow: Flow, time: int) -> float:
    """The mean over the answering seats of the part of their needed facts that they could know after a round."""
    needs: dict[str, set[str]] = {}
    for part in task.parts:
        needs.setdefault(part.seat, set()).update(part.needs)
    return sum(flow.coverage(seat, needed, time + 1) for seat, needed in needs.items()) / len(needs) if needs else 1.0
