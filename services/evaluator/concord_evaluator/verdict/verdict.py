"""The verdict of a row: computed once, and rendered by the terminal, the page, and the row's own texts."""

from collections.abc import Mapping, Sequence

from pydantic import TypeAdapter, ValidationError

from concord.assessment.request import Mode
from concord.assessment.result_row import Detail, Figure, ResultRow
from concord.assessment.results import TrialRecord
from concord.assessment.verdict import MAX_EVIDENCE, MAX_NAMED, Estimate, Figures, Known, Lift, Verdict
from concord_assistant.results import AssessmentResults
from concord_evaluator.verdict.causes import ranked_causes
from concord_evaluator.verdict.changes import changes_for
from concord_evaluator.verdict.unknown import unknown_of

_RESULTS: TypeAdapter[list[AssessmentResults]] = TypeAdapter(list[AssessmentResults])


def verdict_of(row: ResultRow) -> Verdict:
    """The verdict that follows from the other fields of a row. Its trials must not be shortened yet."""
    detail, scoring = row.detail, row.detail.scoring
    trials = [trial for trial in detail.trials if trial.usable and not trial.is_control]
    results, planned = _results_by_trial(detail), _planned(row, trials)
    ranked = ranked_causes(trials, results, planned)
    return Verdict(
        passed=_passed(row),
        score=None if row.score is None else _score(row, row.score),
        mark=100 * scoring.pass_threshold,
        trials=planned,
        trials_passed=scoring.passed_trials,
        causes=ranked.causes,
        causes_left_out=ranked.left_out,
        points_left_out=ranked.points_left_out,
        changes=changes_for(ranked.causes),
        unknown=unknown_of(row, trials, results, planned),
        figures=_figures(row),
        known=_known(detail) if row.score is None and detail.mode is Mode.LIVE and trials else None,
    )


def _known(detail: Detail) -> Known:
    graph, agents = detail.graph_metrics, detail.agents
    return Known(
        agents=len(agents),
        calls=sum(agent.calls_received for agent in agents),
        failed=sum(agent.errors_received for agent in agents),
        coordination=graph.coordination_quality,
        density=graph.graph_density,
        bottleneck=graph.has_bottleneck,
        isolated=graph.isolated_agents[:MAX_NAMED],
        findings=[finding.advice for finding in detail.findings[:MAX_EVIDENCE]],
    )


def _planned(row: ResultRow, trials: Sequence[TrialRecord]) -> int:
    """The planned trials of the team: those that count, and those that have no evaluation."""
    scoring = row.detail.scoring
    judged = scoring.judged_by_code + scoring.judged_by_model + scoring.judged_by_record
    return max(len(trials), judged + scoring.unjudged)


def _passed(row: ResultRow) -> bool | None:
    scoring, mark = row.detail.scoring, 100 * row.detail.scoring.pass_threshold
    if row.score is None or scoring.basis == "structure":
        return None
    lows, highs = [row.score], [max(row.score, scoring.score_high or 0.0)]
    if row.detail.assistant is not None:
        trials = row.detail.trials
        planned = max(1, _planned(row, trials))
        lows.append(row.pass_rate or 0.0)
        highs.append(100 * (1 - sum(trial.passed is False for trial in trials) / planned))
    if min(lows) >= mark:
        return True
    return False if min(highs) < mark else None


def _score(row: ResultRow, score: float) -> Estimate:
    return Estimate(value=score, low=row.detail.statistics.score_low, high=row.detail.statistics.score_high)


def _figures(row: ResultRow) -> Figures:
    scoring, assistant = row.detail.scoring, row.detail.assistant
    return Figures(
        outcome=next((part.value for part in scoring.sub_scores if part.id == "outcome"), None),
        utility=None if assistant is None else _estimate(assistant.utility),
        safety=None if assistant is None else _estimate(assistant.safety),
        information=_estimate(scoring.information),
        economy=_estimate(scoring.economy),
        lift=[
            Lift(control=each.control, value=each.gap, low=each.gap_low, high=each.gap_high)
            for each in row.detail.controls
        ],
        latency_ms=row.detail.latency_metrics.avg,
    )


def _estimate(figure: Figure | None) -> Estimate | None:
    return None if figure is None else Estimate(value=figure.value, low=figure.low, high=figure.high)


def _results_by_trial(detail: Detail) -> Mapping[str, AssessmentResults]:
    """The results of the trials in scenarios; none if they are unreadable."""
    try:
        found = _RESULTS.validate_python(detail.assessment_results or [], extra="ignore")
    except ValidationError:
        return {}
    return {each.assessment_id.rpartition("/")[2]: each for each in found}
