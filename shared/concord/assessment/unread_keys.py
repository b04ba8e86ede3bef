"""The keys of a config that nothing reads: unknown ones, and those that have no meaning for its tasks."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from concord.assessment.request import AssessmentConfig
from concord.assessment.task_spec import TaskSpec
from concord.known_keys import unknown_key

_OF_FAMILIES: Final = ("seats", "topology", "difficulty", "exchange", "max_rounds")


def unread_keys(config: AssessmentConfig, tasks: Sequence[TaskSpec]) -> list[str]:
    """A sentence on each key that has no effect on these tasks; without tasks, only on unknown keys."""
    return [*_unknown(config), *(_without_effect(config, tasks) if tasks else ())]


def _unknown(config: AssessmentConfig) -> Iterator[str]:
    for key in config.unknown_keys:
        yield f"config.{key}: {unknown_key(key, [AssessmentConfig])}"


def _without_effect(config: AssessmentConfig, tasks: Sequence[TaskSpec]) -> Iterator[str]:
    if not any(task.family is not None for task in tasks):
        yield from _idle(config, _OF_FAMILIES, "none of the tasks is of a family (`suite`)")
    if not any(task.scenario is not None for task in tasks):
        yield from _idle(config, ("max_turns",), "none of the tasks is a `scenario`")
    if not any(task.is_own for task in tasks):
        yield from _idle(config, ("answer_from",), "none of the tasks has a `text`")
    if not any(task.interaction_pattern is not None for task in tasks):
        yield from _idle(
            config, ("weights",), "the score is the proven outcome; they weigh the structure of a given pattern"
        )


def _idle(config: AssessmentConfig, keys: Iterable[str], reason: str) -> Iterator[str]:
    for key in keys:
        if key in config.model_fields_set and getattr(config, key) not in (None, {}):
            yield f"config.{key} has no effect: {reason}"
