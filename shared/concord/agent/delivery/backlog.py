"""The backlog: serialised steps that wait to be sent, with limits on their number and size."""

import json
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import uuid4

from concord.agent.delivery.recorded_step import RecordedStep
from concord.trace.step import InteractionStep
from concord.wire.assignment import Assignment

_MAX_COUNTED: Final = 1000
"""The number of traces whose dropped steps are counted."""

BUFFER_FULL: Final = "buffer_full"
TOO_LARGE: Final = "too_large"
UNDELIVERED: Final = "undelivered"
UNWRITABLE: Final = "unwritable"


class Sender(NamedTuple):
    """The common properties of a batch's steps: their trace and their reporter."""

    trace_id: str
    reporter: str
    token: str | None


def sender_of(assignment: Assignment) -> Sender:
    """The sender of the steps made under an assignment."""
    token = None if assignment.token is None else assignment.token.get_secret_value()
    return Sender(assignment.trace_id, assignment.agent_id, token)


@dataclass(frozen=True, slots=True)
class Batch:
    """A serialised batch: JSON, the number of steps, and the steps dropped before it."""

    sender: Sender
    body: bytes
    n_steps: int
    dropped: Mapping[str, int]


@dataclass(slots=True)
class Backlog:
    """Steps for one collector, oldest first. At its limits, drops and counts the oldest.

    `lost` counts all dropped steps, reported to the collector or not.
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
    def unreported(self) -> int:
        """Dropped steps that are not yet reported to the collector."""
        return sum(counts.total() for counts in self._dropped.values())

    def add(self, assignment: Assignment, step: InteractionStep | RecordedStep, max_step_bytes: int) -> None:
        """Adds a step made under an assignment."""
        sender = sender_of(assignment)
        try:
            built = step if isinstance(step, InteractionStep) else step.step(assignment)
            written = built.model_dump_json(exclude_none=True).encode()
        except ValueError:  # for example, a text with lone surrogates
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
        """Counts dropped steps, for the sender's next batch."""
        self.lost += steps
        self._count_dropped(sender, reason, steps)

    def _count_dropped(self, sender: Sender, reason: str, steps: int) -> None:
        if sender not in self._dropped and len(self._dropped) >= _MAX_COUNTED:
            del self._dropped[next(iter(self._dropped))]
        self._dropped.setdefault(sender, Counter())[reason] += steps

    def take(self, max_steps: int, max_bytes: int) -> Batch | None:
        """The next batch, of the sender that has waited longest; None if the backlog is empty."""
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
        """A batch without steps that only reports dropped ones, None if there are none."""
        sender = next(iter(self._dropped), None)
        return None if sender is None else self._batch(sender, [])

    def give_up(self, batch: Batch) -> None:
        """Counts an undeliverable batch: its steps, and the dropped ones that it would have reported."""
        for reason, steps in batch.dropped.items():
            self._count_dropped(batch.sender, reason, steps)
        if batch.n_steps:
            self.drop(batch.sender, UNDELIVERED, batch.n_steps)

    def _batch(self, sender: Sender, steps: list[bytes]) -> Batch:
        dropped = dict(self._dropped.pop(sender, {}))
        head = {"batch_id": uuid4().hex, "trace_id": sender.trace_id, "reporter": sender.reporter, "dropped": dropped}
        body = json.dumps(head).encode()[:-1] + b', "steps": [' + b",".join(steps) + b"]}"
        return Batch(sender, body, len(steps), dropped)
