"""One simulated user's environment: the simulation, its keys and its subscribers."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from concord.trust.urls import PeerUrls
from concord_environment.access.keys import Key, KeyRegistry
from concord_environment.access.log import AccessLog
from concord_environment.core.actions import Action
from concord_environment.core.clock import to_us
from concord_environment.core.engine import Position
from concord_environment.core.events import DEFAULT_PRIORITY, IGNORED, Event, EventStatus, Submission
from concord_environment.core.faults import Conflict, NotFound
from concord_environment.core.simulation import Simulation
from concord_environment.core.world import Terms
from concord_environment.lifecycle import Lifecycle
from concord_environment.modalities.registry import apply, implementation_of
from concord_environment.modalities.world import EnvironmentWorld
from concord_environment.notices.bus import Bus, Notice
from concord_environment.notices.webhooks import Webhooks

START: Final = datetime(2026, 1, 1, 9, tzinfo=UTC)
"""The default start of a simulation. It does not depend on the wall clock, so runs can be compared."""

CONTROL: Final = "events:execute"
"""The permission that makes a caller a controller, whose actions execute at once, other actions when time moves."""

MAX_BRANCHES: Final = 16
MAX_PENDING: Final = 200_000

EnvironmentSimulation = Simulation[EnvironmentWorld]


class Environment:
    """The environment that one process serves: simulations, keys, lifecycle, access log, message bus and webhooks."""

    def __init__(self, seed: int, simulation: EnvironmentSimulation | None = None, keys: Sequence[Key] = ()) -> None:
        self.seed = seed
        self.simulation = simulation or new_simulation(seed)
        self.branches: dict[str, EnvironmentSimulation] = {}
        self.keys = KeyRegistry(seed, keys)
        self.lifecycle = Lifecycle()
        self.access_log = AccessLog()
        self.bus = Bus()
        self.webhooks = Webhooks(PeerUrls(()))
        self.scenario_metadata: dict[str, Any] = {}
        self.people: dict[str, Environment] = {}
        """The further people of the process, by id."""

    def branch(self, branch_id: str | None) -> EnvironmentSimulation:
        """The simulation that a call addresses: the main one, or a branch. Raises NotFound."""
        if branch_id is None:
            return self.simulation
        if branch_id not in self.branches:
            raise NotFound(f"there is no branch {branch_id}")
        return self.branches[branch_id]

    def fork(self, simulation: EnvironmentSimulation, count: int) -> list[str]:
        """Creates branches from a simulation's current state. Returns their ids. Raises Conflict for too many."""
        if len(self.branches) + count > MAX_BRANCHES:
            raise Conflict(f"there can be at most {MAX_BRANCHES} branches: delete some first")
        free = (name for number in range(1, 2 * MAX_BRANCHES + 1) if (name := f"branch_{number}") not in self.branches)
        names = [next(free) for _ in range(count)]
        for name in names:
            self.branches[name] = simulation.fork()
        return names

    def clear(self, start: datetime) -> None:
        """Replaces the main simulation by an empty one and stops it. Forgets the revoked keys and all people.

        A second assessment in one process then gets the same ids and the same hash chain as the first. Webhooks and the
        other keys stay.
        """
        self.replace(new_simulation(self.seed, start))
        self.scenario_metadata = {}
        self.lifecycle.clear()
        self.keys.forget_revoked()
        self.people.clear()

    def replace(self, simulation: EnvironmentSimulation) -> None:
        """Replaces the main simulation. Deletes all branches, releases all holds."""
        self.simulation = simulation
        self.branches.clear()
        self.lifecycle.release_all()

    def submit(
        self,
        simulation: EnvironmentSimulation,
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
        submission = self.submission(simulation, caller, action, due=due, priority=priority, metadata=metadata)
        if submission.due > simulation.now:
            return self.schedule(simulation, [submission])[0]
        if caller.may(CONTROL):
            event = simulation.act(submission)
            self.publish([event], simulation)
            return event
        ignored = simulation.check(submission.action)
        if ignored:
            metadata = {**submission.metadata, IGNORED: list(ignored)}
            submission = replace(submission, metadata=metadata)
        return self.schedule(simulation, [submission])[0]

    def submission(
        self,
        simulation: EnvironmentSimulation,
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
        bound = implementation.bind(simulation.world, action, caller)
        signed = {**(metadata or {}), "created_by_key": caller.key_id}
        return Submission(bound, due or _arrival(bound) or simulation.now, caller.key_id, priority, signed)

    def schedule(self, simulation: EnvironmentSimulation, submissions: Sequence[Submission]) -> list[Event]:
        """Schedules authorised actions. Raises Conflict if too many events would be pending."""
        if simulation.count(EventStatus.PENDING) + len(submissions) > MAX_PENDING:
            raise Conflict(f"more than {MAX_PENDING} events would be pending")
        events = simulation.schedule(submissions)
        self.publish(events, simulation)
        return events

    def publish(self, events: Sequence[Event], simulation: EnvironmentSimulation) -> None:
        """Publishes the outcome of events. Only the main simulation has subscribers."""
        if simulation is self.simulation and self.bus.has_subscribers:
            self.bus.publish([notice for event in events for notice in _notices(event)])

    def announce(self, kind: str, **data: Any) -> None:  # noqa: ANN401 - plain JSON values
        """Publishes a notice that is not about an event."""
        self.bus.publish([Notice(kind, data, self.simulation.now)])


def new_simulation(seed: int, start: datetime = START) -> EnvironmentSimulation:
    """A simulation without events."""
    return Simulation(EnvironmentWorld(), apply, Position(to_us(start)), terms=Terms(seed))


def _arrival(action: Action) -> datetime | None:
    """A message's `sent_at`. A time later than now schedules the message."""
    sent_at = getattr(action, "sent_at", None)
    return sent_at if isinstance(sent_at, datetime) else None


def _notices(event: Event) -> list[Notice]:
    at = event.executed_at or event.created_at
    stage = "scheduled" if event.status is EventStatus.PENDING else str(event.status)
    data = {"event_id": event.event_id, "modality": event.modality, "agent_id": event.agent_id}
    times = {"status": str(event.status), "scheduled_time": event.scheduled_time.isoformat()}
    notices = [Notice(f"event.{stage}", {**data, **times}, at)]
    if event.status is EventStatus.EXECUTED:
        notices.append(Notice(implementation_of(event.action).operation.notice, data, at))
    return notices
