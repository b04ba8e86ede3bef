"""The model calls of steps, one by one."""

from collections.abc import Mapping
from dataclasses import dataclass

from concord.trace.stored_step import Step
from concord_evaluator.trace.reading import CLIENT_PREFIX, INPUT_TOKENS, OUTPUT_TOKENS, calls_model


@dataclass(frozen=True, slots=True)
class StepUse:
    """A model call in one step; None for what the step does not tell."""

    model: str | None
    tokens: int | None
    input_tokens: int | None
    output_tokens: int | None


def use_in(step: Step, attributes: Mapping[str, str]) -> StepUse | None:
    """The model call that the use of a tool is; None if it is none."""
    if not calls_model(step, attributes):
        return None
    tool = None if step.step_action is None else step.step_action.tool_invocation
    model = None if tool is None else tool.tool_name.removeprefix(CLIENT_PREFIX) or None
    told, read, written = step.total_tokens, _count(attributes.get(INPUT_TOKENS)), _count(attributes.get(OUTPUT_TOKENS))
    both = read + written if read is not None and written is not None else None
    tokens = both if both is not None else told if told is not None and told >= 0 else None
    return StepUse(model, tokens, read, written)


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 15 else None
