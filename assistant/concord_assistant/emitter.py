"""Sends the updates of an assessment."""

from collections.abc import Awaitable, Callable
from typing import Final

from concord_assistant.updates import Update

Send = Callable[[Update], Awaitable[None]]


class TaskUpdateEmitter:
    """Sends the updates of one assessment, one by one."""

    def __init__(self, send: Send) -> None:
        """`send`: for example, adds the update to an A2A task."""
        self._send: Final = send

    async def send(self, update: Update) -> None:
        """Sends an update."""
        await self._send(update)
