"""The proxy's limits: the bytes of bodies that it holds, and the time of each part of a call (seconds)."""

from collections import Counter
from http import HTTPStatus
from typing import Final, Self

from concord.a2a.client import CARD_TIMEOUT_S, CONNECT_TIMEOUT_S
from concord.wire.platform import SILENCE_S

# The proxy's time limits (seconds), and its answer to a caller when a callee exceeds one.

CONNECT_S: Final = CONNECT_TIMEOUT_S
CARD_S: Final = CARD_TIMEOUT_S

ANSWER_PAUSE_S: Final = SILENCE_S
"""The longest pause before an answer, and in an event stream: as long as the platform's clients wait."""

BODY_PAUSE_S: Final = 30.0
"""The longest pause in a body that has begun, by default. Event streams are exempt."""

REFUSED_BODY_S: Final = 5.0
"""How long the rest of a refused request is read."""

IDLE_CONNECTION_S: Final = 2.0
"""How long an idle connection is kept. Well below uvicorn's keep-alive of five seconds, so that no connection closes
just after a request is sent."""

LATE: Final = HTTPStatus.GATEWAY_TIMEOUT
"""The status of the answer to a caller whose callee exceeded a limit, except where the answer has begun."""

ANSWER_IS_LATE: Final = "the agent did not answer in time"
CARD_IS_LATE: Final = "the agent's card did not arrive in time"


# A byte budget for the bodies that the proxy holds: one for all participants, and a share for each.

BUDGET_BYTES: Final = 256 * 1024 * 1024

_SHARES: Final = 4
"""A participant's share is this fraction of the budget."""


class BudgetExhaustedError(Exception):
    """The budget is exhausted; the message says so."""


class ByteBudget:
    """The bytes in flight. The sender of a body pays: the caller for the request, the callee for the answer.

    `idle_s` is how long a body that has begun may pause (seconds).
    """

    def __init__(self, budget_bytes: int = BUDGET_BYTES, idle_s: float = BODY_PAUSE_S) -> None:
        self.idle_s = idle_s
        self._budget = budget_bytes
        self._held: Counter[str] = Counter()

    @property
    def in_flight(self) -> int:
        """The bytes held now."""
        return self._held.total()

    def of(self, trace_id: str, agent_id: str) -> "Reservation":
        """An empty reservation for a body that this participant of a trial sends."""
        return Reservation(self, f"{trace_id}/{agent_id}")

    def change(self, sender: str, by: int) -> None:
        """Reserves or returns bytes. Raises BudgetExhaustedError if the budget does not allow it."""
        if by > 0 and (self._held[sender] + by > self._budget // _SHARES or self.in_flight + by > self._budget):
            raise BudgetExhaustedError("the requests and answers in the proxy exceed the byte budget")
        self._held[sender] += by
        if not self._held[sender]:
            del self._held[sender]


class Reservation:
    """The bytes reserved for one body, returned when the context ends."""

    def __init__(self, budget: ByteBudget, sender: str) -> None:
        self._budget = budget
        self._sender = sender
        self._size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def resize(self, size: int) -> None:
        """Adjusts the reservation to the size of the body. Raises BudgetExhaustedError."""
        self._budget.change(self._sender, size - self._size)
        self._size = size

    def release(self) -> None:
        """Returns all of it."""
        self.resize(0)
