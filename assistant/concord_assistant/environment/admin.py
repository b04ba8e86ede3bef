"""Calls of an environment with the admin key: load a scenario, create the assistant's key, move time, read states."""

import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from concord.trust.redaction import learn_secret
from concord_assistant.characters.models import ScheduledResponse
from concord_assistant.environment.permissions import ASSISTANT_PERMISSIONS
from concord_assistant.messages import CalendarSummary, ChatSummary, EmailSummary, InitialStateSummary, SMSSummary
from concord_assistant.scenario.schema import ScenarioConfig
from concord_environment_client import APIError, AsyncUESClient
from concord_environment_client.modalities.chat import CONVERSATION
from concord_environment_client.responses import Advanced, Event, NewKey

MAX_EVENTS: Final = 3000
"""Events of one advance that are read. Reading one takes a call."""

_PAGE: Final = 1000

_BEFORE: Final = timedelta(days=30)
_AFTER: Final = timedelta(days=240)
"""The part of the calendar whose occurrences are compared. Clocks change within it."""

_REPLIES: Final = {"email": "receive", "sms": "receive_message", "calendar": "respond", "chat": "send_message"}
"""The operations by which characters reply."""


class RefusedCall(BaseModel):
    """A call that the environment refused. `timestamp` is wall-clock time."""

    model_config = ConfigDict(frozen=True)

    timestamp: datetime
    key_id: str | None
    method: str
    path: str
    status_code: int


