"""What cost points in a single trial."""

from dataclasses import dataclass, replace
from math import fsum
from typing import Final

from concord.assessment.results import TrialRecord
from concord.assessment.verdict import CauseKind, Certainty, Evidence

NEGLIGIBLE: Final = 1e-9
"""Points that are rounding errors."""


@dataclass(frozen=True, slots=True)
class Found:
    """A cause in one trial, as `concord.assessment.verdict.Cause`; its points are of the 100 of the trial."""

    kind: CauseKind
    agents: tuple[str, ...]
    certainty: Certainty
    points: float | None = None
    part: str | None = None
    count: int = 1
    steps: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


def lost_in(trial: TrialRecord) -> float:
    """The points, of 100, that a judged trial is short of."""
    return 0.0 if trial.overall_score is None else 100 * max(0.0, 1 - trial.overall_score)


def explained(found: list[Found], lost: float) -> list[Found]:
    """The causes, scaled down if they claim more points than were `lost`."""
    claimed = fsum(each.points or 0.0 for each in found)
    if claimed <= lost + NEGLIGIBLE:
        return found
    return [each if each.points is None else replace(each, points=each.points * lost / claimed) for each in found]
