"""The score of the row: the mean over its trials, its confidence interval, and what may be claimed from it."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from concord.assessment import AssessmentPlan, Mode
from concord.assessment.result_row import Basis, ControlRecord, Figure, PassPower, Scoring, Statistics
from concord.assessment.results import TrialRecord
from concord_evaluator.aggregate.means import mean_sub_scores
from concord_evaluator.aggregate.ranking import ranking_kind
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.scoring import SCORING_VERSION
from concord_evaluator.statistics import (
    Confidence,
    Interval,
    confidence_in,
    detectable_difference,
    likely_spread,
    mean_interval,
    pass_power,
    rate_interval,
)

_BASIS: dict[Mode, Basis] = {Mode.LIVE: "outcome", Mode.GROUND_TRUTH: "structure", Mode.RECORDED: "recorded"}


def basis_of(plan: AssessmentPlan) -> Basis:
    """What a score rests on. The user's own tasks have no receipts: their outcome says nothing about teamwork."""
    own = any(task.is_own for task in plan.tasks)
    return "outcome_only" if plan.mode is Mode.LIVE and own else _BASIS[plan.mode]


@dataclass(frozen=True, slots=True)
class TrialScore:
    """The bounds of a trial's score. They differ if a part of it is open; an unjudged one scores from 0 to 1."""

    task_id: str
    low: float
    high: float
    passed_low: bool
    passed_high: bool


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of all trials that count, `n_unjudged` of them unknown. If all are, the means are None."""

    trials: tuple[TrialScore, ...]
    n_unjudged: int
    n_lost: int = 0
    """Those of the unjudged trials that have no evaluation."""

    @property
    def overall(self) -> float | None:
        """The mean score. An unjudged trial counts 0."""
        return fmean(trial.low for trial in self.trials) if len(self.trials) > self.n_unjudged else None

    @property
    def overall_high(self) -> float | None:
        """The mean score if every unjudged trial were perfect."""
        return fmean(trial.high for trial in self.trials) if len(self.trials) > self.n_unjudged else None

    @property
    def pass_rate(self) -> float | None:
        """The percentage of trials that passed. An unjudged trial did not."""
        if len(self.trials) <= self.n_unjudged:
            return None
        return 100 * sum(trial.passed_low for trial in self.trials) / len(self.trials)


def scores_of(plan: AssessmentPlan, records: Sequence[TrialRecord]) -> Scores:
    """The scores of the usable `records`, and of all other planned trials, which count as unjudged.

    So no team gains by preventing a trial or its evaluation.
    """
    evaluated = {record.trial_id for record in records}
    lost = [trial for trial in plan.trials if trial.trial_id not in evaluated]
    known = [_score(record, plan.config.thresholds.pass_mark) for record in records]
    unknown = [TrialScore(trial.task_id, 0.0, 1.0, passed_low=False, passed_high=True) for trial in lost]
    unjudged = sum(record.overall_score is None for record in records) + len(lost)
    return Scores((*known, *unknown), unjudged, len(lost))


def _score(record: TrialRecord, mark: float) -> TrialScore:
    value = record.overall_score
    if value is None:
        return TrialScore(record.task_id, 0.0, 1.0, passed_low=False, passed_high=True)
    passed, grading = record.passed is True, record.grading
    high = value if grading is None or grading.high is None else grading.high
    if grading is not None and grading.passed is not None:
        return TrialScore(record.task_id, value, high, passed_low=passed, passed_high=record.passed is not False)
    could = high > value and high >= mark
    return TrialScore(record.task_id, value, high, passed_low=passed, passed_high=passed or could)


def scoring_of(
    plan: AssessmentPlan,
    records: Sequence[TrialRecord],
    scores: Scores,
    lift: ControlRecord | None,
    n_forfeited: int,
) -> Scoring:
    """How the score was made from the usable records, `n_forfeited` of them of trials that the participants lost."""
    judged = Counter(record.grading.source for record in records if record.grading is not None)
    high = scores.overall_high
    kind = ranking_kind(plan, basis_of(plan), complete=not scores.n_lost and plan.config.trials is None)
    return Scoring(
        version=SCORING_VERSION,
        basis=kind.basis,
        pass_threshold=plan.config.thresholds.pass_mark,
        usable_trials=len(records),
        passed_trials=sum(record.passed is True for record in records),
        judged_by_code=judged["code"],
        judged_by_model=judged["model"],
        judged_by_record=judged["recorded"],
        unjudged=scores.n_unjudged,
        forfeited=n_forfeited,
        replayed=sum(trial.attempt > 1 for trial in plan.trials),
        complete=kind.complete,
        score_high=None if high is None else 100 * high,
        information=_figure(records, "information"),
        economy=_figure(records, "economy"),
        lift=lift,
        ranking_kind=kind.digest,
        ranking_parts=kind,
        sub_scores=mean_sub_scores(records),
    )


def _figure(records: Sequence[TrialRecord], name: Literal["information", "economy"]) -> Figure | None:
    """The mean of a figure of team tasks over the trials that have it, with its interval; None without such trials."""
    known = [
        (record.task_id, value)
        for record in records
        if record.team_task is not None and (value := getattr(record.team_task, name)) is not None
    ]
    if not known:
        return None
    tasks, values = zip(*known, strict=True)
    interval = mean_interval(values, tasks, scale=(0.0, 1.0))
    return Figure(
        value=fmean(values),
        low=None if interval is None else max(0.0, interval.low),
        high=None if interval is None else min(1.0, interval.high),
        trials=len(values),
    )


def statistics_of(scores: Scores) -> Statistics:
    """The intervals over all trials that count.

    An unjudged trial counts as failed for the lower end and as perfect for the upper end.
    """
    trials = scores.trials if scores.overall is not None else ()
    passes = _passes_by_task(trials)
    low, high = _score_intervals(scores)
    most_runs = max(map(len, passes.values()), default=0)
    powers = ((k, pass_power(list(passes.values()), k)) for k in range(1, most_runs + 1))
    rate_low, rate_high = (
        rate_interval(sum(passed), len(passed)) if len(passed) > 1 else None
        for passed in ([trial.passed_low for trial in trials], [trial.passed_high for trial in trials])
    )
    return Statistics(
        scenarios=len(passes),
        trials=len(trials),
        pass_rate_low=None if rate_low is None else 100 * rate_low.low,
        pass_rate_high=None if rate_high is None else 100 * rate_high.high,
        score_low=None if low is None else 100 * max(0.0, low.low),
        score_high=None if high is None else 100 * min(1.0, high.high),
        score_method=None if low is None or low.method == "wilson" else low.method,
        detectable=_detectable([trial.low for trial in trials]),
        pass_power=[PassPower(k=k, value=value) for k, value in powers if value is not None],
    )


def _detectable(scores: Sequence[float]) -> float | None:
    difference = detectable_difference(likely_spread(scores), len(scores)) if scores else None
    return None if difference is None else 100 * difference


def confidence_of(scores: Scores, usable: Sequence[JudgedTrial], mode: Mode) -> Confidence:
    """The confidence by the width of the score's interval. Without outcomes, only trials of teams count."""
    if mode is Mode.LIVE:
        low, high = _score_intervals(scores)
        n_tasks = len({trial.task_id for trial in scores.trials})
        if low is None or high is None:
            return confidence_in(None, n_tasks)
        return confidence_in(replace(low, high=high.high), n_tasks)
    teams = [trial for trial in usable if trial.structure is not None and trial.structure.communication is not None]
    known = [(score, trial.record.task_id) for trial in teams if (score := trial.record.overall_score) is not None]
    interval = mean_interval([score for score, _ in known], [task for _, task in known])
    return confidence_in(interval, len({trial.record.task_id for trial in teams}))


def _score_intervals(scores: Scores) -> tuple[Interval | None, Interval | None]:
    """The intervals of the mean score, with unjudged trials at 0 and at 1."""
    if scores.overall is None:
        return None, None
    tasks = [trial.task_id for trial in scores.trials]
    return (
        mean_interval([trial.low for trial in scores.trials], tasks, scale=(0.0, 1.0)),
        mean_interval([trial.high for trial in scores.trials], tasks, scale=(0.0, 1.0)),
    )


def _passes_by_task(trials: Sequence[TrialScore]) -> dict[str, list[bool]]:
    passes: defaultdict[str, list[bool]] = defaultdict(list)
    for trial in trials:
        passes[trial.task_id].append(trial.passed_low)
    return dict(passes)
