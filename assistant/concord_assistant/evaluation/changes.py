"""Changes: what differs between the initial and the final state, item by item, and who did it."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from concord_assistant.scenario.evaluators import AgentBeatsEvalContext
from concord_assistant.scenario.selectors import same

Operation = Literal["create", "update", "delete"]
Item = Mapping[str, Any]

_COLLECTIONS: Final = (
    ("email", "emails", "message_id"),
    ("sms", "messages", "message_id"),
    ("calendar", "events", "event_id"),
    ("calendar", "calendars", "calendar_id"),
    ("chat", "messages", "message_id"),
    ("contacts", "contacts", "contact_id"),
)
"""Modality, field of its state with the items (by id, or in a list), and the items' field with their id."""

_BOOKKEEPING: Final = frozenset(
    {
        *("created_at", "updated_at", "sequence", "event_ids", "event_count", "thread_id", "references"),
        *("delivered_at", "delivery_status", "read_at", "edited_at"),
    }
)
"""Fields that the environment keeps. They change with others, or by themselves."""

_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("mark_read", "mark_unread", "read", "unread"), frozenset({"is_read"})),
    **dict.fromkeys(("star", "unstar"), frozenset({"is_starred"})),
    **dict.fromkeys(("add_label", "remove_label", "label", "unlabel"), frozenset({"labels"})),
    **dict.fromkeys(("archive", "move"), frozenset({"folder"})),
    **dict.fromkeys(("add_reaction", "remove_reaction", "react"), frozenset({"reactions"})),
    "respond": frozenset({"attendees"}),
}
"""The fields that an operation changes. Any other operation may change all fields of the items that it names."""

_CONTENT: Final = (
    *("subject", "body_text", "body", "content", "title", "start", "first_name", "last_name"),
    *("from_address", "from_number", "role", "to_addresses", "to_numbers"),
)
"""Fields that an action creates an item with, and that stay as they are."""
_CREATING: Final = ("send", "receive", "create")

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
    operation: Operation
    item_id: str
    field: str | None
    before: Any
    after: Any
    item: Item
    """The item at the start; a new item at the end."""

    def described(self) -> dict[str, Any]:
        """The change for the results, with values cut to a line."""
        told: dict[str, Any] = {"modality": self.modality, "operation": self.operation, "id": self.item_id}
        if self.field is not None:
            return {**told, "field": self.field, "before": _line(self.before), "after": _line(self.after)}
        return {**told, "item": _line(next((self.item[name] for name in _CONTENT if self.item.get(name)), ""))}


class _Deed:
    """An executed operation of somebody."""

    def __init__(self, modality: str, operation: str, data: Item) -> None:
        self.modality: Final = modality
        self.operation: Final = operation
        self.data: Final = data
        self.named: Final = frozenset(_texts(data))
        """All texts of the operation, among them the ids of the items that it changes."""

    @property
    def creates(self) -> bool:
        """Whether the operation makes a new item. It then names others only as what it replies to."""
        return self.operation.startswith(_CREATING)

    def touches(self, change: Change) -> bool:
        """Whether the operation may have made the change."""
        if self.modality != change.modality:
            return False
        of_series = change.item.get("parent_event_id") in self.named
        if change.operation == "create":
            return of_series and not self.creates
        if self.creates:
            return False
        if self.operation in ("clear_conversation", "delete_calendar"):
            whole = change.item.get("conversation_id"), change.item.get("calendar_id")
            return change.operation == "delete" and any(name in self.named for name in whole)
        fields = _FIELDS.get(self.operation)
        return (change.item_id in self.named or of_series) and (fields is None or change.field in fields)

    def made(self, change: Change, edited: Container[str]) -> bool:
        """Whether the operation may have made the new item, whose fields `edited` may have changed since."""
        if not self.creates or self.modality != change.modality:
            return False
        if change.item_id in (self.data.get("message_id"), self.data.get("event_id"), self.data.get("contact_id")):
            return True
        given = [name for name in _CONTENT if self.data.get(name) is not None and name not in edited]
        return bool(given) and all(_same_content(self.data[name], change.item.get(name)) for name in given)


def all_changes(initial: Mapping[str, Any], final: Mapping[str, Any]) -> Iterator[Change]:
    """All changes of items between two states. Raises PartialStateError."""
    for modality, collection, id_field in _COLLECTIONS:
        if modality not in initial or modality not in final:
            continue
        before = _items(initial[modality], modality, collection, id_field)
        after = _items(final[modality], modality, collection, id_field)
        for item_id in sorted(before.keys() | after.keys()):
            yield from _changes_of(modality, item_id, before.get(item_id), after.get(item_id))


