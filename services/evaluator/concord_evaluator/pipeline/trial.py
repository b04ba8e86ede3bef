"""Evaluating one trial from the batches of its trace. Pure; runs in a process of the pool."""

import gc
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from statistics import fmean
from typing import Final

import numpy as np

from concord.assessment import AssessmentPlan, Mode
from concord.assessment.observations import Observation
from concord.assessment.recorded_work import RecordedWork
from concord.assessment.results import (
    Grading,
    InteractionRecord,
    MetricStatus,
    SourceCounts,
    SupportCounts,
    TraceIntegrity,
    TrialOutcome,
)
from concord.assessment.task_spec import Control
from concord.trace.attributes import EdgeKind
from concord.trace.decoding import StoredReports, reports_of
from concord.trace.report import Report, ReportBatch
from concord.wire.roster import GREEN_AGENT, Roster
from concord_evaluator.documents import AgentTally, TrialEvaluation
from concord_evaluator.findings import Shape
from concord_evaluator.formats.live_spans import with_teams
from concord_evaluator.information.record import team_task_record, unexplained_findings
from concord_evaluator.observations import FINDERS, Act, Deed, acts_of, reading_order
from concord_evaluator.observations.acts import MAX_ACTS
from concord_evaluator.observations.finders import (
    Finder,
    bounded,
    changed_values,
    corrections_in,
    ignored_corrections,
    unbrought_values,
)
from concord_evaluator.own_tasks import causes_of_trial
from concord_evaluator.pipeline.evaluators import (
    EVALUATORS,
    NONE_REFUSED,
    Budget,
    Contribution,
    TrialInput,
    excess_warnings,
    run_evaluators,
    select_batches,
)
from concord_evaluator.pipeline.verdict import graded
from concord_evaluator.recorded import played_work, recorded_work
from concord_evaluator.temporal_network import temporal_network
from concord_evaluator.trace import Projection, observability_of, project, team_observability
from concord_evaluator.trace.attribution import PROVENANCES
from concord_evaluator.trace.columns import EDGE_KINDS, SOURCES, SUPPORTS
from concord_evaluator.trace.links import Links
from concord_evaluator.trace.trees import Numbers

# The reports that the acts of a trace are made of, and the observations in these acts, each without needless work.

_DIGIT: Final = re.compile(r"\d")

_NAMED_VALUE: Final = re.compile(r"(?:[:=]| is | are | was )\s*\W?-?\d")
"""What any text holds that gives a value under a name."""


def _corrects(text: str) -> bool:
    return next(corrections_in(text), None) is not None


def _names_a_value(text: str) -> bool:
    return _NAMED_VALUE.search(text) is not None


_OF_VALUES: Final[Mapping[Finder, Callable[[str], bool]]] = {
    ignored_corrections: _corrects,
    changed_values: _names_a_value,
}
"""Finders that read only texts with a digit, and whether they may start from a text that an agent tells another."""


def reports_of_acts(batches: Iterable[ReportBatch]) -> Iterator[Report]:
    """The reports of which `acts_of` makes its acts, in their order.

    Once there are as many steps as it reads, these are only those of the gateway about the same steps. No other steps
    are decoded then.
    """
    read: set[str] = set()
    for batch in batches:
        if len(read) < MAX_ACTS:
            for report in reports_of(batch):
                if len(read) < MAX_ACTS or report.step.step_id in read:
                    read.add(report.step.step_id)
                    yield report
        elif batch.reporter == GREEN_AGENT:
            yield from (report for report in reports_of(batch) if report.step.step_id in read)


def observations_in(acts: Sequence[Act], task: str = "") -> list[Observation]:
    """The same as `observe`. To search long texts for values is most of what all finders take."""
    with_values = [act for act in acts if _DIGIT.search(act.text)]
    told = {act.text for act in with_values if act.deed in {Deed.MESSAGE, Deed.ANSWER}}  # messages to many are alike
    found = list[Iterable[Observation]]()
    for find in FINDERS:
        may_start = _OF_VALUES.get(find)
        if may_start is None:
            found.append(find(acts))
        elif any(map(may_start, told)):
            found.append(find(with_values))
    return bounded([*found, unbrought_values(acts, task)])


