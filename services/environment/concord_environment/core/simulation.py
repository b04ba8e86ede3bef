"""A simulation: a world, the events that are due in it, and a clock that moves from one to the next."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from typing import Any, Concatenate, Final, Generic, ParamSpec, Protocol, Self, TypeVar

from concord_environment.core.actions import Action
from concord_environment.core.clock import TICK, from_us, to_us
from concord_environment.core.events import DEFAULT_PRIORITY, Event, EventStatus, digest
from concord_environment.core.faults import Conflict, Fault, Invalid, NotThere
from concord_environment.core.identity import event_id, namespace
from concord_environment.core.journal import GENESIS, Journal, Position, Step, StepKind
from concord_environment.core.tables import Place, Table
from concord_environment.core.transaction import Transaction

MAX_EVENTS_PER_INSTANT: Final = 10_000
"""Actions that cause actions at the same instant must come to an end."""


class World(Protocol):
    """What a simulation changes: tables, and what each action does to them."""

    @property
    def tables(self) -> Mapping[str, Table[Any]]:
        """Every table, by name."""

    def fork(self) -> Self:
        """A world with the same rows that shares no writes with this one."""


W = TypeVar("W", bound=World)

Rules = Callable[[W, Action, Transaction], None]
"""Carries an action out in a world, or raises a Fault."""
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Submission:
    """An action to schedule."""

    action: Action
    due: datetime
    agent_id: str | None = None
    priority: int = DEFAULT_PRIORITY
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Progress:
    """What a move of the clock did."""

    previous: datetime
    current: datetime
    events: tuple[Event, ...]

    @property
    def executed(self) -> int:
        """How many events were executed."""
        return sum(event.status is EventStatus.EXECUTED for event in self.events)

    @property
    def failed(self) -> int:
        """How many events failed."""
        return sum(event.status is EventStatus.FAILED for event in self.events)


Call = tuple[str, tuple[Any, ...], dict[str, Any]]


def _recorded(
    method: "Callable[Concatenate[Simulation[Any], P], T]",
) -> "Callable[Concatenate[Simulation[Any], P], T]":
    """Notes a call that went through, so that it can be made again on a fork of the origin."""

    def call(self: "Simulation[Any]", /, *args: P.args, **kwargs: P.kwargs) -> T:
        result = method(self, *args, **kwargs)
        self.calls.append((method.__name__, args, kwargs))
        return result

    call.__doc__ = method.__doc__
    return call


class Simulation(Generic[W]):
    """The discrete-event simulation of a world.

    Events are executed in the order (due time, priority from high to low, sequence). With `tie_seed`, events of one
    due time and priority come in an order that the seed decides, to show what leans on the order of ties.
    """

    def __init__(
        self,
        world: W,
        rules: Rules[W],
        start: datetime,
        *,
        seed: int = 0,
        lineage: str = "",
        tie_seed: int | None = None,
        max_events_per_instant: int = MAX_EVENTS_PER_INSTANT,
    ) -> None:
        self.world = world
        self._rules = rules
        self.seed = seed
        self.lineage = lineage
        """What the simulation was loaded from: new ids must differ from those that came with it."""
        self.tie_seed = tie_seed
        self.calls: list[Call] = []
        """Every call since the origin that changed something."""
        self._space = namespace(seed, lineage)
        self._max_per_instant = max_events_per_instant
        self._position = Position(to_us(start), 0, GENESIS)
        self._now = (self._position.clock, start)
        self._mount(self._events_table())
        self._origin: tuple[W, Table[Event], Position] = (world.fork(), self._events_table(), self._position)

    def _events_table(self) -> Table[Event]:
        return Table(
            "events",
            Event,
            order=self._order,
            indexes={"pending": lambda event: ("",) if event.status is EventStatus.PENDING else ()},
            lookups={"status": lambda event: (event.status,), "modality": lambda event: (event.modality,)},
            digest=digest,
        )

    def _mount(self, events: Table[Event]) -> None:
        self.events = events
        self._tables = {**self.world.tables, events.name: events}
        self.journal = Journal(self._tables)

    def _order(self, event: Event) -> Place:
        return (to_us(event.scheduled_time), -event.priority, self._tie(event.sequence), event.sequence)

    def _tie(self, sequence: int) -> int:
        if self.tie_seed is None:
            return 0
        key = f"{self.tie_seed}:{sequence}".encode()
        return int.from_bytes(blake2b(key, digest_size=8).digest())

    # --- what it is at ---

    @property
    def now(self) -> datetime:
        """The simulated time."""
        clock = self._position.clock
        if clock != self._now[0]:
            self._now = (clock, from_us(clock))
        return self._now[1]

    @property
    def position(self) -> Position:
        """Clock, counter and head of the chain."""
        return self._position

    @property
    def tables(self) -> Mapping[str, Table[Any]]:
        """Every table, the events' included, by name."""
        return self._tables

    def next_event(self) -> Event | None:
        """The pending event that comes first."""
        return self.events.first("pending", "")

    def count(self, status: EventStatus) -> int:
        """How many events have a status."""
        return self.events.found_size("status", status)

    def check(self, action: Action) -> None:
        """Raises the Fault that the action would meet if it happened now; changes nothing."""
        transaction = self._transaction(self._position.sequence + 1, None)
        try:
            self._rules(self.world, action, transaction)
        finally:
            transaction.roll_back()

    # --- what can be done to it ---

    @_recorded
    def schedule(self, submissions: Sequence[Submission]) -> list[Event]:
        """Adds events, all in one step. Conflict for one that would be in the past; then none is added."""
        for submission in submissions:
            if to_us(submission.due) < self._position.clock:
                raise Conflict(f"{submission.due.isoformat()} is in the past: it is {self.now.isoformat()}")
        before, transaction = self._position, self._transaction(0, None)
        events = [self._admit(submission, transaction) for submission in submissions]
        self._finish(StepKind.SCHEDULED, events, transaction, before)
        return events

    @_recorded
    def act(self, submission: Submission) -> Event:
        """Executes an action at once, in one step with its scheduling. A Fault in it changes nothing."""
        before = self._position
        event = replace(self._new_event(submission), scheduled_time=self.now)
        transaction = self._transaction(event.sequence, event.agent_id)
        try:
            self._rules(self.world, event.action, transaction)
        except Fault:
            transaction.roll_back()
            self._position = before
            raise
        done = event.ended(EventStatus.EXECUTED, self.now)
        transaction.put(self.events, done.event_id, done)
        self._follow_up(event, transaction)
        self._finish(StepKind.EXECUTED, [done], transaction, before)
        return done

    @_recorded
    def advance(self, microseconds: int) -> Progress:
        """Executes, in order, every event due in (now, now + microseconds], each at its due time."""
        if microseconds <= 0:
            raise Invalid("time moves forward only")
        return self._run_until(self._position.clock + microseconds)

    @_recorded
    def skip_to_next(self) -> Progress:
        """Goes to the next pending event's due time and executes what is due there."""
        event = self.next_event()
        if event is None:
            raise NotThere("no event is pending")
        return self._run_until(max(to_us(event.scheduled_time), self._position.clock))

    @_recorded
    def jump(self, target: datetime) -> list[Event]:
        """Sets the clock without executing anything: what was due by then is skipped."""
        instant = to_us(target)
        if instant < self._position.clock:
            raise Conflict(f"{target.isoformat()} is in the past: undo steps, or reset")
        due = [event for event in self.events.group("pending", "") if event.scheduled_time <= target]
        before, transaction = self._position, self._transaction(0, None)
        skipped = [event.ended(EventStatus.SKIPPED, None) for event in due]
        for event in skipped:
            transaction.put(self.events, event.event_id, event)
        if skipped:
            self._finish(StepKind.SKIPPED, skipped, transaction, before)
        self._move_clock(instant)
        return skipped

    @_recorded
    def cancel(self, cancelled_id: str) -> Event:
        """Cancels a pending event."""
        event = self.events.get(cancelled_id)
        if event is None:
            raise NotThere(f"there is no event {cancelled_id}")
        if event.status is not EventStatus.PENDING:
            raise Conflict(f"the event is {event.status}, only a pending one can be cancelled")
        before, transaction = self._position, self._transaction(0, None)
        cancelled = event.ended(EventStatus.CANCELLED, None)
        transaction.put(self.events, cancelled_id, cancelled)
        self._finish(StepKind.CANCELLED, [cancelled], transaction, before)
        return cancelled

    @_recorded
    def undo(self, count: int = 1) -> list[Step]:
        """Goes back by `count` steps (scheduling, executing, cancelling), to the moment before. May be fewer."""
        taken = self.journal.back(count)
        if taken:
            self._position = taken[-1].before
        return taken

    @_recorded
    def redo(self, count: int = 1) -> list[Step]:
        """Takes `count` undone steps again. May be fewer."""
        taken = self.journal.forth(count)
        if taken:
            self._position = taken[-1].after
        return taken

    # --- whole simulations ---

    def settle(self) -> None:
        """Makes what is now the origin: nothing before it can be undone, and a reset comes back to it."""
        self._mount(self.events)
        self.calls.clear()
        self._origin = (self.world.fork(), self._copy_events(self.events), self._position)

    def load(self, position: Position, events: Sequence[Event]) -> None:
        """Takes over a position and events, from a snapshot or a scenario, beside the rows put into its world."""
        self._position = position
        table = self._events_table()
        for event in events:
            table.write(event.event_id, event)
        self._mount(table)
        self.settle()

    def next_sequence(self) -> int:
        """Takes a number from the counter, for an event that comes from outside."""
        sequence = self._position.sequence + 1
        self._position = Position(self._position.clock, sequence, self._position.head)
        return sequence

    def reset(self) -> int:
        """Goes back to the origin. Returns how many steps that took back."""
        steps = len(self.journal.steps)
        world, events, position = self._origin
        self.world, self._position = world.fork(), position
        self._mount(self._copy_events(events))
        self.calls.clear()
        return steps

    def fork(self) -> "Simulation[W]":
        """A simulation that stands where this one does and goes its own way from here."""
        twin = self._twin(self.tie_seed, self.world.fork(), self.events, self._position)
        twin.settle()
        return twin

    def at_origin(self, tie_seed: int | None = None) -> "Simulation[W]":
        """A simulation that stands where this one started; a tie seed shuffles its ties."""
        world, events, position = self._origin
        twin = self._twin(tie_seed, world.fork(), events, position)
        twin.settle()
        return twin

    def _twin(self, tie_seed: int | None, world: W, events: Table[Event], position: Position) -> "Simulation[W]":
        twin = Simulation(
            world,
            self._rules,
            from_us(position.clock),
            seed=self.seed,
            lineage=self.lineage,
            tie_seed=tie_seed,
            max_events_per_instant=self._max_per_instant,
        )
        twin._position = position
        twin._mount(twin._copy_events(events))
        return twin

    def _copy_events(self, events: Table[Event]) -> Table[Event]:
        table = self._events_table()
        for key, event in events.items():
            table.write(key, event)
        return table

    # --- how ---

    def _transaction(self, sequence: int, agent_id: str | None) -> Transaction:
        return Transaction(self.now, self._space, sequence, agent_id)

    def _new_event(self, submission: Submission) -> Event:
        sequence = self.next_sequence()
        return Event(
            event_id=event_id(self._space, sequence),
            sequence=sequence,
            scheduled_time=submission.due,
            action=submission.action,
            created_at=self.now,
            agent_id=submission.agent_id,
            priority=submission.priority,
            metadata=submission.metadata,
        )

    def _admit(self, submission: Submission, transaction: Transaction) -> Event:
        event = self._new_event(submission)
        if to_us(event.scheduled_time) == self._position.clock:
            # Time covers (t, t + d]: what is asked for now happens as soon as time moves.
            event = replace(event, scheduled_time=from_us(self._position.clock + TICK))
        transaction.put(self.events, event.event_id, event)
        return event

    def _follow_up(self, event: Event, transaction: Transaction) -> None:
        for cause in transaction.causes:
            due = max(cause.due, self.now)
            submission = Submission(cause.action, due, event.agent_id, event.priority, {"caused_by": event.event_id})
            caused = self._new_event(submission)
            transaction.put(self.events, caused.event_id, caused)

    def _run_until(self, end: int) -> Progress:
        previous, done = self.now, list[Event]()
        instant, at_instant = -1, 0
        while (event := self.next_event()) is not None and (due := to_us(event.scheduled_time)) <= end:
            at_instant = at_instant + 1 if due == instant else 1
            instant = due
            done.append(self._execute(event, max(due, self._position.clock), at_instant))
        self._move_clock(end)
        return Progress(previous, self.now, tuple(done))

    def _execute(self, event: Event, instant: int, at_instant: int) -> Event:
        before = self._position
        self._position = Position(instant, before.sequence, before.head)
        transaction = self._transaction(event.sequence, event.agent_id)
        try:
            if at_instant > self._max_per_instant:
                raise Conflict(f"more than {self._max_per_instant} events at one instant")
            self._rules(self.world, event.action, transaction)
        except Fault as fault:
            transaction.roll_back()
            done = event.ended(EventStatus.FAILED, self.now, str(fault))
            kind = StepKind.FAILED
        else:
            self._follow_up(event, transaction)
            done = event.ended(EventStatus.EXECUTED, self.now)
            kind = StepKind.EXECUTED
        transaction.put(self.events, done.event_id, done)
        self._finish(kind, [done], transaction, before)
        return done

    def _finish(self, kind: StepKind, events: Sequence[Event], transaction: Transaction, before: Position) -> None:
        head = self.journal.link(before.head, kind, self._position.clock, transaction.changes)
        self._position = Position(self._position.clock, self._position.sequence, head)
        ids = tuple(event.event_id for event in events)
        self.journal.add(Step(kind, self._position.clock, ids, tuple(transaction.changes), before, self._position))

    def _move_clock(self, instant: int) -> None:
        if instant != self._position.clock:
            before = self._position
            self._position = Position(instant, before.sequence, before.head)
            if self.journal.steps:
                self.journal.move(self._position)
            else:
                self.journal.add(Step(StepKind.CLOCK, instant, (), (), before, self._position))
