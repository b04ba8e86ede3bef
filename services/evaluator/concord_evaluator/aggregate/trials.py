"""The trials of an assessment that were judged, in the order of its plan."""

from collections.abc import Iterable
from statistics import fmean

from concord.assessment import AssessmentPlan
from concord.assessment.jobs import TrialVerdict
from concord_evaluator.documents import JudgedTrial


def judged_trials(plan: AssessmentPlan, verdicts: Iterable[TrialVerdict]) -> list[JudgedTrial]:
    """The trials that have a record, in the order of the plan."""
    by_id = {verdict.record.trial_id: verdict for verdict in verdicts if isinstance(verdict, JudgedTrial)}
    return [by_id[trial.trial_id] for trial in plan.trials if trial.trial_id in by_id]


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are not None. None without any."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
