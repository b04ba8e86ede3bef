"""The lifecycle of a simulation: whether it runs, whether its time may move, and at what pace."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Final

from concord_environment.core.faults import BadRequest, Conflict, NotFound

MAX_HOLD_S: Final = 300.0
MAX_HOLDS: Final = 100


@dataclass(frozen=True, slots=True)
class Hold:
    """An agent's hold, which keeps time from moving. `until` is a time of the process's monotonic clock."""

    hold_id: str
    agent_id: str
    reason: str | None
    timeout_seconds: float
    acquired_at: datetime
    until: float


class HeldError(Conflict):
    """Holds keep time from moving."""

    def __init__(self, holds: list[Hold]) -> None:
        reasons = ", ".join(hold.reason or hold.hold_id for hold in holds)
        super().__init__(f"Time advancement blocked by {len(holds)} active hold(s): {reasons}")
        self.holds = holds


class Lifecycle:
    """Whether a simulation runs, is paused or held, and its time scale. A replay ignores the lifecycle."""

    def __init__(self) -> None:
        self.is_running = False
        self.is_paused = False
        self.auto_advance = False
        self.time_scale = 1.0
        self._holds: dict[str, Hold] = {}

    @property
    def mode(self) -> str:
        """How time moves: `paused`, `auto_advance` or `manual` (by calls)."""
        return "paused" if self.is_paused else "auto_advance" if self.auto_advance else "manual"

    def start(self, *, auto_advance: bool, time_scale: float) -> None:
        """Starts the simulation. Raises Conflict if it runs already."""
        self.require_stopped("the simulation is running already")
        self.is_running, self.is_paused = True, False
        self.auto_advance, self.time_scale = auto_advance, time_scale

    def stop(self) -> bool:
        """Stops the simulation. Returns whether it ran."""
        was_running = self.is_running
        self.is_running = self.auto_advance = False
        return was_running

    def clear(self) -> None:
        """Returns to the state of a new process: stopped, not paused, at scale 1 and without holds."""
        self.stop()
        self.is_paused, self.time_scale = False, 1.0
        self.release_all()

    def require_stopped(self, why: str) -> None:
        """Raises Conflict with the message `why` while the simulation runs."""
        if self.is_running:
            raise Conflict(why)

    def require_running(self) -> None:
        """Raises Conflict if the simulation is stopped."""
        if not self.is_running:
            raise Conflict("the simulation is not running: start it first")

    def require_moving(self) -> None:
        """Raises Conflict if the simulation is stopped, BadRequest if it is paused, HeldError if there are holds."""
        self.require_running()
        if self.is_paused:
            raise BadRequest("time is paused: resume it first")
        if holds := self.holds():
            raise HeldError(holds)

    def holds(self) -> list[Hold]:
        """The holds that have not expired."""
        now = monotonic()
        self._holds = {hold_id: hold for hold_id, hold in self._holds.items() if hold.until > now}
        return list(self._holds.values())

    def hold(self, agent_id: str, reason: str | None, timeout_seconds: float) -> Hold:
        """Adds a hold. Raises Conflict if there are too many."""
        if len(self.holds()) >= MAX_HOLDS:
            raise Conflict(f"there are {MAX_HOLDS} holds already")
        hold_id = f"hld_{secrets.token_hex(6)}"
        hold = Hold(hold_id, agent_id, reason, timeout_seconds, datetime.now(UTC), monotonic() + timeout_seconds)
        self._holds[hold.hold_id] = hold
        return hold

    def release(self, hold_id: str) -> Hold:
        """Releases a hold. Raises NotFound if it has expired or never existed."""
        self.holds()
        hold = self._holds.pop(hold_id, None)
        if hold is None:
            raise NotFound(f"there is no hold {hold_id}")
        return hold

    def release_all(self) -> None:
        """Releases every hold."""
        self._holds.clear()
