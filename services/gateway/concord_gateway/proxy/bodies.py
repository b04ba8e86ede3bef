"""Bodies in flight: how many bytes of requests and answers the proxy holds at once, in all and of one participant."""

from collections import Counter
from types import TracebackType
from typing import Final, Self

BUDGET_BYTES: Final = 256 * 1024 * 1024
IDLE_S: Final = 30.0

_SHARES: Final = 4
"""One participant's bodies take no more than so small a part of all."""


class NoRoomError(Exception):
    """More bytes are in flight than may be; the message says so."""


class Bodies:
    """The budget of bytes in flight. Whoever sends a body uses its own share of it: the caller's is the request, the
    callee's the answer. `idle_s`: how long a body that has begun may pause (seconds).
    """

    def __init__(self, budget_bytes: int = BUDGET_BYTES, idle_s: float = IDLE_S) -> None:
        self.idle_s = idle_s
        self._budget = budget_bytes
        self._held: Counter[str] = Counter()

    @property
    def in_flight(self) -> int:
        """The bytes that are held."""
        return self._held.total()

    def of(self, trace_id: str, agent_id: str) -> "Held":
        """What is held of a body that this participant of a trial sends: nothing yet."""
        return Held(self, f"{trace_id}/{agent_id}")

    def change(self, sender: str, by: int) -> None:
        """Takes room, or gives it back. Raises NoRoomError where there is none."""
        if by > 0 and (self._held[sender] + by > self._budget // _SHARES or self.in_flight + by > self._budget):
            raise NoRoomError("too many bytes are in flight")
        self._held[sender] += by
        if not self._held[sender]:
            del self._held[sender]


class Held:
    """The room that one body takes, given back at the end of the context."""

    def __init__(self, bodies: Bodies, sender: str) -> None:
        self._bodies = bodies
        self._sender = sender
        self._size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def resize(self, size: int) -> None:
        """Takes as much room as the body has grown to, or gives back what it has shrunk by. Raises NoRoomError."""
        self._bodies.change(self._sender, size - self._size)
        self._size = size

    def release(self) -> None:
        """Gives all of it back."""
        self.resize(0)
