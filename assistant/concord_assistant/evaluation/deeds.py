"""The deeds of an assistant: its executed actions, each with the items that it made or changed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from concord_assistant.evaluation.states import COLLECTIONS, Item, items_of
from concord_assistant.scenario.evaluators import AgentBeatsEvalContext
from concord_assistant.scenario.safety import ActionPattern
from concord_assistant.scenario.selectors import matches
from concord_environment_client.modalities import MODALITIES
from concord_environment_client.operations import CHANGES_ANY

_MODALITIES: Final = {each.name: each for each in MODALITIES}


@dataclass(frozen=True, slots=True)
class Deed:
    """An executed action. `items`: of the items that it changes, as they were; of what it makes, the parameters."""

    place: int
    """In the action log, from 1."""
    action: str
    turn: int
    items: tuple[Item, ...]

    def fits(self, pattern: ActionPattern) -> bool:
        """Whether it is one of the actions that a scenario describes."""
        return self.action == pattern.action and any(matches(item, pattern.where) for item in self.items)


@dataclass(frozen=True, slots=True)
class Belongings:
    """The items that are the user's: those of the start, and those that others sent; by modality and id."""

    items: Mapping[tuple[str, str], Item]

    def find(self, modality: str, item_id: str) -> Item | None:
        """An item as it was at the start, or as it arrived."""
        return self.items.get((modality, item_id))


def belongings_of(context: AgentBeatsEvalContext) -> Belongings:
    """All items of the user in the scenario."""
    found: dict[tuple[str, str], Item] = {}
    for event in context.other_events or ():
        modality, data = str(event.get("modality")), event.get("data") or {}
        if modality in COLLECTIONS and (item_id := data.get(COLLECTIONS[modality].id)):
            found.setdefault((modality, str(item_id)), data)
    for modality, items in COLLECTIONS.items():
        for item in items_of(context.initial_state, modality):
            found[modality, str(item.get(items.id))] = item
    return Belongings(found)


def deeds_of(context: AgentBeatsEvalContext, belongings: Belongings) -> list[Deed]:
    """The executed actions of the assistant, in their order."""
    return list(_deeds(context, belongings))


def _deeds(context: AgentBeatsEvalContext, belongings: Belongings) -> Iterator[Deed]:
    whole = _whole_texts(context)
    for place, entry in enumerate(context.action_log, start=1):
        modality, _, operation = entry.action.partition(".")
        if not entry.success or modality not in _MODALITIES:
            continue
        declared = _MODALITIES[modality].operation(operation)
        effect = CHANGES_ANY if declared is None else declared.effect
        parameters: Item = entry.parameters
        items: tuple[Item, ...]
        if effect.creates:
            parameters = whole.get((modality, str(parameters.get("message_id")))) or parameters
            items = (parameters,)
        else:
            named = (belongings.find(modality, item_id) for item_id in ids_in(modality, parameters))
            items = tuple(item for item in named if item is not None)
        yield Deed(place, entry.action, entry.turn, items)


def ids_in(modality: str, parameters: Item) -> list[str]:
    """The ids of the items that an action names."""
    field = COLLECTIONS[modality].id if modality in COLLECTIONS else ""
    given = [parameters.get(field), *(parameters.get(f"{field}s") or ())]
    return [each for each in given if isinstance(each, str)]


def _whole_texts(context: AgentBeatsEvalContext) -> dict[tuple[str, str], Item]:
    """The messages at the end, whose texts the action log may have cut."""
    return {
        (modality, str(item.get(COLLECTIONS[modality].id))): item
        for modality in ("email", "sms")
        for item in items_of(context.final_state, modality)
    }


def attendees_of(item: Item) -> list[str]:
    """The addresses of the people who are invited to an event."""
    return [str(each["email"]) for each in item.get("attendees") or () if isinstance(each, dict) and each.get("email")]
