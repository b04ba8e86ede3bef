"""The actions that the evidence of a lost criterion names, by their places in the action log."""

from collections.abc import Sequence
from typing import Final

from concord_assistant.evaluation.changes import texts_in
from concord_assistant.evaluation.deeds import attendees_of, ids_in
from concord_assistant.results import ActionLogEntry, CriterionResult
from concord_assistant.scenario.schema import EvaluationCriterion, ScenarioConfig
from concord_assistant.scenario.selectors import recipients
from concord_environment_client.modalities import MODALITIES

MAX_NAMED: Final = 20
"""Actions of a criterion."""

_MODALITIES: Final = {each.name: each for each in MODALITIES}
_CREATED_IN: Final = {"user_told": "chat"}
"""Where the built-in evaluators look for a new message."""


def with_named_actions(
    results: Sequence[CriterionResult], scenario: ScenarioConfig, log: Sequence[ActionLogEntry]
) -> list[CriterionResult]:
    """The results, each lost one with the places of the actions that its evidence names.

    A failed action is named if it tried what the criterion asks for, and no later one of its kind did that.
    """
    criteria = {each.criterion_id: each for each in scenario.criteria}
    return [
        each.model_copy(update={"actions": _named(criteria[each.criterion_id], scenario, log)}) if each.lost else each
        for each in results
    ]


def _named(criterion: EvaluationCriterion, scenario: ScenarioConfig, log: Sequence[ActionLogEntry]) -> list[int]:
    wanted = _wanted(criterion, scenario)
    names = [_names(entry) for entry in log]
    done = {
        (entry.action, name): place for place, entry in enumerate(log) if entry.success for name in ("", *names[place])
    }
    found = []
    for place, entry in enumerate(log):
        if entry.success:
            continue
        tried = wanted & names[place] if names[place] else {""} if _may_do(entry.action, criterion) else set[str]()
        if any(done.get((entry.action, name), -1) < place for name in tried):
            found.append(place + 1)
    return found[:MAX_NAMED]


def _wanted(criterion: EvaluationCriterion, scenario: ScenarioConfig) -> set[str]:
    """What a criterion asks for: the ids and addresses in its parameters, and the addresses of characters in them."""
    texts = set(texts_in(criterion.params))
    named = [character for name, character in scenario.characters.items() if name in texts]
    addresses = {address for each in named for address in (each.email, each.phone) if address}
    return set(map(str.casefold, texts | addresses))


def _names(entry: ActionLogEntry) -> set[str]:
    """What an action names: its items, the people it reaches, and for a done one itself with its turn.

    Empty for a call that the environment refused, of which only the path is known.
    """
    modality = entry.action.partition(".")[0]
    named = [*ids_in(modality, entry.parameters), *recipients(entry.parameters), *attendees_of(entry.parameters)]
    if entry.success:
        named.append(f"turn {entry.turn}: {entry.action}")
    return set(map(str.casefold, named))


def _may_do(action: str, criterion: EvaluationCriterion) -> bool:
    """Whether such an action may make what a criterion asks for."""
    modality, _, operation = action.partition(".")
    created_in = _CREATED_IN.get(criterion.evaluator_id or "")
    declared = _MODALITIES[modality].operation(operation) if modality in _MODALITIES else None
    if created_in is not None:
        return modality == created_in and declared is not None and declared.effect.creates
    return declared is not None and modality == criterion.params.get("modality")
