"""Warnings: what the request asked for in vain, and what the trials' evaluation had to leave out."""

from collections.abc import Iterator, Sequence
from typing import Final

from concord.assessment import AssessmentPlan, Mode
from concord_evaluator.aggregate.trials import EvaluatedTrial
from concord_evaluator.metrics import metric_ids
from concord_evaluator.pipeline import JUDGE, evaluator_ids

MAX_TRIAL_WARNINGS: Final = 50


def warnings_of(plan: AssessmentPlan, trials: Sequence[EvaluatedTrial]) -> list[str]:
    """All warnings for the row; those of trials up to `MAX_TRIAL_WARNINGS`."""
    config = plan.config
    of_trials = [f"{trial.record.trial_id}: {warning}" for trial in trials for warning in trial.warnings]
    return [
        *_weights(plan),
        *_unknown("config key", config.unknown_keys, ()),
        *_unknown("evaluator", list(config.chosen_evaluators(())), (*evaluator_ids(), JUDGE)),
        *_unknown("metric", list(config.chosen_metrics(())), metric_ids()),
        *of_trials[:MAX_TRIAL_WARNINGS],
    ]


def _weights(plan: AssessmentPlan) -> Iterator[str]:
    if plan.config.weights and plan.mode is not Mode.GROUND_TRUTH:
        yield "`weights` have no effect: the score is outcome x conduct; they weigh the structure of a given pattern"


def _unknown(kind: str, names: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    return (f"unknown {kind}: {name}" for name in dict.fromkeys(names) if name not in known)
