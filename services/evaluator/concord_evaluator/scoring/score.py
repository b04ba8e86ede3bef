"""The score of a trial: how well the task was done, times how the team got there."""

from dataclasses import dataclass
from typing import Final

from concord.assessment.results import Grading, MetricParameter, SubScore
from concord_evaluator.scoring.conduct import Conduct

SCORING_VERSION: Final = "2"
"""Changes whenever the same trial would be scored differently."""


@dataclass(frozen=True, slots=True)
class Score:
    """The whole, None where it is not known, and the parts with what they were made from."""

    overall: float | None
    parts: tuple[SubScore, ...]


def score_outcome(grading: Grading, conduct: Conduct | None) -> Score:
    """Scores a trial: outcome x conduct, or the outcome alone where there is no conduct to speak of."""
    parts = [_outcome(grading)]
    overall = grading.value
    if conduct is not None:
        parts.append(_conduct(conduct))
        if overall is not None and conduct.value is not None:
            overall *= conduct.value
    return Score(overall, tuple(parts))


def _outcome(grading: Grading) -> SubScore:
    inputs = [MetricParameter(name="judged_by", value=grading.source)]
    if grading.scorer is not None:
        inputs.append(MetricParameter(name="scorer", value=grading.scorer))
    return SubScore(id="outcome", value=grading.value, weight=1, reason=grading.reason, inputs=inputs)


def _conduct(conduct: Conduct) -> SubScore:
    return SubScore(id="conduct", value=conduct.value, weight=1, reason=conduct.reason, inputs=conduct.inputs)
