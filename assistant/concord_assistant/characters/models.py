"""Messages that the environment's people receive, and the replies that they send."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class NewMessages:
    """What became new in a turn, as the environment's clients give it, in order of simulated time."""

    emails: list[dict[str, Any]] = field(default_factory=list)
    sms_messages: list[dict[str, Any]] = field(default_factory=list)
    calendar_events: list[dict[str, Any]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.emails) + len(self.sms_messages) + len(self.calendar_events)


@dataclass(frozen=True, slots=True)
class ScheduledResponse:
    """A character's reply: `parameters` are the fields of the modality's `receive` or `respond` call."""

    character_id: str
    modality: Literal["email", "sms", "chat", "calendar"]
    scheduled_time: datetime
    parameters: dict[str, Any]
    reply_to: str
    """The id of the message or calendar event."""
    source: Literal["model", "replay", "rule"]
    """Who worded it."""
