"""The row: the leaderboard's figures in front, and everything behind them in the detail."""

from collections.abc import Sequence

from concord.assessment import AssessmentPlan
from concord.assessment.results import Detail, InfrastructureFailure, ResultRow, TaskRewards, TrialRecord
from concord_evaluator.aggregate.failures import infrastructure_failures
from concord_evaluator.aggregate.means import mean_metrics, merge_findings
from concord_evaluator.aggregate.scores import Scores, scores_of, scoring_of
from concord_evaluator.aggregate.size import fitted
from concord_evaluator.aggregate.spread import confidence_of, statistics_of
from concord_evaluator.aggregate.team import (
    agent_records,
    coordination_status,
    coordination_value,
    declared_agents,
    graph_metrics,
    latency_over,
    trace_integrity,
)
from concord_evaluator.aggregate.trials import EvaluatedTrial, evaluated_trials
from concord_evaluator.aggregate.warnings import warnings_of
from concord_evaluator.aggregate.words import frequent, judgments_of, merged_judgment, reasoning
from concord_evaluator.documents import JudgedTrial


def make_row(
    plan: AssessmentPlan, verdicts: Sequence[JudgedTrial], infrastructure: Sequence[InfrastructureFailure]
) -> ResultRow:
    """Aggregates the verdicts on the plan's trials and the infrastructure failures met on the way.

    Means are over the usable trials that have a value; a flag holds if it does in more than half of them. In the score,
    a trial that nobody judged counts 0.
    """
    trials = evaluated_trials(plan, verdicts)
    usable = [trial for trial in trials if trial.record.usable]
    failures = infrastructure_failures(plan, infrastructure, verdicts, trials)
    scores = scores_of(plan, [trial.record for trial in usable], failures)
    detail = _detail(plan, trials, usable, failures, scores)
    return ResultRow(
        pass_rate=scores.pass_rate,
        time_used=sum(trial.record.time_used for trial in trials),
        score=None if detail.overall_score is None else 100 * detail.overall_score,
        task_rewards=TaskRewards(
            overall_score=detail.overall_score,
            graph_density=detail.graph_metrics.graph_density,
            coordination_quality=coordination_value(usable),
        ),
        detail=detail,
    )


def _detail(
    plan: AssessmentPlan,
    trials: Sequence[EvaluatedTrial],
    usable: Sequence[EvaluatedTrial],
    infrastructure: list[InfrastructureFailure],
    scores: Scores,
) -> Detail:
    roster, records, judgments = declared_agents(plan), [trial.record for trial in usable], judgments_of(usable)
    graph, all_records = graph_metrics(usable), [trial.record for trial in trials]
    shown = fitted(all_records, plan.config.num_shards)
    return Detail(
        assessment_id=plan.assessment_id,
        mode=plan.mode,
        overall_score=scores.overall,
        reasoning=reasoning(usable, judgments, len(plan.trials)),
        coordination_quality=graph.coordination_quality,
        coordination_status=coordination_status(records, graph.coordination_quality),
        confidence=confidence_of(scores, usable, plan.mode),
        strengths=frequent(judgment.strengths for judgment in judgments),
        weaknesses=frequent(judgment.weaknesses for judgment in judgments),
        graph_metrics=graph,
        latency_metrics=latency_over(usable, roster),
        agents=agent_records(trials, roster),
        metrics=mean_metrics(records),
        findings=merge_findings(records),
        trials=shown,
        judge=merged_judgment(judgments),
        scoring=scoring_of(plan, records, scores),
        statistics=statistics_of(scores),
        trace_integrity=trace_integrity(trials),
        infrastructure=infrastructure,
        warnings=[*_missing(infrastructure), *warnings_of(plan, trials), *_left_out(all_records, shown)],
    )


def _missing(infrastructure: Sequence[InfrastructureFailure]) -> list[str]:
    """A warning for each participant without which the assessment went on."""
    return [failure.message for failure in infrastructure if failure.stage == "contact"]


def _left_out(records: Sequence[TrialRecord], shown: Sequence[TrialRecord]) -> list[str]:
    """A warning where trials are not shown in full."""
    shortened = sum(record != short for record, short in zip(records, shown, strict=True))
    return [f"{shortened} trials are not shown in full: the row would be too large to be read"] if shortened else []
