"""Undo, redo and reset: undo and redo are inverse, and the chain identifies a run."""

from datetime import timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from concord_environment.core.engine import Position
from concord_environment.core.events import EventStatus, Submission
from concord_environment.core.faults import Fault
from concord_environment.core.simulation import Simulation
from concord_environment.modalities.world import EnvironmentWorld
from tests.unit.environment.test_time import actions
from tests.unit.environment.worlds import (
    at,
    delete,
    digests,
    mail,
    new_simulation,
    note_to_self,
    read,
    say,
    schedule,
    seconds,
)

State = tuple[Position, dict[str, list[tuple[str, bytes]]]]


def state_of(simulation: Simulation[EnvironmentWorld]) -> State:
    return simulation.position, digests(simulation.tables)


class History(RuleBasedStateMachine):
    """Random calls in any order. Undoing all of them restores the origin; redoing them restores the latest state."""

    def __init__(self) -> None:
        super().__init__()
        self.simulation = new_simulation()
        self.origin = state_of(self.simulation)

    @rule(action=actions, delay=st.integers(0, 30), priority=st.integers(0, 2))
    def schedule(self, action: object, delay: int, priority: int) -> None:
        due = at(delay) if at(delay) >= self.simulation.now else self.simulation.now
        self.simulation.schedule([Submission(action, due, priority=priority)])  # type: ignore[arg-type]

    @rule(action=actions)
    def act(self, action: object) -> None:
        before = state_of(self.simulation)
        try:
            self.simulation.act(Submission(action, self.simulation.now))  # type: ignore[arg-type]
        except Fault:
            assert state_of(self.simulation) == before

    @rule(microseconds=st.integers(1, 10_000_000))
    def advance(self, microseconds: int) -> None:
        self.simulation.advance(microseconds)

    @rule(delay=st.integers(1, 10))
    def jump(self, delay: int) -> None:
        self.simulation.jump(self.simulation.now + timedelta(seconds=delay))

    @precondition(lambda self: self.simulation.next_event() is not None)
    @rule()
    def cancel(self) -> None:
        event = self.simulation.next_event()
        assert event is not None
        self.simulation.cancel(event.event_id)

    @rule(count=st.integers(1, 5))
    def undo_then_redo(self, count: int) -> None:
        before = state_of(self.simulation)
        taken = self.simulation.undo(count)
        self.simulation.redo(len(taken))
        assert state_of(self.simulation) == before

    @rule(count=st.integers(1, 5))
    def undo(self, count: int) -> None:
        self.simulation.undo(count)

    @invariant()
    def everything_undone_is_the_origin(self) -> None:
        before = state_of(self.simulation)
        taken = self.simulation.undo(1_000)
        assert state_of(self.simulation) == self.origin
        self.simulation.redo(len(taken))
        assert state_of(self.simulation) == before

    @invariant()
    def statuses_add_up(self) -> None:
        counted = sum(self.simulation.count(status) for status in EventStatus)
        assert counted == len(self.simulation.events)


def test_undoing_any_calls_restores_the_origin_and_redoing_them_the_latest_state() -> None:
    limits = settings(max_examples=25, stateful_step_count=15, deadline=None)
    run_state_machine_as_test(History, settings=limits)


def full_run(seed: int = 0) -> Simulation[EnvironmentWorld]:
    simulation = new_simulation(seed=seed)
    schedule(simulation, (1, mail("a")), (1, mail("b")), (2, read("a")), (3, delete("b")), (4, say("done")))
    simulation.advance(seconds(10))
    return simulation


def test_undoing_everything_restores_the_start_including_reads_and_deletes() -> None:
    simulation = full_run()
    start = state_of(new_simulation())
    undone = simulation.undo(100)
    assert len(undone) == 6
    assert state_of(simulation) == start


def test_an_undone_event_is_pending_and_is_executed_again() -> None:
    simulation = full_run()
    after = state_of(simulation)
    simulation.undo(2)
    assert simulation.now == at(2)
    assert simulation.count(EventStatus.PENDING) == 2
    simulation.advance(seconds(8))
    assert state_of(simulation) == after


def test_a_new_action_after_an_undo_discards_what_could_be_redone() -> None:
    simulation = full_run()
    simulation.undo(1)
    simulation.act(Submission(say("else"), simulation.now))
    assert simulation.redo(5) == []


def test_a_rewind_restores_the_settled_state() -> None:
    simulation = full_run()
    simulation.set_origin()
    origin = state_of(simulation)
    schedule(simulation, (20, mail("c")))
    simulation.advance(seconds(60))
    assert simulation.rewind() == 2
    assert state_of(simulation) == origin


def test_a_reset_restores_the_settled_data_and_makes_later_events_pending_again_at_the_same_time() -> None:
    simulation = full_run()
    simulation.set_origin()
    settled = digests(simulation.world.tables)
    known = {event.event_id: event.status for event in simulation.events.rows()}
    schedule(simulation, (20, note_to_self("c")), (30, say("d")))
    simulation.advance(seconds(60))
    now = simulation.now
    assert simulation.reset() == 3
    assert (digests(simulation.world.tables), simulation.now) == (settled, now)
    statuses = [event.status for event in simulation.events.rows() if event.event_id not in known]
    assert statuses == [EventStatus.PENDING] * 2
    assert all(simulation.events.get(event_id).status is status for event_id, status in known.items())  # type: ignore[union-attr]
    assert simulation.advance(seconds(1)).executed == 3


def test_two_runs_of_the_same_calls_have_the_same_chain() -> None:
    one, other = full_run(), full_run()
    assert one.history.heads() == other.history.heads()


def test_another_seed_gives_other_ids_and_another_chain() -> None:
    one, other = full_run(seed=1), full_run(seed=2)
    assert {event.event_id for event in one.events.rows()}.isdisjoint(event.event_id for event in other.events.rows())
    assert one.position.head != other.position.head


def test_another_action_gives_another_chain() -> None:
    one, other = new_simulation(), new_simulation()
    one.act(Submission(say("yes"), at(0)))
    other.act(Submission(say("no"), at(0)))
    assert one.position.head != other.position.head
