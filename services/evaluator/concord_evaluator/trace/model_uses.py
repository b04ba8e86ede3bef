"""Which models the agents of a trace say that they called, and the tokens of these calls."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from concord.assessment.cost import MAX_USES, ModelUse
from concord.trace.otlp import genai
from concord.trace.step import StepFacts
from concord_evaluator.trace.columns import NONE, Steps

INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
"""Attributes of a step, in which OpenTelemetry's spans tell tokens."""

CLIENT_PREFIX: Final = "llm:"
"""What Concord's own client puts before a model's name in a step."""

_OPERATION: Final = "gen_ai.operation.name"
_NO_MODEL: Final = frozenset({"retrieval", "retriever", "reranker"})
"""Operations on an index, which genai counts among those on models."""

_MODELS: Final = genai.MODEL_OPERATIONS - _NO_MODEL


class StepUse(msgspec.Struct, frozen=True, gc=False):
    """A model call in one step; None for what the step does not tell."""

    model: str | None
    tokens: int | None
    input_tokens: int | None
    output_tokens: int | None


def use_in(step: StepFacts, attributes: Mapping[str, str]) -> StepUse | None:
    """The model call that a step of the kind `TOOL` is; None for the use of another tool. A model has an operation or
    tokens."""
    if attributes.get(_OPERATION, "chat") not in _MODELS:
        return None
    if _OPERATION not in attributes and step.total_tokens is None:
        return None
    tool = None if step.step_action is None else step.step_action.tool_invocation
    read, written = (_count(attributes.get(name)) for name in (INPUT_TOKENS, OUTPUT_TOKENS))
    told = step.total_tokens
    both = read + written if read is not None and written is not None else None
    tokens = both if both is not None else told if told is not None and told >= 0 else None
    model = None if tool is None else tool.tool_name.removeprefix(CLIENT_PREFIX) or None
    return StepUse(model, tokens, read, written)


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 15 else None


def summed_uses(users: Mapping[int, int], steps: Steps) -> Sequence[ModelUse]:
    """The calls by agent and model, most calls first; at most `MAX_USES`. `users`: by row, the code of the agent."""
    names, columns = steps.names.texts, steps.columns
    rows = np.fromiter(users, np.int64, len(users))
    facts = (columns.model, columns.model_tokens, columns.model_input, columns.model_output)
    found: defaultdict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
    for agent, model, tokens, read, written in zip(
        users.values(), *(each[rows].tolist() for each in facts), strict=True
    ):
        found[agent, model].append((tokens, read, written))
    summed = [
        ModelUse(
            agent=names[agent],
            model=None if model == NONE else names[model],
            calls=len(each),
            untold=sum(tokens == NONE for tokens, _, _ in each),
            unsplit=sum(tokens != NONE and NONE in (read, written) for tokens, read, written in each),
            tokens=sum(max(tokens, 0) for tokens, _, _ in each),
            input_tokens=sum(max(read, 0) for _, read, _ in each),
            output_tokens=sum(max(written, 0) for _, _, written in each),
        )
        for (agent, model), each in found.items()
    ]
    return sorted(summed, key=lambda use: (-use.calls, use.agent, use.model or ""))[:MAX_USES]
