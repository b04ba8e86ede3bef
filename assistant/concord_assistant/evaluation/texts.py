"""The verdict of a criterion on a text alone, without the world in which somebody wrote it."""

from collections.abc import Sequence

from concord_assistant.characters.brief import brief_of
from concord_assistant.evaluation.built_in import params_of
from concord_assistant.evaluation.params import ChatParams, LedgerParams, MessageParams
from concord_assistant.evaluation.said import states
from concord_assistant.meaning.judging import judge_all
from concord_assistant.meaning.saying import Judgement
from concord_assistant.meaning.understanding import has_values, understood
from concord_assistant.scenario.schema import EvaluationCriterion, ScenarioConfig


class NoTextError(ValueError):
    """A criterion reads no text by rules."""


def verdict_on(scenario: ScenarioConfig, criterion: EvaluationCriterion, text: str) -> Judgement:
    """Whether a text says all that a criterion asks for, or makes a character do it. Raises NoTextError."""
    params = params_of(criterion)
    if isinstance(params, LedgerParams):
        return _acted_on(scenario, params, text)
    if not isinstance(params, MessageParams | ChatParams) or not (params.says or params.contains):
        raise NoTextError(f"criterion {criterion.criterion_id} reads no text by rules")
    if len(text) > params.max_characters:
        return Judgement("wrong", f"it is longer than {params.max_characters} characters")
    if missing := [fact for fact in params.contains if not states(text, fact)]:
        return Judgement("wrong", f"it does not contain {missing[0]}")
    return _all_of(judge_all(text, params.says))


def _acted_on(scenario: ScenarioConfig, params: LedgerParams, text: str) -> Judgement:
    """Whether a character who gets a text does what it should."""
    acts = brief_of(scenario.characters[params.character]).acts
    known = next((each for each in acts if each.act == params.says.act), None)
    found = None if known is None else understood(text, known.example, many=known.many)
    if found is None or found.outcome == "nothing":
        return Judgement("wrong", f"{params.character} understands nothing to {params.says.act}")
    if found.outcome == "unclear":
        return Judgement("not_understood", f"{params.character} asks back")
    first, *others = found.values
    done = [{first: value, **{role: found.values[role][0] for role in others}} for value in found.values[first]]
    right = all(has_values(each, params.says) for each in done) and len(done) <= params.max_count
    told = ", ".join(" ".join(each.values()) for each in done)
    return Judgement("right" if right else "wrong", f"{params.character} does so with {told}")


def _all_of(judged: Sequence[Judgement]) -> Judgement:
    for verdict in ("wrong", "not_understood"):
        if first := next((each for each in judged if each.understood == verdict), None):
            return first
    return Judgement("right", "it says all of it")
