"""The reading order: in which order a person should read the steps of a failed trace whose cause nobody has shown.

Steps come first that an observation in effects quotes, then those with content of their agent's own that can be
checked: new figures, or the use of a tool. It blames nobody, and its gain is unproven: see `docs/diagnosis.md`.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from concord.assessment.results import MAX_READING, Observation, ReadStep
from concord.trace.vocabulary import is_figure, words_in
from concord_evaluator.observations.acts import Act, Deed

MAX_RANKED: Final = 2000
"""Acts of a trace that are ranked, from its beginning."""

FEWEST_NEW_WORDS: Final = 5
"""New words from which on a step says something of its own."""

TASK_QUOTE: Final = 200
"""Characters of the task by which a step is recognised that only states it."""

_EFFECT, _CHECKABLE, _NEW, _REST = range(4)
_REASONS: Final = {
    _EFFECT: "an observation quotes it",
    _CHECKABLE: "brings new figures, or uses a tool",
    _NEW: "says something new",
    _REST: "brings nothing new of its agent's own",
}


def reading_order(
    acts: Sequence[Act], task: str, observations: Sequence[Observation], limit: int = MAX_READING
) -> list[ReadStep]:
    """The first `limit` steps to read. `task`: the text that the team was given, "" if unknown."""
    acts = acts[:MAX_RANKED]
    quoted = {each.step_id for found in observations for each in found.evidence}
    effects = {act.step_id for act in acts if act.effect is not None} & quoted
    ranked: dict[str, tuple[int, str]] = {}
    for act, rank in zip(acts, _ranks(acts, task), strict=True):
        best = _EFFECT if act.step_id in effects else rank
        known, _ = ranked.get(act.step_id, (_REST + 1, ""))
        ranked[act.step_id] = min(known, best), act.agent
    order = sorted(ranked, key=lambda step_id: ranked[step_id][0])
    return [
        ReadStep(step_id=step_id, agent=ranked[step_id][1], reason=_REASONS[ranked[step_id][0]])
        for step_id in order[:limit]
    ]


def _ranks(acts: Sequence[Act], task: str) -> Iterator[int]:
    """The rank of each act. Words of the task and of earlier acts are not new."""
    seen = set(words_in(task))
    beginning = " ".join(task.split())[:TASK_QUOTE]
    for act, following in pairwise([*acts, None]):
        if act is None:
            return
        said = set(words_in(act.text)) if act.deed is not Deed.TOOL else set()
        new = said - seen
        states_task = bool(beginning) and beginning in " ".join(act.text.split())
        uses_tool = following is not None and following.deed is Deed.TOOL and bool(following.result)
        if len(new) < FEWEST_NEW_WORDS:
            yield _REST
        elif not states_task and (uses_tool or any(map(is_figure, new))):
            yield _CHECKABLE
        else:
            yield _NEW
        seen |= said
        seen.update(words_in(act.result))
