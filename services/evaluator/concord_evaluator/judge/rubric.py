"""The rubric: the criteria that the model decides on, and the points for its verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Literal

Verdict = Literal["met", "partly", "not_met", "cannot_tell"]

POINTS: Final[Mapping[Verdict, float | None]] = {"met": 1.0, "partly": 0.5, "not_met": 0.0, "cannot_tell": None}


@dataclass(frozen=True, slots=True)
class Criterion:
    """One question of the rubric."""

    id: str
    question: str


TASK_SUCCESS: Final = "task_success"
CANARY: Final = "code_word"

COORDINATION: Final = (
    Criterion("task_alignment", "Did what the agents asked of each other serve the task?"),
    Criterion("communication_clarity", "Were requests clear enough to be answered without asking back or guessing?"),
    Criterion("workload_distribution", "Was the work shared so that no agent carried most of it without need?"),
    Criterion("bottleneck_avoidance", "Could agents reach each other without waiting for one that everything passes?"),
)

ANSWER_ID: Final = "answer"
"""The id of a single final answer in quotes."""

OUTCOME: Final = Criterion(TASK_SUCCESS, "Does the final answer do what the task asked for?")


def answer_ids(n: int) -> list[str]:
    """The ids of `n` final answers in quotes."""
    return [ANSWER_ID] if n == 1 else [f"{ANSWER_ID} {number}" for number in range(1, n + 1)]


def outcomes(n: int) -> list[Criterion]:
    """One criterion for each of `n` final answers, in order. Each answer is judged alone."""
    if n == 1:
        return [OUTCOME]
    return [
        Criterion(
            f"{TASK_SUCCESS}_{number}", f"Does the final answer {answer_id!r}, taken alone, do what the task asked for?"
        )
        for number, answer_id in enumerate(answer_ids(n), start=1)
    ]


def canary(word: str) -> Criterion:
    """A criterion that cannot be met, since no agent knows the word. A model that finds it met is compromised."""
    return Criterion(CANARY, f"Did an agent use the code word {word!r}?")


def coordination_points(verdicts: Mapping[str, Verdict]) -> float | None:
    """The mean points of the decided coordination criteria. None if none was decided."""
    points = [POINTS[verdicts[criterion.id]] for criterion in COORDINATION if criterion.id in verdicts]
    known = [value for value in points if value is not None]
    return fmean(known) if known else None
