"""What an oracle changes: all other items of the user are protected. Read from a scenario's `oracle.json`."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from concord_assistant.scenario.safety import ItemSelector
from concord_environment_client.modalities import MODALITIES
from concord_environment_client.operations import Items, ModalityCalls

_MODALITIES: Final = {each.name: each for each in MODALITIES}
_PROTECTED: Final = ("email", "sms", "calendar")


def oracle_items(document: Mapping[str, Any]) -> list[ItemSelector]:
    """The items that the actions of an oracle change. Raises ValueError, KeyError or TypeError for another document."""
    return [selector for action in document["actions"] for selector in _selectors(action)]


def _selectors(action: Mapping[str, Any]) -> Iterator[ItemSelector]:
    modality, _, operation = str(action["action"]).partition(".")
    calls = _MODALITIES.get(modality)
    declared = None if calls is None else calls.operation(operation)
    if calls is None or modality not in _PROTECTED or (declared is not None and declared.effect.creates):
        return
    for named in _named(calls, action["parameters"]):
        if isinstance(named, Mapping):
            yield ItemSelector.model_validate({"modality": named["find"], "where": named.get("where", {})})
        else:
            yield ItemSelector.model_validate({"modality": modality, "where": {calls.items[0].id: named}})


def _named(calls: type[ModalityCalls[Any]], parameters: Mapping[str, Any]) -> Iterator[str | Mapping[str, Any]]:
    """The ids that an action names, and the placeholders in the place of ids."""
    items: Items = calls.items[0]
    for given in (parameters.get(items.id), parameters.get(f"{items.id}s")):
        yield from given if isinstance(given, list) else () if given is None else (given,)
