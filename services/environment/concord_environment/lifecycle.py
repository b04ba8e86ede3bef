"""The lifecycle of a simulation: whether it runs, whether its time may move, and at what pace."""

from concord_environment.core.faults import BadRequest, Conflict


class Lifecycle:
    """Whether a simulation runs or is paused, and its time scale."""

    def __init__(self) -> None:
        self.is_running = False
        self.is_paused = False
        self.auto_advance = False
        self.time_scale = 1.0

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
        """Returns to the state of a new process: stopped, not paused, at scale 1."""
        self.stop()
        self.is_paused, self.time_scale = False, 1.0

    def require_stopped(self, why: str) -> None:
        """Raises Conflict with the message `why` while the simulation runs."""
        if self.is_running:
            raise Conflict(why)

    def require_running(self) -> None:
        """Raises Conflict if the simulation is stopped."""
        if not self.is_running:
            raise Conflict("the simulation is not running: start it first")

    def require_moving(self) -> None:
        """Raises Conflict if the simulation is stopped, BadRequest if it is paused."""
        self.require_running()
        if self.is_paused:
            raise BadRequest("time is paused: resume it first")
