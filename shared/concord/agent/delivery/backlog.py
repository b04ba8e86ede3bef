"""The backlog: steps in the form in which they are sent, bounded by count and bytes, and the count of those let go."""

import json
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import uuid4

from concord.trace.step import InteractionStep

_MAX_TOLD: Final = 1000
"""Of how many traces it is remembered what was dropped."""

BUFFER_FULL: Final = "buffer_full"
TOO_LARGE: Final = "too_large"
UNDELIVERED: Final = "undelivered"
UNWRITABLE: Final = "unwritable"


class Sender(NamedTuple):
    """What the steps of one batch have in common: which trace, and who reports."""

    trace_id: str
    reporter: str
    token: str | None


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch as it is sent: its JSON, the steps in it, and what it says of steps that were dropped before."""

    sender: Sender
    body: bytes
    n_steps: int
    dropped: Mapping[str, int]


@dataclass(slots=True)
class Backlog:
    """Steps on their way to one collector, oldest first. Beyond its bounds the oldest are dropped, and counted.

    `lost`: all steps that were ever dropped, whether or not the collector was told.
    """

    max_steps: int
    max_bytes: int
    lost: int = 0
    _waiting: deque[tuple[Sender, bytes]] = field(default_factory=deque)
    _bytes: int = 0
    _dropped: dict[Sender, Counter[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def untold(self) -> int:
        """Dropped steps of which the collector is still to be told."""
        return sum(counts.total() for counts in self._dropped.values())

    def add(self, sender: Sender, step: InteractionStep, max_step_bytes: int) -> None:
        """Takes a step in."""
        try:
            written = step.model_dump_json(exclude_none=True).encode()
        except ValueError:  # a text that UTF-8 has no form for, say
            self.drop(sender, UNWRITABLE)
            return
        if len(written) > max_step_bytes:
            self.drop(sender, TOO_LARGE)
            return
        self._waiting.append((sender, written))
        self._bytes += len(written)
        while len(self._waiting) > self.max_steps or self._bytes > self.max_bytes:
            oldest, lost = self._waiting.popleft()
            self._bytes -= len(lost)
            self.drop(oldest, BUFFER_FULL)

    def drop(self, sender: Sender, reason: str, steps: int = 1) -> None:
        """Counts steps that will not be sent, to be told with the next batch of the same sender."""
        self.lost += steps
        self._keep_in_mind(sender, reason, steps)

    def _keep_in_mind(self, sender: Sender, reason: str, steps: int) -> None:
        if sender not in self._dropped and len(self._dropped) >= _MAX_TOLD:
            del self._dropped[next(iter(self._dropped))]
        self._dropped.setdefault(sender, Counter())[reason] += steps

    def take(self, max_steps: int, max_bytes: int) -> Batch | None:
        """The next batch: of whoever has waited longest, in order. None when nothing waits."""
        if not self._waiting:
            return None
        sender = self._waiting[0][0]
        chosen: list[bytes] = []
        others: list[tuple[Sender, bytes]] = []
        size = 0
        while self._waiting and len(chosen) < max_steps and size + len(self._waiting[0][1]) <= max_bytes:
            entry = self._waiting.popleft()
            if entry[0] == sender:
                chosen.append(entry[1])
                size += len(entry[1])
            else:
                others.append(entry)
        self._waiting.extendleft(reversed(others))
        self._bytes -= size
        return self._batch(sender, chosen)

    def take_counts(self) -> Batch | None:
        """A batch without steps that only tells what was dropped; None where nothing is left to tell."""
        sender = next(iter(self._dropped), None)
        return None if sender is None else self._batch(sender, [])

    def give_up(self, batch: Batch) -> None:
        """Counts what could not be delivered: the steps, and those that the batch would have told of."""
        for reason, steps in batch.dropped.items():
            self._keep_in_mind(batch.sender, reason, steps)
        if batch.n_steps:
            self.drop(batch.sender, UNDELIVERED, batch.n_steps)

    def _batch(self, sender: Sender, steps: list[bytes]) -> Batch:
        dropped = dict(self._dropped.pop(sender, {}))
        head = {"batch_id": uuid4().hex, "trace_id": sender.trace_id, "reporter": sender.reporter, "dropped": dropped}
        body = json.dumps(head).encode()[:-1] + b', "steps": [' + b",".join(steps) + b"]}"
        return Batch(sender, body, len(steps), dropped)