# Tallies of calls, as a row tells them: by agent, and by caller and callee.


def agent_tallies(agents: Sequence[str], links: Links) -> list[AgentTally]:
    """The numbers of calls of each agent."""
    names = links.steps.names
    codes = np.array([names.code(agent) for agent in agents], np.int64)
    ends = ((links.caller, links.n_calls), (links.callee, links.n_calls), (links.callee, links.failed))
    counts = [np.bincount(end, calls, len(names.texts)).astype(np.int64)[codes].tolist() for end, calls in ends]
    return [
        AgentTally(id=agent, calls_made=made, calls_received=received, errors_received=errors)
        for agent, made, received, errors in zip(agents, *counts, strict=True)
    ]


def interaction_records(links: Links) -> Iterator[InteractionRecord]:
    """The calls of each caller to each callee."""
    columns, first = links.steps.columns, links.first_row
    kinds = _counts(links.edge_kind, len(EDGE_KINDS), links)
    trust = _counts(links.provenance, len(PROVENANCES), links)
    sources = _counts(columns.known_by[first], len(SOURCES), links)
    supports = _counts(columns.support[first], len(SUPPORTS), links)
    handoffs, conversation, sequence = (
        EDGE_KINDS.index(kind) for kind in (EdgeKind.HANDOFF, EdgeKind.CONVERSATION, EdgeKind.SEQUENCE)
    )
    figures = zip(links.n_calls.tolist(), links.failed.tolist(), links.retries.tolist(), _means(links), strict=True)
    for number, ((caller, callee), (calls, errors, retries, latency)) in enumerate(zip(links, figures, strict=True)):
        kind, (observed, corroborated, reported) = kinds[number], trust[number]
        told, second = sources[number], supports[number]
        yield InteractionRecord(
            caller=caller,
            callee=callee,
            calls=calls,
            handoffs=kind[handoffs],
            conversation=kind[conversation],
            sequence=kind[sequence],
            known_by=SourceCounts(**dict(zip(SOURCES, told, strict=True))) if any(told) else None,
            support=SupportCounts(**dict(zip(SUPPORTS, second, strict=True))) if any(second) else None,
            errors=errors,
            retries=retries,
            observed=observed,
            corroborated=corroborated,
            reported=reported,
            latency_avg_ms=latency,
        )


def _counts(codes: Numbers, size: int, links: Links) -> list[list[int]]:
    """By link, the number of its calls with each code; those with a negative one do not count."""
    told = codes >= 0
    places: Numbers = links.link_of_call[told] * size + codes[told]
    counts: list[list[int]] = np.bincount(places, minlength=size * len(links)).reshape(-1, size).tolist()
    return counts


def _means(links: Links) -> Iterator[float | None]:
    """By link, the mean latency of all attempts (ms); None if unknown."""
    latencies, bounds = links.latencies_ms
    known = latencies.tolist()
    return (fmean(known[first:end]) if first < end else None for first, end in pairwise(bounds.tolist()))


# The evaluation of a trial.

