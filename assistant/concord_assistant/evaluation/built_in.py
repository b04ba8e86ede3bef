"""Built-in evaluators, which a criterion names as its `evaluator_id`: what is in the final state, and what was told."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from concord_assistant.evaluation.params import ChatParams, ItemParams, Params
from concord_assistant.evaluation.states import COLLECTIONS, Item, items_of
from concord_assistant.scenario.evaluators import AgentBeatsEvalContext, EvalResult
from concord_assistant.scenario.schema import EvaluationCriterion
from concord_assistant.scenario.selectors import contains, matches

FAULTS: Final = (ValueError, TypeError, KeyError, AttributeError)
"""What reading a state of unexpected form raises."""

MAX_SHOWN: Final = 20
"""Items that the details list."""

IDS: Final = frozenset(items.id for items in COLLECTIONS.values())
"""The fields that hold the id of an item."""

P = TypeVar("P", bound=Params)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The share of the points, from 0 to 1."""

    share: float
    explanation: str
    details: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class BuiltIn(Generic[P]):
    """An evaluator: its parameters, and what it decides."""

    params: type[P]
    evaluate: Callable[[AgentBeatsEvalContext, P], Verdict]


def is_built_in(evaluator_id: str) -> bool:
    """Whether an evaluator is built in."""
    return evaluator_id in _BUILT_IN


def check_params(criterion: EvaluationCriterion) -> None:
    """Raises ValueError if a criterion with a built-in evaluator has unsuitable `params`."""
    if criterion.evaluator_id is not None and is_built_in(criterion.evaluator_id):
        _BUILT_IN[criterion.evaluator_id].params.model_validate(criterion.params)


def evaluate_built_ins(
    criteria: Sequence[EvaluationCriterion], own: frozenset[str], context: AgentBeatsEvalContext
) -> dict[str, EvalResult | str]:
    """The results of the criteria with a built-in evaluator, by the criterion's id; instead of a result, its fault.

    `own`: the scenario's own evaluators, which replace built-in ones of the same name.
    """
    found: dict[str, EvalResult | str] = {}
    for criterion in criteria:
        name = criterion.evaluator_id
        if name is None or name in own or not is_built_in(name):
            continue
        try:
            found[criterion.criterion_id] = evaluate_built_in(criterion, context)
        except FAULTS as error:
            found[criterion.criterion_id] = str(error)
    return found


def evaluate_built_in(criterion: EvaluationCriterion, context: AgentBeatsEvalContext) -> EvalResult:
    """The result of a criterion with a built-in evaluator.

    Raises KeyError for another evaluator, ValueError for unsuitable `params` or a state that has only some items.
    """
    built_in = _BUILT_IN[criterion.evaluator_id or ""]
    verdict = built_in.evaluate(context, built_in.params.model_validate(criterion.params))
    points = round(verdict.share * criterion.max_score, 6)
    return EvalResult(points, criterion.max_score, verdict.explanation, verdict.details)


def states(text: str, fact: str | list[str]) -> bool:
    """Whether a text contains one of the wordings of a fact."""
    return any(contains(text, wording) for wording in ([fact] if isinstance(fact, str) else fact))


def _item_exists(context: AgentBeatsEvalContext, params: ItemParams) -> Verdict:
    found = [item for item in _items(context, params.modality, new=params.new) if matches(item, params.where)]
    most = "" if params.max_count is None else f" and at most {params.max_count}"
    met = params.min_count <= len(found) and (params.max_count is None or len(found) <= params.max_count)
    told = f"{len(found)} items of {params.modality} fit; at least {params.min_count}{most} should."
    return Verdict(float(met), told, {"items": [_id_of(item) for item in found[:MAX_SHOWN]]})


def _told_to_user(context: AgentBeatsEvalContext, params: ChatParams) -> Verdict:
    """The share of facts that one message of the assistant contains: the highest share of all messages."""
    said = (_text_of(each) for each in _items(context, "chat", new=True) if each.get("role") == "assistant")
    texts = [text for text in said if len(text) <= params.max_characters]
    best = max(([fact for fact in params.contains if states(text, fact)] for text in texts), key=len, default=[])
    missing = [fact for fact in params.contains if fact not in best]
    facts = len(params.contains)
    told = f"The assistant told its user {len(best)} of {facts} facts in one message."
    return Verdict(len(best) / facts, told, {"missing": missing})


def _items(context: AgentBeatsEvalContext, modality: str, *, new: bool) -> list[Item]:
    """The items of a modality in the final state."""
    initial = {_id_of(item) for item in items_of(context.initial_state, modality)} if new else set()
    return [item for item in items_of(context.final_state, modality) if _id_of(item) not in initial]


def _id_of(item: Item) -> str:
    return next((str(item[name]) for name in sorted(IDS) if item.get(name)), "")


def _text_of(item: Item) -> str:
    """The text of a chat message, which may have parts."""
    content = item.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return str(content or "")


_BUILT_IN: Final[Mapping[str, BuiltIn[Any]]] = {
    "item_exists": BuiltIn(ItemParams, _item_exists),
    "user_told": BuiltIn(ChatParams, _told_to_user),
}

BUILT_IN: Final = tuple(_BUILT_IN)
"""The names of all built-in evaluators."""
