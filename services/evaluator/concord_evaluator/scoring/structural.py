"""The score of a given pattern, which has no outcome: parts of its structure, and their weighted mean."""

from collections.abc import Mapping
from typing import Final, Literal

from concord.assessment.results import MetricParameter, SubScore
from concord_evaluator.graph import CallTally
from concord_evaluator.scoring.score import Score
from concord_evaluator.scoring.structure import TeamStructure

Part = Literal["task", "communication", "distribution", "reliability", "efficiency"]

WEIGHTS: Final[Mapping[Part, float]] = {
    "task": 0.35,
    "communication": 0.35,
    "distribution": 0.1,
    "reliability": 0.1,
    "efficiency": 0.1,
}

_TELLING: Final[frozenset[Part]] = frozenset({"task", "communication"})
"""Without one of these there is no score: that the few calls there were went well says nothing of coordination."""


def score_structure(
    structure: TeamStructure | None, calls: CallTally | None, weights: Mapping[Part, float] | None = None
) -> Score:
    """Scores a given pattern from its structure and calls (None: not evaluated).

    `weights` replace the default ones, part by part. overall = sum(w * v) / sum(w) over the defined parts. The part
    `task` is never defined: there was no task to do.
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
    total = sum(weight for _, weight in defined)
    if not total or not any(part.value is not None and part.weight for part in parts if part.id in _TELLING):
        return None
    return min(1.0, sum(value * weight for value, weight in defined) / total)


def _communication(structure: TeamStructure | None, weights: Mapping[Part, float]) -> SubScore:
    if structure is None:
        return _part("communication", None, "the graph was not evaluated", weights)
    reason = "fewer than two agents have nobody to talk to"
    return _part("communication", structure.communication, reason, weights, **_team(structure))


def _distribution(structure: TeamStructure | None, weights: Mapping[Part, float]) -> SubScore:
    if structure is None:
        return _part("distribution", None, "the graph was not evaluated", weights)
    reason = "fewer than three agents share every message"
    return _part("distribution", structure.distribution, reason, weights, **_team(structure))


def _team(structure: TeamStructure) -> dict[str, int]:
    return {"agents": structure.agents, "interactions": structure.interactions}


def _reliability(calls: CallTally | None, weights: Mapping[Part, float]) -> SubScore:
    """The share of attempts that succeeded: a retry that helps costs less than a call that fails for good."""
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
    """A part of the score; `reason` says why it is undefined, if it is."""
    return SubScore(
        id=part,
        value=value,
        weight=weights[part],
        reason=reason if value is None else None,
        inputs=[MetricParameter(name=name, value=str(count)) for name, count in inputs.items()],
    )