UNSEEN: Final = (
    "no call between participants could be observed: call peers at the addresses from `/peers`, start agents with "
    "`concord adapt`, or report calls to the collector (docs/reporting.md)"
)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Turns garbage collection off, which costs a quarter more time: traces make many objects, and few cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@without_garbage_collection()
def evaluate_trial(
    plan: AssessmentPlan,
    outcome: TrialOutcome,
    batches: Sequence[ReportBatch],
    *,
    recorded: float | None = None,
    grading: Grading | None = None,
    late: Iterable[str] = (),
    refused: Mapping[str, int] = NONE_REFUSED,
    budget: Budget | None = None,
) -> TrialEvaluation:
    """Evaluates a trial from all batches of its trace, oldest first. Raises KeyError for a trial not in the plan.

    `recorded`: the outcome that a recorded trace states; `grading`: of its answer. `late`: reporters of steps that came
    after the trial closed and are in no batch. `refused`: by account, the steps that the trace store had no room for.
    Steps that exceed the `budget` are omitted with a warning; the score does not depend on them.
    """
    budget = budget or Budget()
    reporters = ({batch.reporter for batch in batches} | set(late)) - {GREEN_AGENT}
    in_time = batches if outcome.closed_after is None else batches[: outcome.closed_after]
    selection = select_batches(in_time, budget.steps)
    grading = grading or graded(plan, outcome)
    known = recorded if grading is None else grading.value
    roster = Roster(plan.agents(plan.trial(outcome.trial_id).task_id))
    read, unread_spans = with_teams(selection.batches, roster)
    completed = _completed(outcome, known)
    unread = sum(selection.omitted.values()) + sum(refused.values())
    evaluation = _measured(
        plan,
        outcome,
        _input(plan, outcome, read, roster, reporters, budget, completed),
        late=sum(batch.n_steps for batch in batches[len(in_time) :]),
        dropped=sum(batch.dropped for batch in batches) + unread,
    )
    team_task = team_task_record(plan, outcome, in_time)
    alone = plan.task(plan.trial(outcome.trial_id).task_id).control is Control.ALONE
    warnings = [each for each in evaluation.warnings if not (alone and each == UNSEEN)]  # there is nothing to see
    return evaluation.model_copy(
        update={
            "grading": grading,
            "team_task": team_task,
            "causes": () if budget.time_is_up() else tuple(causes_of_trial(plan, outcome, in_time, grading)),
            **_observed(plan, outcome, read, roster, known, budget),
            "work": _work(plan, outcome, read, roster, evaluation, budget),
            "findings": [*unexplained_findings(team_task), *evaluation.findings],
            "coordination_status": _coordination_status(plan, evaluation),
            "warnings": [*outcome.notes, *excess_warnings(selection.omitted, refused), *unread_spans, *warnings],
        }
    )


def _measured(
    plan: AssessmentPlan, outcome: TrialOutcome, trial: TrialInput, *, late: int, dropped: int
) -> TrialEvaluation:
    """What evaluators find in a trial. Nothing holds its columns after that, so that observations have their room."""
    evaluators = EVALUATORS.installed
    done = run_evaluators(evaluators, trial, plan.config.chosen_evaluators(evaluators))
    integrity = trial.projection.integrity.model_copy(
        update={
            "late": late,
            "dropped": dropped,
            "observability": team_observability(trial.participants),
            "participants": list(trial.participants),
        }
    )
    return _evaluation(outcome, trial.projection, done, integrity)


def _observed(
    plan: AssessmentPlan,
    outcome: TrialOutcome,
    batches: Sequence[ReportBatch],
    roster: Roster,
    known: float | None,
    budget: Budget,
) -> dict[str, object]:
    """The network of messages and artifacts; of a trial that may have failed, also observations and reading order.

    None in a given pattern, and none in a recorded trace whose outcome nobody knows, of which `concord explain` tells.
    """
    may_have_failed = outcome.state != "completed" or (known is None and plan.mode is Mode.LIVE)
    failed = (known is not None and known < 1) or may_have_failed
    of_family = plan.task(plan.trial(outcome.trial_id).task_id).family is not None
    told = failed or (known is not None and not of_family)
    if plan.mode is Mode.GROUND_TRUTH or not told or budget.time_is_up():
        return {}
    acts = acts_of(reports_of_acts(batches), roster)
    network = None if of_family else temporal_network(acts, [entry.id for entry in roster])
    if not failed:
        return {"network": network}
    task = task_text(plan, outcome.trial_id)
    found = observations_in(acts, task)
    reading = reading_order(acts, task, found)
    return {"network": network, "observations": tuple(found), "reading": tuple(reading)}


def _work(
    plan: AssessmentPlan,
    outcome: TrialOutcome,
    batches: Sequence[ReportBatch],
    roster: Roster,
    evaluation: TrialEvaluation,
    budget: Budget,
) -> RecordedWork | None:
    """What was said and used in the trial; None if the time is up."""
    if budget.time_is_up():
        return None
    task = task_text(plan, outcome.trial_id)
    if plan.mode is Mode.RECORDED:
        return recorded_work(batches, roster, task)
    return played_work(batches, roster, task, None if evaluation.call_tally is None else evaluation.calls)


