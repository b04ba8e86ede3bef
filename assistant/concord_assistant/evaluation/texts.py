"""The verdict of a criterion on a text alone, without the world in which somebody wrote it."""

from collections.abc import Sequence

from concord_assistant.evaluation.built_in import sayings_of, states
from concord_assistant.meaning.saying import Judgement, judge_all
from concord_assistant.scenario.schema import EvaluationCriterion


class NoTextError(ValueError):
    """A criterion reads no text by rules."""


def verdict_on(criterion: EvaluationCriterion, text: str) -> Judgement:
    """Whether a text says all that a criterion asks a message to say. Raises NoTextError."""
    params = sayings_of(criterion)
    if params is None or not (params.says or params.contains):
        raise NoTextError(f"criterion {criterion.criterion_id} reads no text by rules")
    if len(text) > params.max_characters:
        return Judgement("wrong", f"it is longer than {params.max_characters} characters")
    if missing := [fact for fact in params.contains if not states(text, fact)]:
        return Judgement("wrong", f"it does not contain {missing[0]}")
    return _all_of(judge_all(text, params.says))


def _all_of(judged: Sequence[Judgement]) -> Judgement:
    for understood in ("wrong", "not_understood"):
        if first := next((each for each in judged if each.understood == understood), None):
            return first
    return Judgement("right", "it says all of it")
