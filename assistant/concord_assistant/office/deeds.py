"""What an assistant did in a day: what it sent to whom, from its log, whether or not it is deleted later."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from concord_assistant.office.forms import SentForm, read_form, standing
from concord_assistant.office.plan import DayPlan, Desk
from concord_assistant.office.values import plain_address
from concord_assistant.results import ActionLogEntry
from concord_assistant.turns.action_log import MAX_TEXT

Item = Mapping[str, Any]

_RECEIVERS: Final = ("to_addresses", "cc_addresses", "bcc_addresses", "to_numbers")
_TEXTS: Final = (
    *("subject", "body_text", "body_html", "reply_to_address", "body"),
    *("title", "description", "location", "conference_link", "color", "timezone", "comment"),
)
_PARTS: Final = ("attachments", "attendees")
_ADDRESS: Final = "email"
"""The field of an attendee who is a receiver."""

_MESSAGES: Final = frozenset({"email.send", "sms.send_message"})
_INVITATIONS: Final = frozenset({"calendar.create", "calendar.update", "calendar.respond"})


@dataclass(frozen=True, slots=True)
class SentItem:
    """A message, an invitation, a response or a chat message of the assistant, as executed.

    `receivers`: addresses and numbers in one spelling, without the user's own; none of a chat message.
    """

    place: int
    turn: int
    at: datetime
    action: str
    receivers: tuple[str, ...]
    texts: tuple[str, ...]
    cut: bool
    """Whether the log has only the beginning of a text."""

    @property
    def text(self) -> str:
        """All its texts."""
        return "\n".join(self.texts)


def sent_in(log: Sequence[ActionLogEntry], plan: DayPlan, events: Mapping[str, Item]) -> list[SentItem]:
    """What an assistant sent, in the order of execution. `events`: the calendar's, by id."""
    own = {plain_address(each) for each in plan.user}
    return [
        SentItem(
            place,
            entry.turn,
            entry.timestamp,
            entry.action,
            tuple(each for each in dict.fromkeys(map(plain_address, _reached(entry, events))) if each not in own),
            tuple(_texts(entry.parameters)),
            any(isinstance(each, str) and len(each) >= MAX_TEXT for each in entry.parameters.values()),
        )
        for place, entry in enumerate(log, start=1)
        if entry.success and not entry.parameters.get("is_draft") and _is_sent(entry)
    ]


def is_chat(entry: ActionLogEntry) -> bool:
    """Whether an action is a message to the user."""
    return entry.action == "chat.send_message"


def _is_sent(entry: ActionLogEntry) -> bool:
    return entry.action in _MESSAGES or entry.action in _INVITATIONS or is_chat(entry)


def forms_to(desk: Desk, sent: Sequence[SentItem]) -> list[SentForm]:
    """The forms that a desk got, valid and invalid ones."""
    address = plain_address(desk.address)
    return [
        SentForm(each.at, each.place, *read_form(desk, each.text))
        for each in sent
        if each.action in _MESSAGES and address in each.receivers
    ]


def standing_at(plan: DayPlan, desk: Desk, sent: Sequence[SentItem]) -> dict[str, SentForm]:
    """The forms that stand at a desk, by reference, without those that a later form cancels elsewhere."""
    kept = standing(desk, forms_to(desk, sent))
    for other in plan.desks:
        if other.cancels == desk.desk_id:
            for form in standing(other, forms_to(other, sent)).values():
                reference = form.values[other.reference]
                if reference in kept and kept[reference].place < form.place:
                    del kept[reference]
    return kept


def _reached(entry: ActionLogEntry, events: Mapping[str, Item]) -> Iterator[str]:
    data = entry.parameters
    for name in _RECEIVERS:
        yield from map(str, data.get(name) or ())
    if entry.action in _INVITATIONS:
        event = events.get(str(data.get("event_id")), {})
        if entry.action == "calendar.respond":
            yield from [str(event["organizer"])] if event.get("organizer") else []
        else:
            yield from attendees_of(data)
            yield from attendees_of(event)


def attendees_of(event: Item) -> list[str]:
    """The addresses of the people who are invited to an event."""
    return [str(each["email"]) for each in event.get("attendees") or () if isinstance(each, dict) and each.get("email")]


def _texts(data: Item) -> Iterator[str]:
    for name in _TEXTS:
        if isinstance(data.get(name), str):
            yield data[name]
    for each in (part for name in _PARTS for part in data.get(name) or () if isinstance(part, dict)):
        yield from (value for name, value in each.items() if isinstance(value, str) and name != _ADDRESS)
    if isinstance(data.get("content"), str):
        yield data["content"]
    elif isinstance(data.get("content"), list):
        yield from (str(part["text"]) for part in data["content"] if isinstance(part, dict) and part.get("text"))