class ScenarioRefusedError(Exception):
    """The environment does not accept the scenario's initial state. `field`: the part that it does not accept."""

    def __init__(self, message: str, field: str = "initial_state") -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class EnvironmentAdmin:
    """The environment as the green agent uses it, by a client with the admin key. Calls raise UESClientError."""

    client: AsyncUESClient

    async def load(self, scenario: ScenarioConfig) -> datetime:
        """Replaces everything by the scenario's initial state, and starts the simulation. Returns its time.

        Raises ScenarioRefusedError.
        """
        if (await self.client.simulation.status()).is_running:
            await self.client.simulation.stop()
        await self.client.simulation.clear()
        # Key ids repeat after `clear`, so refused calls of one assistant would count as those of the next assistant.
        await self.client.access_logs.clear()
        try:
            await self.client.scenario.import_full(**scenario.initial_state)
        except APIError as error:
            field, why = _refused(error)
            raise ScenarioRefusedError(f"the environment refuses the initial state: {why}", field) from error
        await self.client.simulation.start(auto_advance=False)
        now = (await self.client.time.get_state()).current_time
        if now > scenario.start_time:
            raise ScenarioRefusedError(f"the initial state is of {now.isoformat()}, after the scenario's start")
        if now < scenario.start_time:
            now = (await self.advance(scenario.start_time - now)).current_time
        return now

    async def create_key(self, name: str) -> NewKey:
        """Creates the assistant's key. Its id names the assistant in the events."""
        key = await self.client.keys.create(name=name, permissions=list(ASSISTANT_PERMISSIONS))
        learn_secret(key.secret)
        return key

    async def revoke(self, key_id: str) -> None:
        """Revokes the assistant's key, unless it is revoked."""
        with suppress(APIError):
            await self.client.keys.revoke(key_id=key_id)

    async def prompt(self, text: str) -> None:
        """Sends the task to the assistant, as the user, in the chat."""
        await self.client.chat.send(role="user", content=text, conversation_id=CONVERSATION)

    async def advance(self, duration: timedelta) -> Advanced:
        """Moves time and executes the events that become due."""
        return await self.client.time.advance(seconds=duration.total_seconds())

    async def events(self, start: datetime, end: datetime) -> tuple[list[Event], int]:
        """The events due in [start, end] with their data, in the order of execution, and the number of further ones.

        Reads at most `MAX_EVENTS`.
        """
        found: list[Event] = []
        while True:
            page = await self.client.events.list_events(
                start_time=start, end_time=end, limit=_PAGE, offset=len(found), include_data=True
            )
            found += page.events
            if len(page.events) < _PAGE or len(found) >= MAX_EVENTS:
                break
        return found, page.total - len(found)

    async def refusals(self, key_id: str, after: datetime | None) -> list[RefusedCall]:
        """The calls of a key, and those without a valid key, that the environment refused, in their order.

        `after`: only calls that were answered later than this wall-clock time. Reads at most the latest `_PAGE`.
        """
        found = await self.client.access_logs.list_entries(errors_only=True, since=after, limit=_PAGE)
        calls = [RefusedCall.model_validate(each) for each in reversed(found["entries"])]
        return [each for each in calls if each.key_id in (key_id, None) and (after is None or each.timestamp > after)]

    async def pending(self) -> int:
        """The number of scheduled events."""
        return (await self.client.simulation.status()).pending_events

    async def schedule(self, response: ScheduledResponse) -> None:
        """Schedules a character's reply."""
        await self.client.events.create(
            scheduled_time=response.scheduled_time,
            modality=response.modality,
            data={"operation": _REPLIES[response.modality], **response.parameters},
            metadata={"character_id": response.character_id, "reply_to": response.reply_to},
        )

    async def snapshot(self) -> dict[str, Any]:
        """The state of every modality, by name, as `GET /{modality}/state` gives it."""
        return {name: _plain(await read()) for name, read in self._states().items()}

    async def occurrences(self, around: datetime) -> list[dict[str, Any]]:
        """The appointments around a time, each occurrence of a series by itself."""
        found = await self.client.calendar.query(
            start=around - _BEFORE, end=around + _AFTER, expand_recurring=True, limit=_PAGE
        )
        return [each.model_dump(mode="json") for each in found.events]

    async def summary(self) -> InitialStateSummary:
        """The counts of the core modalities."""
        email, calendar = await self.client.email.get_state(), await self.client.calendar.get_state()
        sms, chat = await self.client.sms.get_state(), await self.client.chat.get_state()
        return InitialStateSummary(
            email=EmailSummary(
                total_emails=email.total_email_count,
                total_threads=email.total_threads,
                unread=email.unread_count,
                draft_count=email.draft_count,
            ),
            calendar=CalendarSummary(
                event_count=calendar.event_count,
                calendar_count=calendar.calendar_count,
                events_today=calendar.events_today,
            ),
            sms=SMSSummary(
                total_messages=sms.total_message_count,
                total_conversations=sms.total_conversation_count,
                unread=sms.unread_count,
            ),
            chat=ChatSummary(total_messages=chat.total_message_count, conversation_count=chat.conversation_count),
        )

    def _states(self) -> Mapping[str, Callable[[], Awaitable[Any]]]:
        return {
            "email": self.client.email.get_state,
            "sms": self.client.sms.get_state,
            "calendar": self.client.calendar.get_state,
            "chat": self.client.chat.get_state,
            "contacts": self.client.contacts.get_state,
            "location": self.client.location.get_state,
            "weather": self.client.weather.get_state,
            "time": self.client.preferences.get_state,
        }


def _plain(state: Any) -> Any:  # noqa: ANN401 - JSON, or a model of it
    return state if isinstance(state, dict) else state.model_dump(mode="json")


def _refused(error: APIError) -> tuple[str, str]:
    """The field of a scenario that the environment does not accept, as far as it says so, and why."""
    first = error.detail[0] if isinstance(error.detail, list) and error.detail else None
    if not isinstance(first, Mapping):
        return "initial_state", str(error)
    steps, message = list(first.get("loc") or ())[1:], str(first.get("msg"))
    if not steps:
        named, _, rest = message.partition(": ")
        if re.fullmatch(r"[\w.]+", named):
            steps = ["scenario", *(["environment"] if named.startswith("modality_states") else []), *named.split(".")]
            inner, _, _ = rest.partition(": ")
            steps += [inner] if re.fullmatch(r"\w+", inner) else []
    parts = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps]
    return "initial_state" + "".join(parts), message
