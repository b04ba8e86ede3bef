"""One simulated user's environment: the simulation, its keys and its subscribers."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from concord_environment.access.keys import Key, KeyRegistry
from concord_environment.access.log import AccessLog
from concord_environment.core.actions import Action
from concord_environment.core.clock import to_us
from concord_environment.core.engine import Position
from concord_environment.core.events import DEFAULT_PRIORITY, IGNORED, Event, EventStatus, Submission
from concord_environment.core.faults import Conflict
from concord_environment.core.simulation import Simulation
from concord_environment.core.world import Terms
from concord_environment.lifecycle import Lifecycle
from concord_environment.modalities.registry import apply, implementation_of
from concord_environment.modalities.world import EnvironmentWorld

START: Final = datetime(2026, 1, 1, 9, tzinfo=UTC)
"""The default start of a simulation. It does not depend on the wall clock, so runs can be compared."""

CONTROL: Final = "events:execute"
"""The permission that makes a caller a controller, whose actions execute at once, other actions when time moves."""

MAX_PENDING: Final = 200_000

EnvironmentSimulation = Simulation[EnvironmentWorld]


class Environment:
    """One user's environment: simulation, keys, lifecycle and access log, and the other people's."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.simulation = new_simulation(seed)
        self.keys = KeyRegistry(seed)
        self.lifecycle = Lifecycle()
        self.access_log = AccessLog()
        self.scenario_metadata: dict[str, Any] = {}
        self.people: dict[str, Environment] = {}
        """The further people of the process, by id."""

    def clear(self, start: datetime) -> None:
        """Replaces the simulation by an empty one and stops it. Forgets the revoked keys and all people.

        A second assessment in one process then gets the same ids and the same hash chain as the first. The other keys
        stay.
        """
        self.simulation = new_simulation(self.seed, start)
        self.scenario_metadata = {}
        self.lifecycle.clear()
        self.keys.forget_revoked()
        self.people.clear()

    def submit(
        self,
        caller: Key,
        action: Action,
        *,
        due: datetime | None = None,
        priority: int = DEFAULT_PRIORITY,
        metadata: dict[str, Any] | None = None,
    ) -> Event:
        """Executes or schedules an action for a caller. Raises Forbidden as `submission` does.

        An action due later is scheduled. A controller's action due now executes at once. Any other caller's action due
        now is checked at once and executes when time moves.
        """
        simulation = self.simulation
        submission = self.submission(caller, action, due=due, priority=priority, metadata=metadata)
        if submission.due > simulation.now:
            return self.schedule([submission])[0]
        if caller.may(CONTROL):
            return simulation.act(submission)
        ignored = simulation.check(submission.action)
        if ignored:
            metadata = {**submission.metadata, IGNORED: list(ignored)}
            submission = replace(submission, metadata=metadata)
        return self.schedule([submission])[0]

    def submission(
        self,
        caller: Key,
        action: Action,
        *,
        due: datetime | None,
        priority: int,
        metadata: dict[str, Any] | None,
    ) -> Submission:
        """The action bound to the caller. By default it is due at its `sent_at`, or now.

        Raises Forbidden if the caller lacks the permission or may not act for the person that the action names.
        """
        implementation = implementation_of(action)
        caller.require(implementation.operation.permission)
        bound = implementation.bind(self.simulation.world, action, caller)
        signed = {**(metadata or {}), "created_by_key": caller.key_id}
        return Submission(bound, due or _arrival(bound) or self.simulation.now, caller.key_id, priority, signed)

    def schedule(self, submissions: Sequence[Submission]) -> list[Event]:
        """Schedules authorised actions. Raises Conflict if too many events would be pending."""
        if self.simulation.count(EventStatus.PENDING) + len(submissions) > MAX_PENDING:
            raise Conflict(f"more than {MAX_PENDING} events would be pending")
        return self.simulation.schedule(submissions)


def new_simulation(seed: int, start: datetime = START) -> EnvironmentSimulation:
    """A simulation without events."""
    return Simulation(EnvironmentWorld(), apply, Position(to_us(start)), terms=Terms(seed))


def _arrival(action: Action) -> datetime | None:
    """A message's `sent_at`. A time later than now schedules the message."""
    sent_at = getattr(action, "sent_at", None)
    return sent_at if isinstance(sent_at, datetime) else None
