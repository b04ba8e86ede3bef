"""The simulation of a world: its calls, undo and redo, and reset."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic

from concord_environment.core.actions import Action
from concord_environment.core.clock import to_us
from concord_environment.core.engine import Engine, Position
from concord_environment.core.events import CAUSED_BY, Event, EventStatus, Submission
from concord_environment.core.faults import BadRequest, Conflict, Invalid, NotFound
from concord_environment.core.history import History
from concord_environment.core.steps import Step, StepKind
from concord_environment.core.tables import Table
from concord_environment.core.world import Rules, Terms, W


@dataclass(frozen=True, slots=True)
class Progress:
    """The outcome of moving the clock."""

    previous: datetime
    current: datetime
    events: tuple[Event, ...]

    @property
    def executed(self) -> int:
        """The number of executed events."""
        return sum(event.status is EventStatus.EXECUTED for event in self.events)

    @property
    def failed(self) -> int:
        """The number of failed events."""
        return sum(event.status is EventStatus.FAILED for event in self.events)


class Simulation(Generic[W]):
    """The discrete-event simulation of a world.

    It executes events in the order (due time, priority from high to low, sequence), with the clock at each event's due
    time.
    """

    def __init__(
        self,
        world: W,
        rules: Rules[W],
        position: Position,
        events: Iterable[Event] = (),
        terms: Terms = Terms(),  # noqa: B008 - it is immutable
    ) -> None:
        self.terms = terms
        self._rules = rules
        self._engine = Engine(world, rules, terms, position, events)

    # --- state ---

    @property
    def world(self) -> W:
        """The simulated world."""
        return self._engine.world

    @property
    def events(self) -> Table[Event]:
        """Every event, by due time."""
        return self._engine.queue.table

    @property
    def history(self) -> History:
        """Every step since the origin."""
        return self._engine.history

    @property
    def tables(self) -> Mapping[str, Table[Any]]:
        """Every table by name, including the table of events."""
        return self._engine.tables

    @property
    def now(self) -> datetime:
        """The simulated time."""
        return self._engine.now

    @property
    def clock(self) -> int:
        """The simulated time, in microseconds since 1970."""
        return self._engine.mark.clock

    @property
    def position(self) -> Position:
        """The clock, the event counter and the head of the hash chain."""
        return self._engine.position

    def next_event(self) -> Event | None:
        """The first pending event, or None."""
        return self._engine.queue.next()

    def pending(self) -> Iterable[Event]:
        """The pending events, in order."""
        return self._engine.queue.pending()

    def count(self, status: EventStatus | None = None, *, modality: str | None = None) -> int:
        """The number of events, of one status, one modality or both."""
        return self._engine.queue.count(status=status, modality=modality)

    def check(self, action: Action) -> tuple[str, ...]:
        """Raises the Fault that the action would raise if executed now. Changes nothing. Returns the unknown ids."""
        return self._engine.check(action)

    def require_future(self, due: datetime) -> None:
        """Raises Conflict for a time before now."""
        if due < self.now:
            raise Conflict(f"{due.isoformat()} is in the past: it is {self.now.isoformat()}")

    def first_row_id(self, event: Event) -> str:
        """The id of the first row that an event creates if its action names no id."""
        return self._engine.first_row_id(event)

    # --- calls ---

    def schedule(self, submissions: Sequence[Submission]) -> list[Event]:
        """Adds events in one step. Raises Conflict, and adds none, if one would be in the past."""
        for submission in submissions:
            self.require_future(submission.due)
        return self._engine.schedule(submissions)

    def act(self, submission: Submission) -> Event:
        """Schedules and executes an action in one step. A Fault leaves everything unchanged."""
        return self._engine.act(submission)

    def advance(self, microseconds: int) -> Progress:
        """Executes every event due in (now, now + microseconds], in order and each at its due time. Raises Invalid."""
        if microseconds <= 0:
            raise Invalid("time moves forward only")
        return self._run_until(self.clock + microseconds)

    def skip_to_next(self) -> Progress:
        """Moves to the due time of the next pending event and executes every event due then. Raises NotFound."""
        event = self.next_event()
        if event is None:
            raise NotFound("no event is pending")
        return self._run_until(max(to_us(event.scheduled_time), self.clock))

    def _run_until(self, end: int) -> Progress:
        previous = self.now
        done = self._engine.run_until(end)
        return Progress(previous, self.now, tuple(done))

    def jump(self, target: datetime) -> list[Event]:
        """Sets the clock and skips every event due by then. Executes nothing. Raises BadRequest for an earlier time."""
        if target < self.now:
            raise BadRequest(f"{target.isoformat()} is in the past: undo steps, or clear with reset_time_to")
        due = [event for event in self.pending() if event.scheduled_time <= target]
        reason = f"skipped: the clock was set to {target.isoformat()}"
        skipped = self._engine.end(StepKind.SKIPPED, EventStatus.SKIPPED, due, reason)
        self._engine.move_clock(to_us(target))
        return skipped

    def cancel(self, cancelled_id: str) -> Event:
        """Cancels a pending event. Raises NotFound, or BadRequest for an event that is not pending."""
        event = self.events.get(cancelled_id)
        if event is None:
            raise NotFound(f"there is no event {cancelled_id}")
        if event.status is not EventStatus.PENDING:
            raise BadRequest(f"the event is {event.status}, only a pending one can be cancelled")
        return self._engine.end(StepKind.CANCELLED, EventStatus.CANCELLED, [event])[0]

    def undo(self, count: int = 1) -> list[Step]:
        """Undoes the last `count` steps, or all if there are fewer. Returns them, latest first."""
        return self._engine.undo(count)

    def redo(self, count: int = 1) -> list[Step]:
        """Redoes the next `count` undone steps, or all if there are fewer. Returns them in order."""
        return self._engine.redo(count)

    # --- the origin ---

    def set_origin(self, source: bytes = b"") -> None:
        """Makes the current state the origin. Undo stops there, and a rewind returns there.

        `source` identifies rows that no step wrote, such as rows from an imported file. It enters the hash chain.
        """
        self._engine.restart_history(source)

    def reset(self) -> int:
        """Restores the world of the origin and makes every event since then pending again. The clock stays.

        Follow-up events go: their causes schedule them again. The result is the new origin. Returns the number of
        executed events undone.
        """
        now, sequence = self.clock, self._engine.mark.sequence
        before, executed = list(self.events.rows()), self.count(EventStatus.EXECUTED)
        self.rewind()
        undone = executed - self.count(EventStatus.EXECUTED)
        events = [
            self.events.get(event.event_id) or event.ended(EventStatus.PENDING, None)
            for event in before
            if CAUSED_BY not in event.metadata
        ]
        position = Position(now, sequence, self.position.head)
        self._engine = Engine(self.world, self._rules, self.terms, position, events)
        return undone

    def rewind(self) -> int:
        """Returns to the origin, its clock and its events. Returns the number of steps undone."""
        return self._engine.rewind()
