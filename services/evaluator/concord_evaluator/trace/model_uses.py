"""Which models the agents of a trace say that they called, and the tokens of these calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from msgspec import UNSET, UnsetType

from concord.assessment.cost import MAX_USES, ModelUse
from concord.trace.otlp import genai
from concord.trace.step import StepFacts
from concord_evaluator.trace.cases import cases
from concord_evaluator.trace.columns import NONE, Codes, Steps
from concord_evaluator.trace.lean_steps import LeanStep
from concord_evaluator.trace.trees import Numbers

CLIENT_PREFIX: Final = "llm:"
"""What Concord's own client puts before a model's name in a step."""

_LOW: Final = 2**32 - 1
_OPERATION: Final = "gen_ai.operation.name"
_NO_MODEL: Final = frozenset({"retrieval", "retriever", "reranker"})
"""Operations on an index, which genai counts among those on models."""

_MODELS: Final = genai.MODEL_OPERATIONS - _NO_MODEL


def calls_model(step: StepFacts, attributes: Mapping[str, str]) -> bool:
    """Whether a step of the kind `TOOL` is the call of a model, and not the use of another tool."""
    return _is_model(step.total_tokens, attributes.get(_OPERATION))


def lean_calls_model(step: LeanStep) -> bool:
    """The same of a lean step."""
    operation = step.additional_attributes.operation
    return _is_model(step.total_tokens, None if operation is UNSET else operation)


def _is_model(told: int | None, operation: str | None) -> bool:
    """A model has an operation or tokens."""
    return told is not None if operation is None else operation in _MODELS


def model_in(step: LeanStep) -> str:
    """The name of the model that a step called; empty if the step does not tell it."""
    used = None if step.step_action is None else step.step_action.tool_invocation
    return "" if used is None else used.tool_name.removeprefix(CLIENT_PREFIX)


def counts_of(told: Sequence[str | UnsetType]) -> Numbers:
    """The tokens that attributes tell; `NONE` for those that are no count."""
    return np.fromiter([NONE if each is UNSET else _count(each) for each in told], np.int64, len(told))


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else NONE


@dataclass(frozen=True, slots=True)
class Users:
    """`row`: of each model call; `agent`: the code of the agent that made it."""

    row: Numbers
    agent: Codes


def summed_uses(users: Users, steps: Steps) -> Sequence[ModelUse]:
    """The calls by agent and model, most calls first; at most `MAX_USES`."""
    names, columns = steps.names.texts, steps.columns
    first, case = cases(users.agent, columns.model[users.row])
    tokens, read, written = (
        each[users.row] for each in (columns.model_tokens, columns.model_input, columns.model_output)
    )
    untold = tokens == NONE
    counted = (np.ones(len(case), np.bool_), untold, ~untold & ((read == NONE) | (written == NONE)))
    counts = [np.bincount(case[each], minlength=len(first)).tolist() for each in counted]
    sums = [_sums(np.maximum(each, 0), case, len(first)) for each in (tokens, read, written)]
    ends = zip(users.agent[first].tolist(), columns.model[users.row[first]].tolist(), strict=True)
    summed = [
        ModelUse(
            agent=names[agent],
            model=None if model == NONE else names[model],
            calls=calls,
            untold=untold,
            unsplit=unsplit,
            tokens=total,
            input_tokens=into,
            output_tokens=out_of,
        )
        for (agent, model), calls, untold, unsplit, total, into, out_of in zip(ends, *counts, *sums, strict=True)
    ]
    return sorted(summed, key=lambda use: (-use.calls, use.agent, use.model or ""))[:MAX_USES]


def _sums(amounts: Numbers, case: Numbers, n_cases: int) -> list[int]:
    """The sum of each case. Adds the halves of the numbers, since whole ones of 63 bits would overflow."""
    low, high = np.zeros((2, n_cases), np.int64)
    amounts = amounts.astype(np.int64)
    np.add.at(low, case, amounts & _LOW)
    np.add.at(high, case, amounts >> 32)
    return [(above << 32) + below for above, below in zip(high.tolist(), low.tolist(), strict=True)]
