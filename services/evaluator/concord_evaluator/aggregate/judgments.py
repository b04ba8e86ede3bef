"""The words of the row: what the judge said of each trial, put together."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from concord.assessment.results import Judgment, Quality
from concord_evaluator.aggregate.trials import EvaluatedTrial, mean

MAX_POINTS: Final = 10
"""The row names this many strengths and weaknesses, the most frequent ones; its trials have them all."""

_WORST_FIRST: Final[tuple[Quality, ...]] = ("bottleneck", "low", "medium", "high")


def judgments_of(trials: Iterable[EvaluatedTrial]) -> list[Judgment]:
    """The judgments there are, in the order of the trials."""
    return [trial.record.judge for trial in trials if trial.record.judge is not None]


def merged_judgment(judgments: Sequence[Judgment]) -> Judgment | None:
    """One judgment for all: means, the most frequent label (the worse of two), and by rules if any of them was."""
    if len(judgments) < 2:
        return judgments[0] if judgments else None
    labels = Counter(judgment.coordination_quality for judgment in judgments)
    label = max(_WORST_FIRST, key=lambda quality: labels[quality])
    reasons = dict.fromkeys(judgment.reason for judgment in judgments if judgment.reason)
    return Judgment(
        source="llm" if all(judgment.source == "llm" for judgment in judgments) else "rules",
        reason="; ".join(reasons) or None,
        overall_score=mean(judgment.overall_score for judgment in judgments),
        task_success=mean(judgment.task_success for judgment in judgments),
        coordination_quality=label if labels[label] else None,
        reasoning=f"{len(judgments)} trials were judged, each on its own.",
        strengths=frequent(judgment.strengths for judgment in judgments),
        weaknesses=frequent(judgment.weaknesses for judgment in judgments),
        model=_common(judgment.model for judgment in judgments),
        prompt_version=_common(judgment.prompt_version for judgment in judgments),
        samples=sum(judgment.samples for judgment in judgments),
        agreement=mean(judgment.agreement for judgment in judgments),
        cached_samples=sum(judgment.cached_samples for judgment in judgments),
    )


def _common(names: Iterable[str | None]) -> str | None:
    """What those have in common that say something; None where they differ."""
    told = {name for name in names if name is not None}
    return told.pop() if len(told) == 1 else None


def reasoning(trials: Sequence[EvaluatedTrial], judgments: Sequence[Judgment], n_trials: int) -> str:
    """Why the row is as it is, in a few sentences. `trials` are the usable ones, of `n_trials`."""
    if not trials:
        return f"None of {n_trials} trials could be used."
    if n_trials == 1 and judgments:
        return judgments[0].reasoning
    said = [f"{len(trials)} of {n_trials} trials could be used."]
    if (value := mean(trial.record.coordination_value for trial in trials)) is not None:
        said.append(f"Coordination is {value:.2f} on average.")
    passed = sum(trial.record.passed is True for trial in trials)
    return " ".join([*said, f"{passed} passed."])


def frequent(points: Iterable[Sequence[str]]) -> list[str]:
    """The points made most often, each once; of equally frequent ones the first."""
    return [point for point, _ in Counter(point for some in points for point in some).most_common(MAX_POINTS)]
