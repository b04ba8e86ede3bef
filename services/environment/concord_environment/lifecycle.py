"""Whether and how a simulation's time moves: started, paused, held by agents, or following the wall clock."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Final

from concord_environment.core.faults import Conflict, NotThere

MAX_HOLD_S: Final = 300.0
MAX_HOLDS: Final = 100


@dataclass(frozen=True, slots=True)
class Hold:
    """An agent's hold on time. `until` is a time of the process's monotonic clock."""

    hold_id: str
    agent_id: str
    reason: str | None
    timeout_seconds: float
    acquired_at: datetime
    until: float


class HeldError(Conflict):
    """Time does not move because of holds."""

    def __init__(self, holds: list[Hold]) -> None:
        reasons = ", ".join(hold.reason or hold.hold_id for hold in holds)
        super().__init__(f"Time advancement blocked by {len(holds)} active hold(s): {reasons}")
        self.holds = holds


class Lifecycle:
    """Start, stop, pause, pace and holds. They are no part of the simulation, and a replay ignores them."""

    def __init__(self) -> None:
        self.is_running = False
        self.is_paused = False
        self.auto_advance = False
        self.time_scale = 1.0
        self.runs = 0
        self._holds: dict[str, Hold] = {}

    @property
    def mode(self) -> str:
        """How time moves: `paused`, `auto_advance` or `manual`."""
        return "paused" if self.is_paused else "auto_advance" if self.auto_advance else "manual"

    def start(self, *, auto_advance: bool, time_scale: float) -> None:
        """Starts. Raises Conflict if the simulation runs already."""
        self.require_stopped("the simulation is running already")
        self.is_running, self.is_paused = True, False
        self.auto_advance, self.time_scale = auto_advance, time_scale
        self.runs += 1

    def stop(self) -> None:
        """Stops. Raises Conflict if the simulation does not run."""
        if not self.is_running:
            raise Conflict("the simulation is not running")
        self.is_running = self.auto_advance = False

    def require_stopped(self, why: str) -> None:
        """Raises Conflict while the simulation runs."""
        if self.is_running:
            raise Conflict(why)

    def require_moving(self) -> None:
        """Raises Conflict if time cannot move: stopped, paused or held."""
        if not self.is_running:
            raise Conflict("the simulation is not running: start it first")
        if self.is_paused:
            raise Conflict("time is paused: resume it first")
        if holds := self.holds():
            raise HeldError(holds)

    def holds(self) -> list[Hold]:
        """The holds that have not expired."""
        now = monotonic()
        self._holds = {hold_id: hold for hold_id, hold in self._holds.items() if hold.until > now}
        return list(self._holds.values())

    def hold(self, agent_id: str, reason: str | None, timeout_seconds: float) -> Hold:
        """Holds time. Raises Conflict if there are too many holds."""
        if len(self.holds()) >= MAX_HOLDS:
            raise Conflict(f"there are {MAX_HOLDS} holds already")
        hold_id = f"hld_{secrets.token_hex(6)}"
        hold = Hold(hold_id, agent_id, reason, timeout_seconds, datetime.now(UTC), monotonic() + timeout_seconds)
        self._holds[hold.hold_id] = hold
        return hold

    def release(self, hold_id: str) -> Hold:
        """Releases a hold. Raises NotThere if it has expired or never existed."""
        self.holds()
        hold = self._holds.pop(hold_id, None)
        if hold is None:
            raise NotThere(f"there is no hold {hold_id}")
        return hold

    def release_all(self) -> None:
        """Releases every hold."""
        self._holds.clear()
