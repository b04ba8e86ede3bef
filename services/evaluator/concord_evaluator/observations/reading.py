"""The reading order of a failed trace, and the observations that explain a lost part."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from concord.assessment.observations import MAX_READING, Observation, ObservationKind, ReadStep, observation_text
from concord.assessment.verdict import Cause, CauseKind
from concord_evaluator.formats.trace import GradedPart
from concord_evaluator.observations.acts import Act, Deed
from concord_evaluator.observations.finders import values_in

# The reading order: in which order a person should read the steps of a failed trace whose cause nobody has shown.
#
# Steps come first that an observation names, then those with content of their agent's own that can be checked: values
# that nobody had said, or the use of a tool. It blames nobody, and its gain is unproven: see `docs/diagnosis.md`.

MAX_RANKED: Final = 2000
"""Acts of a trace that are ranked, from its beginning."""

MAX_NAMED_VALUES: Final = 3
"""New values that the reason for a step names."""

TASK_QUOTE: Final = 200
"""Characters of the task by which a step is recognised that only states it."""

_OBSERVED, _CHECKABLE, _REST = range(3)


def reading_order(
    acts: Sequence[Act], task: str, observations: Sequence[Observation], limit: int = MAX_READING
) -> list[ReadStep]:
    """The first `limit` steps to read. `task`: the text that the team was given, "" if unknown."""
    acts = acts[:MAX_RANKED]
    observed = {step_id: each for each in reversed(observations) for step_id in each.steps}
    ranked: dict[str, tuple[int, str, str]] = {}
    for act, (rank, reason) in zip(acts, _ranks(acts, task), strict=True):
        if (named := observed.get(act.step_id)) is not None:
            rank, reason = _OBSERVED, observation_text(named)
        known = ranked.get(act.step_id)
        if known is None or rank < known[0]:
            ranked[act.step_id] = rank, reason, act.agent if known is None else known[2]
    order = sorted(ranked, key=lambda step_id: ranked[step_id][0])
    return [ReadStep(step_id=step_id, agent=ranked[step_id][2], reason=ranked[step_id][1]) for step_id in order[:limit]]


def _ranks(acts: Sequence[Act], task: str) -> Iterator[tuple[int, str]]:
    """The rank of each act, and why. Values of the task and of earlier acts are not new."""
    seen = set(values_in(task))
    beginning = " ".join(task.split())[:TASK_QUOTE]
    for act, following in pairwise([*acts, None]):
        if act is None:
            return
        said = act.result if act.deed is Deed.MODEL else "" if act.deed is Deed.TOOL else act.text
        new = [value for value, written in values_in(said).items() if value not in seen]
        states_task = bool(beginning) and beginning in " ".join(said.split())
        if new and not states_task:
            yield (
                _CHECKABLE,
                f"is the first to say {', '.join(values_in(said)[each] for each in new[:MAX_NAMED_VALUES])}",
            )
        elif said and following is not None and following.deed is Deed.TOOL and following.result:
            yield _CHECKABLE, "uses a tool"
        else:
            yield _REST, "follows in time"
        seen.update(*map(values_in, (act.text, act.result)))


# Ties: which observations explain a part that the graders say was lost. Only these are causes.


def tied(observations: Iterable[Observation], causes: Sequence[Cause]) -> list[Observation]:
    """The observations, each with the first cause of a lost part that has a step and an agent in common with it.

    The agent may also be the one that was called.
    """
    return [each.model_copy(update={"cause": _cause_of(each, causes)}) for each in observations]


def _cause_of(observation: Observation, causes: Sequence[Cause]) -> CauseKind | None:
    if observation.cause is not None:
        return observation.cause
    steps, agents = set(observation.steps), {*observation.agents, observation.about}
    found = (each for each in causes if not (steps.isdisjoint(each.steps) or agents.isdisjoint(each.agents)))
    return next((each.kind for each in found), None)


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
                    agents=tuple(each.agents),
                    certainty="proven" if all(part.passed_alone for part in theirs) else "observed",
                    points=sum(100 / len(lost) / shared[part.agent] for part in theirs),
                    count=each.count,
                    steps=tuple(each.steps),
                    evidence=tuple(each.evidence),
                )
            )
    return causes
