"""Progress: status updates for the client, sent often enough that the platform does not give up."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from pydantic import JsonValue

from concord.a2a import TaskHandle
from concord.trust.redaction import redact

HEARTBEAT_S: Final = 10.0
"""The platform's client gives up after 300 s of silence; its guideline is one update every 15 s."""


TOGETHER_S: Final = 0.5
"""The shortest time between two updates. Texts in between make one update, a line each: every update is stored."""


class Progress:
    """Sends a task's status updates and heartbeats."""

    def __init__(self, task: TaskHandle) -> None:
        self._task = task
        self._say: Callable[[str], Awaitable[None]] = task.working
        self._latest = "starting"
        self._told_at = time.monotonic()
        self._started = self._told_at
        self._unsent: list[str] = []
        self._sending: asyncio.Task[None] | None = None
        self._send_from = self._told_at
        self._in_order = asyncio.Lock()
        self._is_ending = False
        """An ended task refuses a heartbeat, and work goes on after its end: seconds of it, on a busy machine."""

    async def wait(self, position: int) -> None:
        """Reports that the assessment waits for its turn, until `begin` is called; position 1 is next in line."""
        self._say = self._task.submitted
        self.move(position)
        await self._send(self._latest)

    def move(self, position: int) -> None:
        """Stores the position for the next heartbeat."""
        self._latest = f"waiting: {position - 1} before this assessment" if position > 1 else "waiting: this is next"

    def begin(self) -> None:
        """Marks the assessment as running."""
        self._say = self._task.working

    async def tell(self, text: str) -> None:
        """Sends an update, now or soon."""
        self._latest = text
        self._unsent.append(text)
        if time.monotonic() >= self._send_from:
            await self._flush()
        elif self._sending is None:
            self._sending = asyncio.create_task(self._flush_later())

    async def flush(self) -> None:
        """Sends what was told and not sent, and no heartbeat any more. To be called before the task ends."""
        self._is_ending = True
        await self._flush()

    async def _flush(self) -> None:
        async with self._in_order:
            unsent, self._unsent = self._unsent, []
            if unsent:
                self._send_from = time.monotonic() + TOGETHER_S
                await self._send("\n".join(unsent))

    async def _flush_later(self) -> None:
        await asyncio.sleep(self._send_from - time.monotonic())
        self._sending = None
        await self._flush()

    async def show(self, text: str, data: JsonValue) -> None:
        """Sends an update now, as text and as data."""
        await self._flush()
        self._latest = text
        self._told_at = time.monotonic()
        await self._task.working(redact(text), data=json.loads(redact(json.dumps(data))))

    def note(self, text: str) -> None:
        """Stores a text for the next heartbeat."""
        self._latest = text

    @asynccontextmanager
    async def heartbeat(self) -> AsyncIterator[None]:
        """Sends a heartbeat with the latest text after `HEARTBEAT_S` without an update."""
        beating = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            for waiting in filter(None, (beating, self._sending)):
                waiting.cancel()
                with suppress(asyncio.CancelledError):
                    await waiting

    async def _beat(self) -> None:
        while True:
            silent_s = time.monotonic() - self._told_at
            await asyncio.sleep(max(0.1, HEARTBEAT_S - silent_s))
            if self._is_ending:
                return
            if time.monotonic() - self._told_at >= HEARTBEAT_S:
                await self._send(f"{time.monotonic() - self._started:.0f} s: {self._latest}")

    async def _send(self, text: str) -> None:
        self._told_at = time.monotonic()
        await self._say(redact(text))
