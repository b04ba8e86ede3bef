"""The judgments of an assessment: merges those of its trials into one."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from concord.assessment.results import Judgment, Quality
from concord_evaluator.aggregate.trials import mean
from concord_evaluator.documents import JudgedTrial

MAX_POINTS: Final = 10
"""Strengths and weaknesses that a merged judgment names, the most frequent ones. The trials have all of them."""

_WORST_FIRST: Final[tuple[Quality, ...]] = ("bottleneck", "low", "medium", "high")


def judgments_of(trials: Iterable[JudgedTrial]) -> list[Judgment]:
    """The judgments of the trials that have one, in order."""
    return [trial.record.judge for trial in trials if trial.record.judge is not None]


def merged_judgment(judgments: Sequence[Judgment]) -> Judgment | None:
    """Merges judgments: means, the most frequent label (of equals the worse), and source `rules` if any has it."""
    if len(judgments) < 2:
        return judgments[0] if judgments else None
    labels = Counter(judgment.coordination_quality for judgment in judgments)
    label = max(_WORST_FIRST, key=lambda quality: labels[quality])
    reasons = dict.fromkeys(judgment.reason for judgment in judgments if judgment.reason)
    return Judgment(
        source="llm" if all(judgment.source == "llm" for judgment in judgments) else "rules",
        reason="; ".join(reasons) or None,
        model_failed=any(judgment.model_failed for judgment in judgments),
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
    """The one name that is not None; None if there are several."""
    known = {name for name in names if name is not None}
    return known.pop() if len(known) == 1 else None


def frequent(points: Iterable[Sequence[str]]) -> list[str]:
    """The most frequent points, each once; of equally frequent ones the first."""
    return [point for point, _ in Counter(point for some in points for point in some).most_common(MAX_POINTS)]
