"""Events of others in short form: who sent something to the user, when, and what it is about."""

from collections.abc import Mapping
from typing import Any, Final

from concord_assistant.results import OtherEvent
from concord_environment_client.responses import Event

MAX_LISTED: Final = 300
"""Events of one assessment that are listed. A working week has some dozens."""

MAX_TEXT: Final = 600
"""Characters of an event's text."""

MAX_TASK: Final = 4000
"""Characters of what the user writes in the chat, which is the task."""

MAX_NAME: Final = 200

_SENDERS: Final = ("from_address", "from_number", "attendee_email", "organizer", "role")
_TITLES: Final = ("subject", "title", "response")
_TEXTS: Final = ("body_text", "body", "content", "comment", "description")
"""The fields of the data of events, over all modalities. The first field with a text counts."""


def listed(turn: int, event: Event, data: Mapping[str, Any]) -> OtherEvent:
    """The short form of an executed event. `data`: that of the event, with all fields on one level."""
    character = event.metadata.get("character_id")
    parts = [_first(data, _TITLES), _first(data, _TEXTS)]
    text = " · ".join(part.strip() for part in parts if part)
    by_user = event.modality == "chat" and data.get("role") == "user"
    return OtherEvent(
        turn=turn,
        timestamp=event.executed_at or event.scheduled_time,
        event=_cut(f"{event.modality}.{data.get('operation', 'unknown')}", MAX_NAME),
        sender=_cut(sender, MAX_NAME) if (sender := _first(data, _SENDERS)) else None,
        character=_cut(character, MAX_NAME) if isinstance(character, str) else None,
        text=_cut(text, MAX_TASK if by_user else MAX_TEXT),
    )


def _first(data: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The first of these fields that has a text, else an empty text."""
    return next((value for name in names if isinstance(value := data.get(name), str) and value.strip()), "")


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"
