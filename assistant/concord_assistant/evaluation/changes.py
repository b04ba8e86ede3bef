"""Changes: what differs between the initial and the final state, item by item, and who did it."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from concord_assistant.evaluation.states import Item, user_address
from concord_assistant.scenario.evaluators import AgentBeatsEvalContext
from concord_assistant.scenario.selectors import same
from concord_environment_client.modalities import MODALITIES
from concord_environment_client.operations import CHANGES_ANY, Items, ModalityCalls

ItemOperation = Literal["create", "update", "delete"]
Modalities = Sequence[type[ModalityCalls[Any]]]
"""Modalities, whose declarations say what an operation does to which items."""

_DEFAULTS: Final[Sequence[Any]] = (None, False, "", [], "inbox", "confirmed")
"""Values of fields of an item that nobody has changed."""

_CUT: Final = "…"
"""The end of a text that the action log shortened."""


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

    def described(self) -> dict[str, Any]:
        """The change for the results, with values cut to a line."""
        told: dict[str, Any] = {"modality": self.modality, "operation": self.operation, "id": self.item_id}
        if self.field is not None:
            return {**told, "field": self.field, "before": _line(self.before), "after": _line(self.after)}
        return {
            **told,
            "item": _line(next((self.item[name] for name in self.items.content if self.item.get(name)), "")),
        }


class _Executed:
    """An executed operation of somebody."""

    def __init__(self, modality: type[ModalityCalls[Any]], operation: str, data: Item) -> None:
        declared = modality.operation(operation)
        self.modality: Final = modality
        self.effect: Final = CHANGES_ANY if declared is None else declared.effect
        self.data: Final = data
        self.named: Final = frozenset(texts_in(data))
        """All texts of the operation, among them the ids of the items that it changes."""

    def touches(self, change: Change) -> bool:
        """Whether the operation may have made the change."""
        if self.modality.name != change.modality:
            return False
        of_series = change.item.get("parent_event_id") in self.named
        if change.operation == "create":
            return of_series and not self.effect.creates
        if self.effect.creates:
            return False
        if self.effect.empties is not None:
            return change.operation == "delete" and change.item.get(self.effect.empties) in self.named
        fields = self.effect.changes
        return (change.item_id in self.named or of_series) and (fields is None or change.field in fields)

    def made(self, change: Change, edited: Container[str]) -> bool:
        """Whether the operation may have made the new item, whose fields `edited` may have changed since."""
        if not self.effect.creates or self.modality.name != change.modality:
            return False
        if change.item_id in (self.data.get(each.id) for each in self.modality.items):
            return True
        content = (name for each in self.modality.items for name in each.content)
        given = [name for name in content if self.data.get(name) is not None and name not in edited]
        return bool(given) and all(_same_content(self.data[name], change.item.get(name)) for name in given)


def all_changes(
    initial: Mapping[str, Any], final: Mapping[str, Any], modalities: Modalities = MODALITIES
) -> Iterator[Change]:
    """All changes of items between two states. Raises PartialStateError."""
    for modality, items, before, after in _collections(initial, final, modalities):
        for item_id in sorted(before.keys() | after.keys()):
            yield from _changes_of(modality.name, items, item_id, before.get(item_id), after.get(item_id))


def changes_of_assistant(context: AgentBeatsEvalContext, modalities: Modalities = MODALITIES) -> list[Change]:
    """The changes that the assistant made. Raises PartialStateError.

    A change is the assistant's if one of its actions may have made it. If the events of all others are known, so is a
    change that none of them can have made. Messages from others are never the assistant's, because the environment
    lets it send as the user only.
    """
    own = list(
        _executed(((entry.action, entry.parameters) for entry in context.action_log if entry.success), modalities)
    )
    others = context.other_events
    foreign = list(_executed(map(_named_event, others or ()), modalities))
    made = [
        change
        for change in all_changes(context.initial_state, context.final_state, modalities)
        if not _received(change, context.final_state)
        and (_any(own, change, foreign) or (others is not None and not _any(foreign, change, own)))
    ]
    return [*made, *_changes_of_arrivals(own, context, {change.item_id for change in made}, modalities)]


def _executed(actions: Iterable[tuple[str, Item]], modalities: Modalities) -> Iterator[_Executed]:
    by_name = {modality.name: modality for modality in modalities}
    for action, data in actions:
        modality, _, operation = action.partition(".")
        if modality in by_name:
            yield _Executed(by_name[modality], operation, data)


def _named_event(event: Mapping[str, Any]) -> tuple[str, Item]:
    data = event.get("data") or {}
    return f"{event.get('modality')}.{data.get('operation')}", data


def _changes_of_arrivals(
    own: Sequence[_Executed], context: AgentBeatsEvalContext, made: Container[str], modalities: Modalities
) -> Iterator[Change]:
    """What the assistant did to items of others that are not in the initial state, because they arrived later.

    How they arrived is not known, so a field counts as changed if it has no default value at the end.
    """
    seen: set[tuple[str, str, str | None]] = set()
    for modality, items, before, after in _collections(context.initial_state, context.final_state, modalities):
        for done in own:
            if done.modality is not modality or done.effect.creates:
                continue
            for item_id in _ids(done.data, items.id):
                if item_id in before or item_id in made:
                    continue
                for change in _changes_by(done, items, item_id, after.get(item_id)):
                    if (key := (modality.name, item_id, change.field)) not in seen:
                        seen.add(key)
                        yield change


def _changes_by(done: _Executed, items: Items, item_id: str, item: Item | None) -> Iterator[Change]:
    modality, effect = done.modality.name, done.effect
    if item is None:
        if effect.deletes is not None or effect.empties is not None:
            yield Change(modality, "delete", item_id, None, None, None, {items.id: item_id}, items)
        return
    changed = effect.changes if effect.deletes is None else effect.deletes
    for name in sorted(done.data.keys() & item.keys() - {items.id} if changed is None else changed):
        if item.get(name) not in _DEFAULTS:
            yield Change(modality, "update", item_id, name, None, item.get(name), item, items)


def _ids(data: Item, id_field: str) -> Iterator[str]:
    given = [data.get(id_field), *(data.get(f"{id_field}s") or ())]
    yield from (each for each in given if isinstance(each, str))


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


def _received(change: Change, state: Mapping[str, Any]) -> bool:
    """Whether the change is a new item from somebody other than the assistant."""
    if change.operation != "create" or change.items.sender is None:
        return False
    sender = change.item.get(change.items.sender)
    own = change.items.sent_by_assistant or user_address(state, change.modality)
    return sender is not None and own is not None and not same(sender, own)


def _any(operations: Sequence[_Executed], change: Change, rest: Sequence[_Executed]) -> bool:
    """Whether one of the operations may have made a change. `rest`: all other operations."""
    if any(done.touches(change) for done in operations):
        return True
    if change.operation != "create":
        return False
    edits = [done for done in (*operations, *rest) if not done.effect.creates and change.item_id in done.named]
    edited = {name for done in edits for name in done.data}
    return any(done.made(change, edited) for done in operations)


def _same_content(given: Any, kept: Any) -> bool:  # noqa: ANN401 - JSON
    if isinstance(given, list) and isinstance(kept, list):
        return len(given) == len(kept) and all(map(same, given, kept))
    if isinstance(given, str) and given.endswith(_CUT) and isinstance(kept, str):
        return kept.startswith(given.removesuffix(_CUT))
    return same(given, kept)


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


def _line(value: Any, limit: int = 120) -> Any:  # noqa: ANN401 - JSON
    if value is None or isinstance(value, bool | int | float):
        return value
    text = " ".join(str(value).split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
