"""The score of the row: the mean over its trials, in which what nobody judged is not rewarded."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from concord.assessment import AssessmentPlan, Mode
from concord.assessment.results import Basis, InfrastructureFailure, Scoring, TrialRecord
from concord_evaluator.aggregate.means import mean_sub_scores
from concord_evaluator.scoring import SCORING_VERSION

_BASIS: dict[Mode, Basis] = {Mode.LIVE: "outcome", Mode.GROUND_TRUTH: "structure", Mode.RECORDED: "recorded"}


@dataclass(frozen=True, slots=True)
class TrialScore:
    """What a trial counts: `low` as in the score, `high` had its outcome been perfect where nobody judged it."""

    task_id: str
    low: float
    high: float
    passed_low: bool
    passed_high: bool


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of all trials that count. `n_unjudged` of them are not known; if all are, there is no mean."""

    trials: tuple[TrialScore, ...]
    n_unjudged: int

    @property
    def overall(self) -> float | None:
        """The mean; what nobody judged counts 0."""
        return fmean(trial.low for trial in self.trials) if len(self.trials) > self.n_unjudged else None

    @property
    def overall_high(self) -> float | None:
        """The mean, had all that nobody judged been perfect."""
        return fmean(trial.high for trial in self.trials) if len(self.trials) > self.n_unjudged else None

    @property
    def pass_rate(self) -> float | None:
        """The percentage of trials that passed; what nobody judged did not."""
        if len(self.trials) <= self.n_unjudged:
            return None
        return 100 * sum(trial.passed_low for trial in self.trials) / len(self.trials)


def scores_of(
    plan: AssessmentPlan, records: Sequence[TrialRecord], infrastructure: Sequence[InfrastructureFailure]
) -> Scores:
    """The scores of the usable `records`, and of trials that ran and of which no evaluation came: nobody judged these.

    So no team gains by keeping a trial from being evaluated.
    """
    told = {record.trial_id for record in records}
    not_run = {failure.trial_id for failure in infrastructure if failure.stage == "trial"}
    lost = [trial for trial in plan.trials if trial.trial_id not in told | not_run]
    known = [_score(record) for record in records]
    unknown = [TrialScore(trial.task_id, 0.0, 1.0, passed_low=False, passed_high=True) for trial in lost]
    unjudged = sum(record.overall_score is None for record in records) + len(lost)
    return Scores((*known, *unknown), unjudged)


def _score(record: TrialRecord) -> TrialScore:
    value = record.overall_score
    if value is None:
        return TrialScore(record.task_id, 0.0, 1.0, passed_low=False, passed_high=True)
    passed = record.passed is True
    return TrialScore(record.task_id, value, value, passed_low=passed, passed_high=passed)


def scoring_of(plan: AssessmentPlan, records: Sequence[TrialRecord], scores: Scores) -> Scoring:
    """How the score was made, from the usable records."""
    judged = Counter(record.grading.source for record in records if record.grading is not None)
    high = scores.overall_high
    return Scoring(
        version=SCORING_VERSION,
        basis=_BASIS[plan.mode],
        pass_threshold=plan.config.thresholds.passing,
        usable_trials=len(records),
        passed_trials=sum(record.passed is True for record in records),
        judged_by_code=judged["code"],
        judged_by_model=judged["model"],
        judged_by_record=judged["recorded"],
        unjudged=scores.n_unjudged,
        score_high=None if high is None else 100 * high,
        sub_scores=mean_sub_scores(records),
    )
