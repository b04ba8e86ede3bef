"""Who answers the assistant: a scenario's characters, or the people of a planned day."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from concord_assistant.characters.generator import ResponseGenerator
from concord_assistant.characters.models import ScheduledResponse
from concord_assistant.office.people import PlannedPeople
from concord_assistant.results import ActionLogEntry, UserFault
from concord_assistant.turns.new_messages import NewMessageCollector
from concord_environment_client import AsyncUESClient


class Correspondents(Protocol):
    """The people of one assessment."""

    @property
    def faults(self) -> list[UserFault]:
        """Their faults so far, for which the assistant is not to blame."""

    async def begin(self, now: datetime) -> None:
        """Takes everything in the environment as known. Raises UESClientError."""

    async def replies(
        self, done: Sequence[ActionLogEntry], window: tuple[datetime, datetime], turn: int
    ) -> list[ScheduledResponse]:
        """What arrives in `window`, (earliest, latest], after a turn's actions. Raises UESClientError."""


class Characters:
    """The characters of a scenario, who read what is new in the environment."""

    def __init__(self, client: AsyncUESClient, generator: ResponseGenerator) -> None:
        self._collector = NewMessageCollector(client)
        self._generator = generator

    @property
    def faults(self) -> list[UserFault]:
        """See `Correspondents`."""
        return self._generator.faults

    async def begin(self, now: datetime) -> None:
        """See `Correspondents`."""
        await self._collector.initialize(now)

    async def replies(
        self,
        done: Sequence[ActionLogEntry],  # noqa: ARG002 - one signature
        window: tuple[datetime, datetime],
        turn: int,
    ) -> list[ScheduledResponse]:
        """See `Correspondents`."""
        new = await self._collector.collect(window[0])
        return await self._generator.process_new_messages(
            new_messages=new, current_time=window[0], window=window, turn=turn
        )


class DayPeople:
    """The people of a planned day, who read the assistant's actions."""

    def __init__(self, client: AsyncUESClient, people: PlannedPeople) -> None:
        self._client = client
        self._people = people
        self.faults: list[UserFault] = []

    async def begin(self, now: datetime) -> None:
        """See `Correspondents`."""

    async def replies(
        self,
        done: Sequence[ActionLogEntry],
        window: tuple[datetime, datetime],
        turn: int,  # noqa: ARG002 - one signature
    ) -> list[ScheduledResponse]:
        """See `Correspondents`."""
        calendar = await self._client.calendar.get_state()
        events = {name: event.model_dump(mode="json") for name, event in calendar.events.items()}
        return self._people.replies(done, window, events)