def changes_of_assistant(context: AgentBeatsEvalContext) -> list[Change]:
    """The changes that the assistant made. Raises PartialStateError.

    A change is the assistant's if one of its actions may have made it. If the events of all others are known, so is a
    change that none of them can have made. Messages from others are never the assistant's, because the environment
    lets it send as the user only.
    """
    own = [_Deed(*_split(entry.action), entry.parameters) for entry in context.action_log if entry.success]
    others = context.other_events
    foreign = [
        _Deed(str(event.get("modality")), str((event.get("data") or {}).get("operation")), event.get("data") or {})
        for event in others or ()
    ]
    user = _user_addresses(context.final_state)
    made = [
        change
        for change in all_changes(context.initial_state, context.final_state)
        if not _received(change, user)
        and (_any(own, change, foreign) or (others is not None and not _any(foreign, change, own)))
    ]
    return [*made, *_changes_of_arrivals(own, context, {change.item_id for change in made})]


def _changes_of_arrivals(
    own: Sequence[_Deed], context: AgentBeatsEvalContext, made: Container[str]
) -> Iterator[Change]:
    """What the assistant did to items of others that are not in the initial state, because they arrived later.

    How they arrived is not known, so a field counts as changed if it has no default value at the end.
    """
    seen: set[tuple[str, str, str | None]] = set()
    for modality, collection, id_field in _COLLECTIONS:
        if modality not in context.initial_state or modality not in context.final_state:
            continue
        before = _items(context.initial_state[modality], modality, collection, id_field)
        after = _items(context.final_state[modality], modality, collection, id_field)
        for deed in own:
            if deed.modality != modality or deed.creates:
                continue
            for item_id in _ids(deed.data, id_field):
                if item_id in before or item_id in made:
                    continue
                for change in _deeds_changes(deed, item_id, after.get(item_id), id_field):
                    if (key := (modality, item_id, change.field)) not in seen:
                        seen.add(key)
                        yield change


def _deeds_changes(deed: _Deed, item_id: str, item: Item | None, id_field: str) -> Iterator[Change]:
    if item is None:
        if deed.operation.startswith("delete"):
            yield Change(deed.modality, "delete", item_id, None, None, None, {id_field: item_id})
        return
    deleted = ("folder", "is_deleted", "status") if deed.operation.startswith("delete") else None
    for name in sorted(deleted or _FIELDS.get(deed.operation) or deed.data.keys() & item.keys() - {id_field}):
        if item.get(name) not in _DEFAULTS:
            yield Change(deed.modality, "update", item_id, name, None, item.get(name), item)


def _ids(data: Item, id_field: str) -> Iterator[str]:
    given = [data.get(id_field), *(data.get(f"{id_field}s") or ())]
    yield from (each for each in given if isinstance(each, str))


def _changes_of(modality: str, item_id: str, before: Item | None, after: Item | None) -> Iterator[Change]:
    if before is None and after is not None:
        yield Change(modality, "create", item_id, None, None, None, after)
    elif after is None and before is not None:
        yield Change(modality, "delete", item_id, None, None, None, before)
    elif before is not None and after is not None:
        for name in sorted((before.keys() | after.keys()) - _BOOKKEEPING):
            if before.get(name) != after.get(name):
                yield Change(modality, "update", item_id, name, before.get(name), after.get(name), before)


def _items(state: Any, modality: str, collection: str, id_field: str) -> dict[str, Item]:  # noqa: ANN401 - JSON
    if not isinstance(state, Mapping):
        raise PartialStateError(f"the state of {modality} is not a JSON object")
    if state.get("has_more"):
        raise PartialStateError(f"the state of {modality} is one page of several")
    items = state.get(collection) or {}
    if isinstance(items, Mapping):
        return {str(item_id): item for item_id, item in items.items()}
    return {str(item[id_field]): item for item in items}


def _received(change: Change, user: Mapping[str, str]) -> bool:
    sender = change.item.get("from_address") or change.item.get("from_number")
    if change.operation != "create":
        return False
    if change.modality == "chat":
        return change.item.get("role") != "assistant"
    return sender is not None and change.modality in user and not same(sender, user[change.modality])


def _user_addresses(state: Mapping[str, Any]) -> dict[str, str]:
    fields = {"email": "user_email_address", "sms": "user_phone_number"}
    return {modality: state[modality][name] for modality, name in fields.items() if state.get(modality, {}).get(name)}


def _any(deeds: Sequence[_Deed], change: Change, rest: Sequence[_Deed]) -> bool:
    """Whether one of the operations may have made a change. `rest`: all other operations."""
    if any(deed.touches(change) for deed in deeds):
        return True
    if change.operation != "create":
        return False
    edits = [deed for deed in (*deeds, *rest) if not deed.creates and change.item_id in deed.named]
    edited = {name for deed in edits for name in deed.data}
    return any(deed.made(change, edited) for deed in deeds)


def _split(action: str) -> tuple[str, str]:
    modality, _, operation = action.partition(".")
    return modality, operation


def _same_content(given: Any, kept: Any) -> bool:  # noqa: ANN401 - JSON
    if isinstance(given, list) and isinstance(kept, list):
        return len(given) == len(kept) and all(map(same, given, kept))
    if isinstance(given, str) and given.endswith(_CUT) and isinstance(kept, str):
        return kept.startswith(given.removesuffix(_CUT))
    return same(given, kept)


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _line(value: Any, limit: int = 120) -> Any:  # noqa: ANN401 - JSON
    if value is None or isinstance(value, bool | int | float):
        return value
    text = " ".join(str(value).split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
