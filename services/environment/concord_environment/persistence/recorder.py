"""The recorder: notes what changes in an environment, whichever way it changes."""

from concord_environment.core.touched import Touched
from concord_environment.environment import Environment
from concord_environment.persistence.capture import Capture, capture, capture_touched


class Recorder:
    """Tells whether something has changed, and what.

    It asks no route to report: writes to tables, keys and webhooks note themselves, and what else is kept is compared.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._touched = Touched()
        self._state: tuple[object, ...] = ()
        self._version = 0
        self.is_replaced = True
        """Whether the main simulation was exchanged as a whole (loaded, cleared, reset) since the last capture."""

    def version(self) -> int:
        """A number that is higher whenever something has changed."""
        environment = self._environment
        simulation, lifecycle = environment.simulation, environment.lifecycle
        if simulation.events.touched is not self._touched:
            self._attach()
        state = (
            self._touched.count,
            simulation.clock,
            simulation.journal,
            lifecycle.is_running,
            lifecycle.is_paused,
            lifecycle.auto_advance,
            lifecycle.time_scale,
            lifecycle.runs,
        )
        if state != self._state:
            self._state = state
            self._version += 1
        return self._version

    def take_all(self) -> Capture:
        """Everything, as it is now."""
        self.version()
        self.is_replaced = False
        self._touched.take()
        return capture(self._environment)

    def take_changes(self) -> Capture:
        """What changed since something was last taken."""
        return capture_touched(self._environment, self._touched.take())

    def _attach(self) -> None:
        self.is_replaced = True
        simulation = self._environment.simulation
        self._touched = Touched()
        for table in (*simulation.world.tables.values(), simulation.events):
            table.touched = self._touched
        self._environment.keyring.touched = self._environment.webhooks.touched = self._touched
