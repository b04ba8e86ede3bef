"""The rubric: the criteria that the model decides on, and the points for its verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from concord.judging import CANARY, POINTS, TASK_SUCCESS, Verdict, canary_question
from concord.judging.verdicts import COORDINATION_IDS


@dataclass(frozen=True, slots=True)
class Criterion:
    """One question of the rubric."""

    id: str
    question: str


_COORDINATION_QUESTIONS: Final = (
    "Did what the agents asked of each other serve the task?",
    "Were requests clear enough to be answered without asking back or guessing?",
    "Was the work shared so that no agent carried most of it without need?",
    "Could agents reach each other without waiting for one that everything passes?",
)
COORDINATION: Final = tuple(map(Criterion, COORDINATION_IDS, _COORDINATION_QUESTIONS))

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
    return Criterion(CANARY, canary_question(word))


def coordination_points(verdicts: Mapping[str, Verdict]) -> float | None:
    """The mean points of the decided coordination criteria. None if none was decided."""
    points = [POINTS[verdicts[criterion.id]] for criterion in COORDINATION if criterion.id in verdicts]
    known = [value for value in points if value is not None]
    return fmean(known) if known else None
