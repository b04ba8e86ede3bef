"""What the scorer of an own task tells of a wrong answer: the right value, and the values that may be the wrong one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from concord.assessment import TaskSpec
from concord.assessment.task_spec import ExactScorer, IncludesScorer, JsonScorer, MatchScorer, NumericScorer
from concord_evaluator.own_tasks.values import (
    TextValue,
    Token,
    ValueKind,
    name_of,
    names_in,
    spelled,
    tokens_in,
)
from concord_evaluator.scorers.json_scorer import wrong_values

_MOST_WORDS: Final = 4
"""Words of a target that is one value; a longer one is free text."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One value that an answer should have.

    `right`: its accepted readings. `stated`: the values of its kinds that the answer has instead. `alone`: whether the
    answer has a place for the value, so that what stands there is meant as such. `explained`: other values that are
    right in the same answer.
    """

    right: frozenset[TextValue]
    stated: tuple[Token, ...]
    alone: bool = False
    explained: frozenset[TextValue] = frozenset()

    @property
    def kinds(self) -> frozenset[ValueKind]:
        """The kinds of the right value."""
        return frozenset(value.kind for value in self.right)


def references(task: TaskSpec, answer: str) -> list[Reference]:
    """The values that a wrong answer should have. Empty where the task has no target, or one that is free text."""
    if isinstance(task.scorer, JsonScorer):
        return list(_of_json(task.scorer, answer))
    targets = [value_of(target) for target in task.target or []]
    if task.scorer is None or not targets or not all(targets):
        return []
    if isinstance(task.scorer, IncludesScorer) and task.scorer.match_all:
        return list(_of_all(targets, answer))
    right = frozenset[TextValue]().union(*targets)
    found = _reference(right, answer, *_place(task, answer))
    return [replace(found, stated=found.stated[-1:]) if isinstance(task.scorer, NumericScorer) else found]


def value_of(text: str) -> frozenset[TextValue]:
    """All readings of a text that is one value, apart from up to three words around it. Empty for free text."""
    if len(text.split()) > _MOST_WORDS:
        return frozenset()
    found = list(tokens_in(spelled(text)))
    if not found:
        return name_of(text.strip())
    longest = max(len(token.text) for token in found)
    kinds = {value.kind for token in found if len(token.text) == longest for value in token.readings}
    return frozenset(value for token in found for value in token.readings if value.kind in kinds)


def _place(task: TaskSpec, answer: str) -> tuple[str, bool]:
    """The part of an answer that the scorer compares, and whether it is one value."""
    match task.scorer:
        case ExactScorer() | MatchScorer(location="exact"):
            return answer, len(answer.split()) <= _MOST_WORDS
        case NumericScorer() | MatchScorer(location="end"):
            return answer.rstrip().rpartition("\n")[2], False
    return answer, False


def _of_json(scorer: JsonScorer, answer: str) -> Iterator[Reference]:
    wrong = wrong_values(scorer, answer)
    unequal = [wanted for wanted, _ in wrong]
    explained = frozenset[TextValue]().union(
        *(value_of(str(value)) for value in scorer.values.values() if value not in unequal and _is_one(value))
    )
    for wanted, found in wrong:
        if _is_one(wanted) and (right := value_of(str(wanted))):
            readings = value_of(str(found)) if _is_one(found) else frozenset()
            stated = (Token(readings, str(found)),) if readings else ()
            yield Reference(right, stated, alone=True, explained=explained - right)


def _is_one(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _of_all(targets: Sequence[frozenset[TextValue]], answer: str) -> Iterator[Reference]:
    """The missing ones of several wanted values. Only for a single one it is clear what the answer has instead."""
    present = frozenset(_values_in(answer))
    missing = [target for target in targets if not target & present]
    for target in missing:
        explained = frozenset[TextValue]().union(*targets) - target
        found = _reference(target, answer, answer, False)
        stated = found.stated if len(missing) == 1 else ()
        yield Reference(target, tuple(each for each in stated if not each.readings & explained), False, explained)


def _reference(right: frozenset[TextValue], answer: str, place: str, alone: bool) -> Reference:
    kinds = {value.kind for value in right}
    tokens = [*tokens_in(spelled(place)), *(names_in(place) if ValueKind.NAME in kinds else ())]
    if right & frozenset(_values_in(answer)):
        return Reference(right, (), alone)
    stated = {token.readings: token for token in tokens if any(value.kind in kinds for value in token.readings)}
    return Reference(right, tuple(stated.values()), alone)


def _values_in(text: str) -> Iterable[TextValue]:
    return (value for token in (*tokens_in(spelled(text)), *names_in(text)) for value in token.readings)
