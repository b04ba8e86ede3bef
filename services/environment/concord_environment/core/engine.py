"""The engine: executes events on a world, step by step."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Generic

from concord_environment.core.actions import Action
from concord_environment.core.chain import GENESIS
from concord_environment.core.clock import TICK, from_us, to_us
from concord_environment.core.event_queue import EventQueue
from concord_environment.core.events import CAUSED_BY, Event, EventStatus, Submission
from concord_environment.core.faults import Conflict, Fault
from concord_environment.core.history import History
from concord_environment.core.identity import event_id, namespace, row_id
from concord_environment.core.steps import Mark, Step, StepKind
from concord_environment.core.tables import Table
from concord_environment.core.transaction import Transaction
from concord_environment.core.world import Rules, Terms, W


@dataclass(frozen=True, slots=True)
class Position:
    """A simulation's position between two steps: its clock (µs), its event counter and the head of its hash chain."""

    clock: int
    sequence: int = 0
    head: str = GENESIS


class Engine(Generic[W]):
    """Executes steps on a world. `Simulation` checks whether a call is valid before the engine executes it."""

    def __init__(
        self, world: W, rules: Rules[W], terms: Terms, position: Position, events: Iterable[Event] = ()
    ) -> None:
        self.world = world
        self.queue = EventQueue(events)
        self.history = History(position.head)
        self._rules = rules
        self._space = namespace(terms.seed, terms.lineage)
        self._max_per_instant = terms.max_events_per_instant
        self.mark = Mark(position.clock, position.sequence)
        self.now = from_us(position.clock)

    @property
    def position(self) -> Position:
        """The clock, the event counter and the head of the hash chain."""
        return Position(self.mark.clock, self.mark.sequence, self.history.head)

    @property
    def tables(self) -> Mapping[str, Table[Any]]:
        """Every table by name, including the table of events."""
        return {**self.world.tables, self.queue.table.name: self.queue.table}

    def restart_history(self, source: bytes) -> None:
        """Starts an empty history at the current state. A non-empty `source` enters the hash chain."""
        head = self.history.head
        self.history = History(sha256(head.encode() + source).hexdigest() if source else head)

    def check(self, action: Action) -> tuple[str, ...]:
        """Raises the Fault that the action would raise if executed now. Changes nothing. Returns the unknown ids."""
        transaction = self._transaction(self.mark.sequence + 1, None)
        try:
            self._rules(self.world, action, transaction)
        finally:
            transaction.roll_back()
        return tuple(transaction.ignored)

    def first_row_id(self, event: Event) -> str:
        """The id of the first row that an event creates if its action names no id."""
        return row_id(self._space, event.sequence, 1)

    # --- steps ---

    def schedule(self, submissions: Sequence[Submission]) -> list[Event]:
        """Adds events to the queue in one step."""
        before, transaction = self.mark, self._transaction()
        events = [self._not_before_next_tick(self._new_event(submission)) for submission in submissions]
        self._conclude(StepKind.SCHEDULED, events, transaction, before)
        return events

    def act(self, submission: Submission) -> Event:
        """Schedules and executes an action in one step. A Fault leaves everything unchanged."""
        before = self.mark
        event = replace(self._new_event(submission), scheduled_time=self.now)
        transaction = self._transaction(event.sequence, event.agent_id)
        try:
            self._rules(self.world, event.action, transaction)
        except Fault:
            transaction.roll_back()
            self.mark = before
            raise
        done = event.ended(EventStatus.EXECUTED, self.now, ignored=transaction.ignored)
        caused = self._caused(event, transaction)
        self._conclude(StepKind.EXECUTED, [done], transaction, before, caused)
        return done

    def run_until(self, end: int) -> list[Event]:
        """Executes every event due by an instant (µs), in order and each at its due time. Moves the clock there."""
        done: list[Event] = []
        instant, at_instant = -1, 0
        due = self.queue.due_by(end)
        while (event := due.next()) is not None:
            moment = to_us(event.scheduled_time)
            at_instant = at_instant + 1 if moment == instant else 1
            instant = moment
            ended, caused = self._execute(event, moment, crowded=at_instant > self._max_per_instant)
            done.append(ended)
            for other in caused:
                due.join(other)
        self.move_clock(end)
        return done

    def end(
        self, kind: StepKind, status: EventStatus, events: Iterable[Event], reason: str | None = None
    ) -> list[Event]:
        """Ends pending events without executing them, in one step. `reason` becomes their error message."""
        ended = [event.ended(status, None, reason) for event in events]
        if ended:
            self._conclude(kind, ended, self._transaction(), self.mark)
        return ended

    def move_clock(self, instant: int) -> None:
        """Sets the clock. The move belongs to the last step; only before the first step is it a step of its own."""
        if instant == self.mark.clock:
            return
        before, after = self.mark, Mark(instant, self.mark.sequence)
        self._set_mark(after)
        if self.history.steps:
            self.history.extend_last(after)
        else:
            self.history.add(Step(StepKind.CLOCK, instant, (), (), before, after))

    def undo(self, count: int) -> list[Step]:
        """Undoes the last `count` steps, or all if there are fewer. Returns them, latest first."""
        taken = self.history.undo(count)
        if taken:
            self._set_mark(taken[-1].before)
        return taken

    def redo(self, count: int) -> list[Step]:
        """Redoes the next `count` undone steps, or all if there are fewer. Returns them in order."""
        taken = self.history.redo(count)
        if taken:
            self._set_mark(taken[-1].after)
        return taken

    def rewind(self) -> int:
        """Undoes every step, without a redo. Returns their number."""
        taken = self.undo(len(self.history.steps))
        self.history.undone.clear()
        return len(taken)

    # --- internals ---

    def _set_mark(self, mark: Mark) -> None:
        self.mark = mark
        self.now = from_us(mark.clock)

    def _transaction(self, sequence: int = 0, agent_id: str | None = None) -> Transaction:
        return Transaction(self.now, self._space, sequence, agent_id)

    def _new_event(self, submission: Submission) -> Event:
        sequence = self.mark.sequence + 1
        self.mark = Mark(self.mark.clock, sequence)
        return Event(
            event_id=event_id(self._space, sequence),
            sequence=sequence,
            scheduled_time=submission.due,
            action=submission.action,
            created_at=self.now,
            agent_id=submission.agent_id,
            priority=submission.priority,
            status=EventStatus.PENDING,
            executed_at=None,
            error_message=None,
            metadata=submission.metadata,
        )

    def _not_before_next_tick(self, event: Event) -> Event:
        # An advance covers (t, t + d], so an event for now is due one tick later.
        if event.scheduled_time > self.now:
            return event
        return replace(event, scheduled_time=from_us(self.mark.clock + TICK))

    def _caused(self, event: Event, transaction: Transaction) -> list[Event]:
        return [
            self._new_event(
                Submission(
                    cause.action,
                    max(cause.due, self.now),
                    event.agent_id,
                    event.priority,
                    {CAUSED_BY: event.event_id},
                )
            )
            for cause in transaction.causes
        ]

    def _execute(self, event: Event, due: int, *, crowded: bool) -> tuple[Event, list[Event]]:
        before = self.mark
        if due > before.clock:
            self.mark, self.now = Mark(due, before.sequence), event.scheduled_time
        transaction = self._transaction(event.sequence, event.agent_id)
        caused: list[Event] = []
        try:
            if crowded:
                raise Conflict(f"more than {self._max_per_instant} events at one instant")
            self._rules(self.world, event.action, transaction)
        except Fault as fault:
            transaction.roll_back()
            kind, done = StepKind.FAILED, event.ended(EventStatus.FAILED, self.now, str(fault))
        else:
            kind, done = StepKind.EXECUTED, event.ended(EventStatus.EXECUTED, self.now, ignored=transaction.ignored)
            if transaction.causes:
                caused = self._caused(event, transaction)
        self._conclude(kind, [done], transaction, before, caused)
        return done, caused

    def _conclude(
        self,
        kind: StepKind,
        events: Sequence[Event],
        transaction: Transaction,
        before: Mark,
        caused: Sequence[Event] = (),
    ) -> None:
        table, ids = self.queue.table, []
        for event in events:
            transaction.put(table, event.event_id, event)
            ids.append(event.event_id)
        for event in caused:
            transaction.put(table, event.event_id, event)
        mark = self.mark
        self.history.add(Step(kind, mark.clock, tuple(ids), tuple(transaction.changes), before, mark))
