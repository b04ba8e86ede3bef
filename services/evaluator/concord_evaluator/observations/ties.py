"""Ties: which observations explain a part that the graders say was lost. Only these are causes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from concord.assessment.results import Observation, ObservationKind
from concord.assessment.verdict import Cause, CauseKind
from concord_evaluator.formats.trace import GradedPart


class LostPart(NamedTuple):
    """What a grader says of a lost part: the kind of its cause, the agents, and the steps that show it."""

    kind: CauseKind
    agents: frozenset[str]
    steps: frozenset[str]


def tied(observations: Iterable[Observation], lost: Sequence[LostPart]) -> list[Observation]:
    """The observations, each with the cause of the first lost part that has a step and an agent in common with it.

    The agent may also be the one that was called.
    """
    return [each.model_copy(update={"cause": _cause_of(each, lost)}) for each in observations]


def _cause_of(observation: Observation, lost: Sequence[LostPart]) -> CauseKind | None:
    if observation.cause is not None:
        return observation.cause
    steps, agents = set(observation.steps), {*observation.agents, observation.about}
    return next((part.kind for part in lost if part.steps & steps and part.agents & agents), None)


def causes_of_parts(observations: Sequence[Observation], parts: Sequence[GradedPart]) -> list[Cause]:
    """The causes of lost parts that could not be merged: edits that clash. Points are of a trial that lost all 100.

    Proven where each such part passes alone; observed where nobody tried. A part that fails alone as well has another
    cause.
    """
    lost = [part for part in parts if not part.passed]
    explained = [part for part in lost if part.merged is False and part.passed_alone is not False]
    clashes = [each for each in observations if each.kind is ObservationKind.CLASHING_EDITS]
    shared = Counter(agent for each in clashes for agent in each.agents)
    causes = list[Cause]()
    for each in clashes:
        theirs = [part for part in explained if part.agent in each.agents]
        if theirs:
            causes.append(
                Cause(
                    kind=CauseKind.CLASHING_EDITS,
                    agents=each.agents,
                    certainty="proven" if all(part.passed_alone for part in theirs) else "observed",
                    points=sum(100 / len(lost) / shared[part.agent] for part in theirs),
                    count=each.count,
                    steps=each.steps,
                    evidence=each.evidence,
                )
            )
    return causes