def _input(
    plan: AssessmentPlan,
    outcome: TrialOutcome,
    batches: Sequence[ReportBatch],
    roster: Roster,
    reporters: set[str],
    budget: Budget,
    completed: bool | None,
) -> TrialInput:
    """What evaluators get of a trial."""
    projection = project(
        StoredReports(batches),
        roster,
        plan.config.evidence,
        observed=plan.observed,
        live=plan.mode is Mode.LIVE,
        reporters=reporters,
    )
    between_agents = plan.mode is Mode.LIVE and len(roster) > 1 and not outcome.rounds
    return TrialInput(
        projection,
        roster,
        plan.config,
        task=task_text(plan, outcome.trial_id),
        completed=completed,
        shape=_shape_of(plan, outcome),
        participants=tuple(observability_of(projection, roster, reporters)) if between_agents else (),
        reports=lambda: StoredReports(batches),
        time_is_up=budget.time_is_up,
    )


def _completed(outcome: TrialOutcome, value: float | None) -> bool | None:
    """Whether the task was completed: an outcome of 0 was not. None if nobody knows yet."""
    if outcome.state != "completed":
        return False
    return None if value is None else value > 0


def _shape_of(plan: AssessmentPlan, outcome: TrialOutcome) -> Shape:
    """Whose choice it is who exchanges messages with whom."""
    if outcome.rounds is not None:
        return Shape.DELIVERED
    if plan.mode is Mode.LIVE and outcome.state != "completed":
        return Shape.CUT_SHORT
    task = plan.task(plan.trial(outcome.trial_id).task_id)
    return Shape.CHOSEN if task.family is None and not task.is_control else Shape.PRESCRIBED


def _coordination_status(plan: AssessmentPlan, evaluation: TrialEvaluation) -> MetricStatus:
    task_id = plan.trial(evaluation.outcome.trial_id).task_id
    members = len(plan.agents(task_id)) if plan.mode is Mode.LIVE else len(evaluation.agents)
    if members < 2 or plan.task(task_id).control is Control.ALONE:
        return MetricStatus.NOT_APPLICABLE
    structure = evaluation.structure
    return MetricStatus.UNDEFINED if structure is None or structure.coordination_value is None else MetricStatus.OK


def task_text(plan: AssessmentPlan, trial_id: str) -> str:
    """The text of the task. A recorded trace without one has its own id as text, which counts as none."""
    text = plan.task(plan.trial(trial_id).task_id).text
    return "" if plan.mode is Mode.RECORDED and text == plan.assessment_id else text


def _evaluation(
    outcome: TrialOutcome, projection: Projection, done: Mapping[str, Contribution], integrity: TraceIntegrity
) -> TrialEvaluation:
    contributions = [done[evaluator_id] for evaluator_id in sorted(done)]
    calls = [record for contribution in contributions for record in contribution.calls]
    return TrialEvaluation(
        outcome=outcome,
        metrics=[record for contribution in contributions for record in contribution.metrics],
        findings=[finding for contribution in contributions for finding in contribution.findings],
        structure=next((made.structure for made in contributions if made.structure is not None), None),
        call_tally=next((made.call_tally for made in contributions if made.call_tally is not None), None),
        calls=calls,
        calls_omitted=len(projection.calls) - len(calls),
        latency=next((made.latency for made in contributions if made.latency is not None), None),
        latencies=[callee for contribution in contributions for callee in contribution.latencies],
        agents=agent_tallies(projection.agents, projection.links),
        interactions=list(interaction_records(projection.links)),
        uses=tuple(projection.uses),
        steps=projection.steps,
        trace_integrity=integrity,
        warnings=[*_warnings(projection, integrity), *(each for made in contributions for each in made.warnings)],
    )


def _warnings(projection: Projection, integrity: TraceIntegrity) -> Iterator[str]:
    if integrity.observability == "none":
        yield UNSEEN
    if projection.self_calls:
        yield f"{projection.self_calls} calls of agents to themselves are not part of the graph"
    if projection.unnamed:
        yield f"{projection.unnamed} undeclared agents exceed the limit and are not part of the graph"
    if projection.unattributed_calls:
        yield f"{projection.unattributed_calls} calls with an unknown caller or callee are not part of the graph"
