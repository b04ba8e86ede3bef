"""Changes: what differs between the initial and the final state, item by item."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from concord_assistant.evaluation.states import Item
from concord_environment_client.modalities import MODALITIES
from concord_environment_client.operations import Items, ModalityCalls

ItemOperation = Literal["create", "update", "delete"]
Modalities = Sequence[type[ModalityCalls[Any]]]
"""Modalities, whose declarations say what an operation does to which items."""


class PartialStateError(ValueError):
    """A state has only some of its items, so that no changes can be told."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one item. An update has one change for each field, with its values."""

    modality: str
    operation: ItemOperation
    item_id: str
    field: str | None
    before: Any
    after: Any
    item: Item
    """The item at the start; a new item at the end."""
    items: Items
    """The collection of the item."""


def all_changes(
    initial: Mapping[str, Any], final: Mapping[str, Any], modalities: Modalities = MODALITIES
) -> Iterator[Change]:
    """All changes of items between two states. Raises PartialStateError."""
    for modality, items, before, after in _collections(initial, final, modalities):
        for item_id in sorted(before.keys() | after.keys()):
            yield from _changes_of(modality.name, items, item_id, before.get(item_id), after.get(item_id))


def _changes_of(modality: str, items: Items, item_id: str, before: Item | None, after: Item | None) -> Iterator[Change]:
    if before is None and after is not None:
        yield Change(modality, "create", item_id, None, None, None, after, items)
    elif after is None and before is not None:
        yield Change(modality, "delete", item_id, None, None, None, before, items)
    elif before is not None and after is not None:
        for name in sorted((before.keys() | after.keys()) - items.kept):
            if before.get(name) != after.get(name):
                yield Change(modality, "update", item_id, name, before.get(name), after.get(name), before, items)


def _collections(
    initial: Mapping[str, Any], final: Mapping[str, Any], modalities: Modalities
) -> Iterator[tuple[type[ModalityCalls[Any]], Items, dict[str, Item], dict[str, Item]]]:
    """The collections that both states have, with their items by id. Raises PartialStateError."""
    for modality in modalities:
        if modality.name in initial and modality.name in final:
            for items in modality.items:
                before, after = (_items(state[modality.name], modality.name, items) for state in (initial, final))
                yield modality, items, before, after


def _items(state: Any, modality: str, items: Items) -> dict[str, Item]:  # noqa: ANN401 - JSON
    if not isinstance(state, Mapping):
        raise PartialStateError(f"the state of {modality} is not a JSON object")
    if state.get("has_more"):
        raise PartialStateError(f"the state of {modality} is one page of several")
    found = state.get(items.collection) or {}
    if isinstance(found, Mapping):
        return {str(item_id): item for item_id, item in found.items()}
    return {str(item[items.id]): item for item in found}


def texts_in(value: object) -> Iterator[str]:
    """The texts in a JSON value, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from texts_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts_in(each)
