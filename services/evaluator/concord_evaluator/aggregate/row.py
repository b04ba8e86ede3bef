"""The row: the leaderboard's figures, and the detail behind them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import Final

from pydantic import JsonValue

from concord.assessment import AssessmentPlan
from concord.assessment.jobs import TrialVerdict
from concord.assessment.plan import attempt_key
from concord.assessment.request import unread_keys
from concord.assessment.result_row import (
    ControlRecord,
    Detail,
    InfrastructureFailure,
    Loss,
    ResultRow,
    Scoring,
    Shard,
    TaskRewards,
    cause_of,
)
from concord.assessment.results import TrialRecord
from concord.files import did_you_mean
from concord.judging.model_answer import cut
from concord.wire.roster import Roster
from concord_assistant.results import AssessmentResults
from concord_evaluator.aggregate.figures import (
    assistant_figures,
    control_records,
    coordination_figures,
    cost_of,
    lift_of,
    solo_pairs,
)
from concord_evaluator.aggregate.scores import (
    RowScores,
    confidence_of,
    mean_metrics,
    merge_findings,
    scores_of,
    scoring_of,
    statistics_of,
)
from concord_evaluator.aggregate.team import (
    agent_records,
    coordination_status,
    coordination_value,
    declared_agents,
    forfeited_trials,
    graph_metrics,
    in_order,
    judged_trials,
    judgments_of,
    latency_over,
    merged_judgment,
    past_the_gateway,
    trace_integrity,
    why_unobserved,
)
from concord_evaluator.criteria import MAX_RESULTS, shortened_results
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.metrics import METRICS
from concord_evaluator.pipeline import EVALUATORS, JUDGE
from concord_evaluator.verdict import texts_of, verdict_of

# The size of a row: shortens trials if the submission file would become too large for the leaderboard.

MAX_SUBMISSION: Final = 8 * 1024 * 1024
"""Bytes of JSON of all trials of a submission, over all shards. Indentation adds up to 60 %. DuckDB reads no document
above 16 MiB, and a single larger one breaks the query of the whole leaderboard."""

_MOST_BY_BYTE: Final = 3
"""Characters of JSON in ASCII for a byte of pydantic's JSON, which takes a tenth of the time: six for two bytes."""

MAX_ANSWER: Final = 500
"""Characters that remain of the answer of a trial that is shortened most."""

MAX_QUOTED: Final = 400
"""The cost of what remains of a text of the conversation of a trial that is shortened."""

MAX_FEW_FAILURES: Final = 10
"""Failures that remain of a trial that is shortened most."""


