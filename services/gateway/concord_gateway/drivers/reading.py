"""The reading of a trial's replies: on the trial's account, and on the event loop only where it takes no time."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from concord.a2a import Answer
from concord_gateway.budgets import OverBudgetError
from concord_gateway.rounds.reply import Reply, is_plain, read_reply

LONG_REPLY: Final = 4_096
"""Characters of a plain reply that may hold up the event loop (a tenth of a millisecond)."""

MAX_READING_S: Final = 60.0
"""CPU seconds in which the replies of a trial are read. A faulty one may take half a second."""


@dataclass(slots=True)
class Reading:
    """Reads the replies of one trial. What is not plain JSON is read in a thread, one after the other: a few kilobytes
    of brackets that do not match take a tenth of a second."""

    used_s: float = 0.0
    fault: OverBudgetError | None = None
    """Whose reply was one too many. The driver raises it."""
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def read(self, seat: str, answer: Answer) -> Reply | None:
        """The reply in an answer of a seat; None for one that is not read, because the trial is over its budget."""
        text, data = answer.text or answer.status_text, answer.data_parts
        if not data and len(text) <= LONG_REPLY and is_plain(text):
            return self._read(seat, text, data)
        async with self._one:
            return await asyncio.to_thread(self._read, seat, text, data)

    def _read(self, seat: str, text: str, data: Sequence[JsonValue]) -> Reply | None:
        if self.used_s > MAX_READING_S:
            self.fault = self.fault or OverBudgetError(
                f"{seat} exceeded a trial's budget of {MAX_READING_S:g} s for the reading of replies"
            )
            return None
        began = time.thread_time()
        reply = read_reply(text, data)
        self.used_s += time.thread_time() - began
        return reply
