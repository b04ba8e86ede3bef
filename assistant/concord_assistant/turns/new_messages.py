"""The messages and calendar events that become new in a turn, to which characters may reply."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from concord_assistant.characters.models import NewMessages
from concord_environment_client import AsyncUESClient
from concord_environment_client.responses import CalendarEvent

MAX_NEW: Final = 1000
"""Emails, and text messages, of one turn."""

_MATERIAL: Final = ("title", "start", "end", "location", "status", "recurrence", "organizer")
"""The fields of a calendar event whose change concerns its attendees. A response to an invitation changes none."""


class NewMessageCollector:
    """Finds what became new since the last collection. Each item is new once; a changed calendar event is new again."""

    def __init__(self, client: AsyncUESClient) -> None:
        """`client`: with the admin key."""
        self._client = client
        self._since: datetime | None = None
        self._seen: set[str] = set()
        self._calendar: dict[str, str] = {}

    async def initialize(self, current_time: datetime) -> None:
        """Marks everything at `current_time` as known. Raises UESClientError."""
        self._since = current_time
        await self.collect(current_time)

    async def collect(self, new_time: datetime) -> NewMessages:
        """What is new by `new_time`, oldest first. Raises UESClientError, ValueError before `initialize`."""
        if self._since is None:
            raise ValueError("initialize the collector first")
        emails = await self._client.email.query(received_after=self._since, sort_order="asc", limit=MAX_NEW)
        messages = await self._client.sms.query(since=self._since, sort_order="asc", limit=MAX_NEW)
        calendar = await self._client.calendar.get_state()
        self._since = new_time
        return NewMessages(
            emails=self._new("email", (each.model_dump(mode="json") for each in emails.emails)),
            sms_messages=self._new("sms", (each.model_dump(mode="json") for each in messages.messages)),
            calendar_events=self._changed(calendar.events.values()),
        )

    def _new(self, modality: str, items: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        found = [item for item in items if f"{modality}:{item['message_id']}" not in self._seen]
        self._seen |= {f"{modality}:{item['message_id']}" for item in found}
        return found

    def _changed(self, events: Iterable[CalendarEvent]) -> list[dict[str, Any]]:
        found = []
        for event in events:
            document = event.model_dump(mode="json")
            attendees = sorted(str(each.get("email")) for each in event.attendees)
            content = repr([[document.get(name) for name in _MATERIAL], attendees])
            if self._calendar.get(event.event_id) != content:
                self._calendar[event.event_id] = content
                found.append(document)
        return found
