"""The interface of the characters, as the green agent uses them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from concord_assistant.characters.models import NewMessages, ScheduledResponse
from concord_assistant.results import UserFault


class Characters(Protocol):
    """Words and times the replies of a scenario's characters."""

    @property
    def faults(self) -> Sequence[UserFault]:
        """The faults of the simulated people so far."""

    async def process_new_messages(
        self,
        *,
        new_messages: NewMessages,
        current_time: datetime,
        window: tuple[datetime, datetime] | None = None,
    ) -> list[ScheduledResponse]:
        """The replies to new messages, each strictly after the beginning and at most at the end of the window."""