def shortened_to_fit(records: Sequence[TrialRecord], n_shards: int) -> list[TrialRecord]:
    """The records unchanged if they fit; otherwise each shortened to an equal share of the limit.

    A record loses, in this order and only as needed: most of the long texts of its conversation, all of it, calls, the
    messages of its flow of facts, metrics, interactions and findings, the rest of the flow, the end of its answer, and
    most of its failures.
    """
    limit = MAX_SUBMISSION // n_shards
    if _MOST_BY_BYTE * sum(len(record.model_dump_json().encode()) for record in records) <= limit:
        return list(records)
    if sum(map(_size, records)) <= limit:
        return list(records)
    return [_within(record, limit // len(records)) for record in records]


def _within(record: TrialRecord, share: int) -> TrialRecord:
    for lighter in _LIGHTER:
        if _size(record) <= share:
            break
        record = lighter(record)
    return record


def _size(record: TrialRecord) -> int:
    return len(json.dumps(record.model_dump(mode="json")))


def _with_short_texts(record: TrialRecord) -> TrialRecord:
    work = record.work
    if work is None:
        return record
    task, *texts = (
        cut(text, MAX_QUOTED)
        for text in (work.task, *(text for each in work.said for text in (each.input, each.output)))
    )
    said = [
        each.model_copy(update={"input": asked, "output": answered})
        for each, asked, answered in zip(work.said, texts[::2], texts[1::2], strict=True)
    ]
    shortened = work.shortened or (task, said) != (work.task, work.said)
    return record.model_copy(
        update={"work": work.model_copy(update={"task": task, "said": said, "shortened": shortened})}
    )


def _without_conversation(record: TrialRecord) -> TrialRecord:
    work = record.work
    if work is None:
        return record
    omitted = work.said_omitted + len(work.said)
    return record.model_copy(update={"work": work.model_copy(update={"said": [], "said_omitted": omitted})})


def _without_calls(record: TrialRecord) -> TrialRecord:
    return record.model_copy(update={"calls": [], "calls_omitted": record.calls_omitted + len(record.calls)})


def _without_metrics(record: TrialRecord) -> TrialRecord:
    return record.model_copy(update={"metrics": []})


def _without_interactions(record: TrialRecord) -> TrialRecord:
    return record.model_copy(update={"interactions": [], "findings": []})


def _without_messages(record: TrialRecord) -> TrialRecord:
    flow = None if record.team_task is None else record.team_task.flow
    if flow is None:
        return record
    omitted = flow.messages_omitted + len(flow.messages)
    return _with_team_task(record, flow=flow.model_copy(update={"messages": [], "messages_omitted": omitted}))


def _without_flow(record: TrialRecord) -> TrialRecord:
    return _with_team_task(record, flow=None)


def _with_few_failures(record: TrialRecord) -> TrialRecord:
    failures = [] if record.team_task is None else record.team_task.failures
    if record.team_task is None or len(failures) <= MAX_FEW_FAILURES:
        return record
    omitted = record.team_task.failures_omitted + len(failures) - MAX_FEW_FAILURES
    return _with_team_task(record, failures=failures[:MAX_FEW_FAILURES], failures_omitted=omitted)


def _with_team_task(record: TrialRecord, **changes: object) -> TrialRecord:
    if record.team_task is None:
        return record
    return record.model_copy(update={"team_task": record.team_task.model_copy(update=changes)})


def _with_short_answer(record: TrialRecord) -> TrialRecord:
    return record.model_copy(update={"answer": None if record.answer is None else record.answer[:MAX_ANSWER]})


_LIGHTER: Final[Sequence[Callable[[TrialRecord], TrialRecord]]] = (
    _with_short_texts,
    _without_conversation,
    _without_calls,
    _without_messages,
    _without_metrics,
    _without_interactions,
    _without_flow,
    _with_short_answer,
    _with_few_failures,
)


# The row.

TEAMS: Final = "graph-assessment"
ASSISTANTS: Final = "assistant-assessment"
"""The domains of rows. The leaderboard ranks scores of one domain."""

MAX_TRIAL_WARNINGS: Final = 50
"""Warnings of single trials that a row shows."""


def make_row(
    plan: AssessmentPlan, verdicts: Sequence[TrialVerdict], infrastructure: Sequence[InfrastructureFailure]
) -> ResultRow:
    """Aggregates the verdicts on the plan's trials and the infrastructure failures.

    Means are over the usable trials that have a value. A flag holds if it holds in more than half of them. A trial that
    nobody judged counts 0 in the score, and so does one that its participants lost. Trials are shortened to fit.
    """
    judged = judged_trials(plan, verdicts)
    failures = _infrastructure_failures(plan, infrastructure, verdicts, judged)
    of_team = plan.model_copy(
        update={"trials": [each for each in plan.trials if not plan.task(each.task_id).is_control]}
    )
    forfeited = forfeited_trials(of_team, judged, failures)
    trials = in_order(plan, (*judged, *forfeited))
    usable = [trial for trial in trials if trial.record.usable and not plan.task(trial.record.task_id).is_control]
    scores = scores_of(of_team, [trial.record for trial in usable])
    controls = tuple(control_records(plan, trials))
    scoring = scoring_of(of_team, [trial.record for trial in usable], scores, lift_of(controls), len(forfeited))
    detail = _detail(of_team, trials, usable, failures, scores, scoring, verdicts, controls, solo_pairs(plan, trials))
    whole = ResultRow(
        pass_rate=scores.pass_rate,
        time_used=fsum(trial.record.time_used for trial in trials),
        domain=ASSISTANTS if plan.tasks and all(task.scenario for task in plan.tasks) else TEAMS,
        score=None if detail.overall_score is None else 100 * detail.overall_score,
        task_rewards=TaskRewards(
            overall_score=detail.overall_score,
            graph_density=detail.graph_metrics.graph_density,
            coordination_quality=coordination_value(usable),
        ),
        detail=detail,
    )
    verdict = verdict_of(whole)
    texts = texts_of(verdict, detail.judge)
    row = whole.model_copy(update={"detail": detail.model_copy(update={"verdict": verdict, **texts})})
    return _fitted(row, plan.config.num_shards)


def _fitted(row: ResultRow, n_shards: int) -> ResultRow:
    """The row with trials that fit."""
    shown = shortened_to_fit(row.detail.trials, n_shards)
    shortened = sum(record != short for record, short in zip(row.detail.trials, shown, strict=True))
    if not shortened:
        return row
    warnings = [*row.detail.warnings, f"{shortened} trials are shortened, because the row would exceed its size limit"]
    return row.model_copy(update={"detail": row.detail.model_copy(update={"trials": shown, "warnings": warnings})})


def _detail(
    plan: AssessmentPlan,
    trials: Sequence[JudgedTrial],
    usable: Sequence[JudgedTrial],
    infrastructure: list[InfrastructureFailure],
    scores: RowScores,
    scoring: Scoring,
    verdicts: Sequence[TrialVerdict],
    controls: tuple[ControlRecord, ...],
    pairs: Sequence[tuple[TrialRecord, TrialRecord]],
) -> Detail:
    roster, records, judgments = declared_agents(plan), [trial.record for trial in usable], judgments_of(usable)
    by_team = [trial for trial in trials if not plan.task(trial.record.task_id).is_control]
    graph, results = graph_metrics(usable), _results_by_trial(verdicts)
    return Detail(
        assessment_id=plan.assessment_id,
        started_at=plan.started_at,
        mode=plan.mode,
        shard=Shard(
            shard_index=plan.config.shard_index, num_shards=plan.config.num_shards, plan_sha256=plan.shared_sha256
        ),
        overall_score=scores.overall,
        reasoning="",
        coordination_quality=graph.coordination_quality,
        coordination_status=coordination_status(records, graph.coordination_quality),
        confidence=confidence_of(scores, usable, plan.mode),
        strengths=[],
        weaknesses=[],
        graph_metrics=graph,
        latency_metrics=latency_over(usable, roster),
        agents=agent_records(by_team, roster),
        metrics=mean_metrics(records),
        findings=merge_findings(records),
        trials=[trial.record for trial in trials],
        judge=merged_judgment(judgments),
        scoring=scoring,
        statistics=statistics_of(scores),
        trace_integrity=trace_integrity(by_team),
        infrastructure=infrastructure,
        controls=controls,
        coordination=coordination_figures(records, pairs),
        cost=cost_of(by_team, plan.prices),
        seat_containers=plan.seat_containers,
        planted_faults=plan.planted_faults,
        task_secret_sha256=plan.task_commitment,
        assistant=assistant_figures(list(results.values())),
        assessment_results=_assessment_results(plan, results),
        warnings=[*_contact_warnings(infrastructure), *_warnings(plan, trials, roster)],
    )


def _results_by_trial(verdicts: Sequence[TrialVerdict]) -> dict[str, AssessmentResults]:
    return {
        verdict.record.trial_id: AssessmentResults.model_validate(verdict.assessment_results)
        for verdict in verdicts
        if verdict.record is not None and verdict.assessment_results is not None
    }


def _assessment_results(plan: AssessmentPlan, by_trial: Mapping[str, AssessmentResults]) -> list[JsonValue] | None:
    """The results of the trials in scenarios, in the order of the plan, each within its share of the row."""
    if not any(task.scenario for task in plan.tasks):
        return None
    share = MAX_RESULTS // plan.config.num_shards // max(1, len(by_trial))
    found = [by_trial[trial.trial_id] for trial in plan.trials if trial.trial_id in by_trial]
    return [shortened_results(results, share).model_dump(mode="json") for results in found]


def _contact_warnings(infrastructure: Sequence[InfrastructureFailure]) -> list[str]:
    """A warning for each participant that could not be contacted and was left out of the assessment."""
    return [failure.message for failure in infrastructure if failure.stage == "contact"]


def _infrastructure_failures(
    plan: AssessmentPlan,
    reported: Sequence[InfrastructureFailure],
    verdicts: Iterable[TrialVerdict],
    trials: Sequence[JudgedTrial],
) -> list[InfrastructureFailure]:
    """The gateway's failures, those of evaluations, and one for each trial without any verdict or failure; each once.

    A failed evaluation is dropped if the evaluation succeeded later.
    """
    evaluated = {trial.record.trial_id for trial in trials}
    failures = [failure for failure in reported if failure.trial_id not in evaluated or failure.stage == "trial"]
    failures += [verdict.failure for verdict in verdicts if verdict.failure is not None]
    explained = {attempt_key(each.trial_id, each.attempt) for each in failures if each.trial_id}
    failures += [
        InfrastructureFailure(
            trial_id=trial.trial_id,
            stage="evaluation",
            message="the trial has no evaluation",
            attempt=trial.attempt,
            loss=Loss.WORKER,
            caused_by=cause_of(Loss.WORKER),
        )
        for trial in plan.trials
        if trial.trial_id not in evaluated and trial.key not in explained
    ]
    return list(dict.fromkeys(failures))


def _warnings(plan: AssessmentPlan, trials: Sequence[JudgedTrial], roster: Roster) -> list[str]:
    """All warnings of the row, at most `MAX_TRIAL_WARNINGS` of them of trials."""
    config = plan.config
    of_trials = [f"{trial.record.trial_id}: {warning}" for trial in trials for warning in trial.warnings]
    part = f"this is shard {config.shard_index} of {config.num_shards}: its figures are of a part of the assessment"
    return [
        *([part] if config.num_shards > 1 else []),
        *unread_keys(config, plan.tasks),
        *_unknown_warnings("evaluator", list(config.chosen_evaluators(())), (*EVALUATORS.installed, JUDGE)),
        *_unknown_warnings("metric", list(config.chosen_metrics(())), list(METRICS.installed)),
        *why_unobserved(plan, trace_integrity(trials)),
        *past_the_gateway([trial.record for trial in trials if plan.observed], roster),
        *of_trials[:MAX_TRIAL_WARNINGS],
    ]


def _unknown_warnings(kind: str, names: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    return (f"unknown {kind}: {name}{did_you_mean(name, known)}" for name in dict.fromkeys(names) if name not in known)
