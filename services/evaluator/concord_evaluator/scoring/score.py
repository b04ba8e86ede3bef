"""The score of a trial: its proven outcome, or for a given pattern the weighted mean over parts of its structure."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import Final, Literal

from concord.assessment.results import Grading, MetricParameter, SubScore
from concord_evaluator.graph import CallTally
from concord_evaluator.scoring.team_structure import TeamStructure

SCORING_VERSION: Final = "3"
"""Changes whenever the scoring rules change."""


Part = Literal["task", "communication", "distribution", "reliability", "efficiency"]

WEIGHTS: Final[Mapping[Part, float]] = {
    "task": 0.35,
    "communication": 0.35,
    "distribution": 0.1,
    "reliability": 0.1,
    "efficiency": 0.1,
}

_REQUIRED_PARTS: Final[frozenset[Part]] = frozenset({"task", "communication"})
"""A score needs one of these: that the few calls made went well says nothing about coordination."""


@dataclass(frozen=True, slots=True)
class Score:
    """The overall score (None if unknown), and its parts with their inputs."""

    overall: float | None
    parts: tuple[SubScore, ...]


def score_outcome(grading: Grading, proven: float | None = None) -> Score:
    """Scores a trial by its outcome; a team task by the part of it that is `proven` (0 to 1)."""
    parts = [_outcome(grading)]
    if proven is None:
        return Score(grading.value, tuple(parts))
    parts.append(SubScore(id="proven", value=proven, weight=1, reason=None))
    return Score(None if grading.value is None else proven, tuple(parts))


def _outcome(grading: Grading) -> SubScore:
    inputs = [MetricParameter(name="judged_by", value=grading.source)]
    if grading.scorer is not None:
        inputs.append(MetricParameter(name="scorer", value=grading.scorer))
    return SubScore(id="outcome", value=grading.value, weight=1, reason=grading.reason, inputs=inputs)


def score_structure(
    structure: TeamStructure | None, calls: CallTally | None, weights: Mapping[Part, float] | None = None
) -> Score:
    """Scores a given pattern from its structure and calls (None: not evaluated).

    `weights` replace the default ones, part by part. overall = sum(w * v) / sum(w) over the defined parts. The part
    `task` is never defined, because a given pattern has no task.
    """
    weigh = {**WEIGHTS, **(weights or {})}
    parts = (
        _part("task", None, "a given pattern has no outcome", weigh),
        _communication(structure, weigh),
        _distribution(structure, weigh),
        _reliability(calls, weigh),
        _efficiency(calls, weigh),
    )
    return Score(_overall(parts), parts)


def _overall(parts: tuple[SubScore, ...]) -> float | None:
    defined = [(part.value, part.weight) for part in parts if part.value is not None]
    total = fsum(weight for _, weight in defined)
    if not total or not any(part.value is not None and part.weight for part in parts if part.id in _REQUIRED_PARTS):
        return None
    return min(1.0, fsum(value * weight for value, weight in defined) / total)


def _communication(structure: TeamStructure | None, weights: Mapping[Part, float]) -> SubScore:
    if structure is None:
        return _part("communication", None, "the graph was not evaluated", weights)
    reason = "there are fewer than two agents"
    return _part("communication", structure.communication, reason, weights, **_team(structure))


def _distribution(structure: TeamStructure | None, weights: Mapping[Part, float]) -> SubScore:
    if structure is None:
        return _part("distribution", None, "the graph was not evaluated", weights)
    reason = "there are fewer than three agents"
    return _part("distribution", structure.distribution, reason, weights, **_team(structure))


def _team(structure: TeamStructure) -> dict[str, int]:
    return {"agents": structure.agents, "interactions": structure.interactions}


def _reliability(calls: CallTally | None, weights: Mapping[Part, float]) -> SubScore:
    """The share of attempts that succeeded: a successful retry costs less than a call that fails for good."""
    if calls is None or not calls.attempts:
        return _part("reliability", None, "there are no calls", weights)
    value = 1 - calls.failed_attempts / calls.attempts
    return _part("reliability", value, "", weights, attempts=calls.attempts, failed_attempts=calls.failed_attempts)


def _efficiency(calls: CallTally | None, weights: Mapping[Part, float]) -> SubScore:
    """The share of the agents' attempts that were neither retries nor repeats."""
    if calls is None or not calls.own_attempts:
        return _part("efficiency", None, "there are no calls between agents", weights)
    value = max(0.0, 1 - (calls.retries + calls.repeats) / calls.own_attempts)
    inputs = {"attempts": calls.own_attempts, "retries": calls.retries, "repeats": calls.repeats}
    return _part("efficiency", value, "", weights, **inputs)


def _part(part: Part, value: float | None, reason: str, weights: Mapping[Part, float], **inputs: int) -> SubScore:
    """A part of the score. `reason`: why it is undefined; not shown for a defined part."""
    return SubScore(
        id=part,
        value=value,
        weight=weights[part],
        reason=reason if value is None else None,
        inputs=[MetricParameter(name=name, value=str(count)) for name, count in inputs.items()],
    )
