"""Change tracking: whether an environment has changed since the last capture, and in which rows."""

from operator import attrgetter
from typing import Any, Final

from concord_environment.core.write_set import WriteSet
from concord_environment.environment import Environment
from concord_environment.persistence.capture import Capture, capture_all, capture_changes
from concord_environment.persistence.schema import StoredLifecycle

_lifecycle_state: Final = attrgetter(*StoredLifecycle.model_fields)


class ChangeTracker:
    """Tracks the changes of an environment.

    Tables, keys and webhooks add their writes to a write set. Clock, undo history and lifecycle are compared with
    their values at the last call. So no route has to report its changes.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._write_set = WriteSet()
        self._state: tuple[Any, ...] = ()
        self._version = 0
        self.is_replaced = True
        """Whether a load, a clear or a reset has replaced the main simulation since the last full capture."""

    def version(self) -> int:
        """A number that increases with every change."""
        simulation = self._environment.simulation
        if simulation.events.write_set is not self._write_set:
            self._attach()
        lifecycle = _lifecycle_state(self._environment.lifecycle)
        state = (self._write_set.count, simulation.clock, simulation.history, lifecycle)
        if state != self._state:
            self._state = state
            self._version += 1
        return self._version

    def capture_all(self) -> Capture:
        """Captures the whole environment."""
        self.version()
        self.is_replaced = False
        self._write_set.drain()
        return capture_all(self._environment)

    def capture_changes(self) -> Capture:
        """Captures the rows written since the last capture."""
        return capture_changes(self._environment, self._write_set.drain())

    def _attach(self) -> None:
        self.is_replaced = True
        simulation = self._environment.simulation
        self._write_set = WriteSet()
        for table in (*simulation.world.tables.values(), simulation.events):
            table.write_set = self._write_set
        self._environment.keys.write_set = self._environment.webhooks.write_set = self._write_set
