"""The limits of one evaluation."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EvaluationLimits:
    """`steps`: how many an evaluation reads at most; `seconds`: after these it starts nothing optional."""

    steps: int
    seconds: float
