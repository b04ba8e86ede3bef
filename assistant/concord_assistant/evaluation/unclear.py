"""What the rules do not understand: a language model decides, and the rules check what it takes from the text."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from concord_assistant.evaluation.model_criteria import ModelVerdict
from concord_assistant.meaning.saying import Judgement, Saying
from concord_assistant.scenario.evaluators import EvalResult
from concord_assistant.scenario.schema import EvaluationCriterion

UNCLEAR: Final = "unclear"
"""The key in the details of a result: what was not understood."""

_HOW: Final = """\
Rules could not tell whether the assistant's own messages say the following. Decide as a careful reader of the messages.
met: a message says it plainly. not_met: it is denied, taken back, only supposed or asked, left open, or said with
another value. cannot_tell: a reader would have to ask.
"""


def unclear_of(saying: Saying, judgement: Judgement) -> dict[str, Any]:
    """A saying that was not understood, for the details of a result."""
    return {"says": saying.model_dump(exclude_defaults=True), "values_found": judgement.has_values}


def asked_of_model(criterion: EvaluationCriterion, by_code: EvalResult) -> EvaluationCriterion:
    """The question to the model about what was not understood."""
    told = [_told(Saying.model_validate(each["says"])) for each in (by_code.details or {})[UNCLEAR]]
    return criterion.model_copy(update={"evaluation_prompt": _HOW + "\n".join(f"- {each}" for each in told)})


def is_unclear(by_code: EvalResult) -> bool:
    """Whether a result is open because messages were not understood."""
    return by_code.open > 0 and UNCLEAR in (by_code.details or {})


def decided(by_code: EvalResult, verdict: ModelVerdict) -> EvalResult:
    """The result with the model's verdict on what is open.

    What the model finds said counts only if the rules find every value of it in the text. Otherwise it stays open, as
    it does if the model finds a part of it said.
    """
    details = {**(by_code.details or {}), "model": {**verdict.details, "share": verdict.share}}
    told = f"{by_code.explanation} The model: {verdict.explanation}"
    if verdict.share == 0:
        return replace(by_code, explanation=told, details=details, open=0.0)
    if verdict.share == 1 and all(each["values_found"] for each in details[UNCLEAR]):
        return replace(by_code, score=by_code.score + by_code.open, explanation=told, details=details, open=0.0)
    return replace(by_code, explanation=f"{told} This stays open.", details=details)


def _told(saying: Saying) -> str:
    values: Mapping[str, str | list[str]] = saying.values
    named = [f"{role}: {value if isinstance(value, str) else ' or '.join(value)}" for role, value in values.items()]
    matter = f" about {' or '.join(saying.about)}" if saying.about else ""
    return f"to {saying.act}{matter}" + (f", with {'; '.join(named)}" if named else "")
