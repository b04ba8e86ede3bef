"""Simulated time: an advance covers (t, t + d], stops at each event's due time, and two advances equal one."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concord_environment.core.actions import Action
from concord_environment.core.clock import TICK, as_utc, from_us, to_us
from concord_environment.core.events import EventStatus, Submission
from concord_environment.core.faults import BadRequest, Conflict, Invalid, NotFound
from concord_environment.modalities.calendar.requests import CreateEvent, UpdateEvent
from concord_environment.modalities.email.state import EmailState
from tests.unit.environment.worlds import (
    START,
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
    star,
)

NAMES = ("a", "b", "c")
actions: st.SearchStrategy[Action] = st.one_of(
    st.sampled_from(NAMES).map(mail),
    st.sampled_from(NAMES).map(read),
    st.sampled_from(NAMES).map(star),
    st.sampled_from(NAMES).map(delete),
    st.sampled_from(NAMES).map(say),
    st.sampled_from(NAMES).map(note_to_self),
)
agendas = st.lists(st.tuples(st.integers(0, 20), actions, st.integers(0, 2)), max_size=12)


def planned(agenda: Iterable[tuple[int, Action, int]]) -> list[Submission]:
    return [Submission(action, at(due), priority=priority) for due, action, priority in agenda]


@given(agendas, st.integers(1, 15_000_000), st.integers(1, 15_000_000))
@settings(max_examples=60, deadline=None)
def test_two_advances_equal_one_over_both(agenda: list[tuple[int, Action, int]], first: int, second: int) -> None:
    twice, once = new_simulation(), new_simulation()
    for simulation in (twice, once):
        simulation.schedule(planned(agenda))

    executed = [*twice.advance(first).events, *twice.advance(second).events]
    at_once = once.advance(first + second).events

    assert executed == list(at_once)
    assert twice.position == once.position
    assert digests(twice.tables) == digests(once.tables)


@given(agendas)
@settings(max_examples=40, deadline=None)
def test_events_are_executed_by_due_time_then_priority_then_creation(
    agenda: list[tuple[int, Action, int]],
) -> None:
    simulation = new_simulation()
    simulation.schedule(planned(agenda))
    executed = [event for event in simulation.advance(seconds(60)).events if "caused_by" not in event.metadata]
    order = [(event.scheduled_time, -event.priority, event.sequence) for event in executed]
    assert order == sorted(order)
    assert len(executed) == len(agenda)


def test_the_clock_shows_the_due_time_during_an_event() -> None:
    simulation = new_simulation()
    schedule(simulation, (5, mail("a")), (7.5, say("b")))
    progress = simulation.advance(seconds(10))
    assert [event.executed_at for event in progress.events] == [at(5), at(7.5)]
    found = simulation.world[EmailState].emails.get("a")
    assert found is not None
    assert found.received_at == at(5)
    assert simulation.now == at(10)


def test_an_advance_includes_its_end_and_excludes_its_start() -> None:
    simulation = new_simulation()
    schedule(simulation, (5, mail("a")))
    assert simulation.advance(seconds(5)).executed == 1
    assert simulation.advance(seconds(5)).executed == 0


def test_an_event_due_now_is_executed_one_tick_later() -> None:
    simulation = new_simulation()
    schedule(simulation, (0, mail("a")))
    assert "a" not in simulation.world[EmailState].emails
    assert simulation.advance(TICK).executed == 1


def test_a_consequence_of_an_event_is_executed_in_the_same_advance_and_names_its_cause() -> None:
    simulation = new_simulation()
    (sent,) = schedule(simulation, (1, note_to_self("x")))
    events = simulation.advance(seconds(2)).events
    assert [event.action.operation for event in events] == ["send", "receive"]
    assert events[1].metadata == {"caused_by": sent}
    assert events[1].executed_at == at(1)


def test_a_failing_event_is_recorded_and_changes_no_data() -> None:
    simulation = new_simulation()
    schedule(simulation, (1, mail("a")), (2, mail("a")), (3, say("x")))
    before = digests(simulation.world.tables)
    progress = simulation.advance(seconds(2))
    failed = progress.events[1]
    assert (failed.status, failed.executed_at) == (EventStatus.FAILED, at(2))
    assert failed.error_message == "email a already exists"
    changed = {name for name, digest in digests(simulation.world.tables).items() if digest != before[name]}
    assert changed == {"email.emails", "upkeep"}
    assert simulation.advance(seconds(1)).executed == 1


def test_an_action_that_fails_midway_is_rolled_back() -> None:
    simulation = new_simulation()
    series = {"title": "x", "event_id": "e", "start": at(3600), "end": at(7200), "recurrence": {"frequency": "daily"}}
    simulation.act(Submission(CreateEvent.model_validate(series), simulation.now))
    before = digests(simulation.world.tables)
    split = UpdateEvent(event_id="e", recurrence_scope="this_and_future", recurrence_id="2026-03-04", end=at(0))
    with pytest.raises(BadRequest):
        simulation.act(Submission(split, simulation.now))
    assert digests(simulation.world.tables) == before


def test_an_action_leaves_out_unknown_ids_and_its_event_lists_them() -> None:
    simulation = new_simulation()
    schedule(simulation, (1, mail("a")))
    simulation.advance(seconds(1))
    action = read("a").model_copy(update={"message_ids": ("nothing",)})
    event = simulation.act(Submission(action, simulation.now))
    assert (event.status, event.metadata) == (EventStatus.EXECUTED, {"ignored_ids": ["nothing"]})
    (email,) = simulation.world[EmailState].emails.rows()
    assert email.is_read


def test_the_number_of_events_at_one_instant_is_limited() -> None:
    simulation = new_simulation(per_instant=3)
    schedule(simulation, *((1, say(str(number))) for number in range(5)))
    progress = simulation.advance(seconds(1))
    assert (progress.executed, progress.failed) == (3, 2)
    assert progress.events[-1].error_message == "more than 3 events at one instant"


def test_setting_the_clock_skips_due_events() -> None:
    simulation = new_simulation()
    schedule(simulation, (5, mail("a")), (15, mail("b")))
    (skipped,) = simulation.jump(at(10))
    assert skipped.status is EventStatus.SKIPPED
    assert simulation.advance(seconds(5)).executed == 1
    assert "a" not in simulation.world[EmailState].emails


def test_times_in_the_past_are_refused() -> None:
    simulation = new_simulation()
    simulation.advance(seconds(10))
    with pytest.raises(BadRequest):
        simulation.jump(at(5))
    with pytest.raises(Conflict):
        schedule(simulation, (5, mail("a")))
    with pytest.raises(Invalid):
        simulation.advance(0)


def test_scheduling_several_events_is_atomic() -> None:
    simulation = new_simulation()
    simulation.advance(seconds(10))
    with pytest.raises(Conflict):
        schedule(simulation, (20, mail("a")), (5, mail("b")))
    assert len(simulation.events) == 0


def test_skipping_to_the_next_event_executes_all_events_due_with_it() -> None:
    simulation = new_simulation()
    schedule(simulation, (5, mail("a")), (5, mail("b")), (6, mail("c")))
    assert simulation.skip_to_next().executed == 2
    assert simulation.now == at(5)
    simulation.skip_to_next()
    with pytest.raises(NotFound):
        simulation.skip_to_next()


def test_only_a_pending_event_can_be_cancelled() -> None:
    simulation = new_simulation()
    (event_id,) = schedule(simulation, (5, mail("a")))
    assert simulation.cancel(event_id).status is EventStatus.CANCELLED
    with pytest.raises(BadRequest):
        simulation.cancel(event_id)
    with pytest.raises(NotFound):
        simulation.cancel("nothing")
    assert simulation.advance(seconds(10)).executed == 0


@given(st.datetimes(min_value=START.replace(tzinfo=None, year=1970), max_value=START.replace(tzinfo=None, year=2199)))
def test_a_datetime_survives_conversion_to_the_clock(naive: object) -> None:
    moment = as_utc(naive)  # type: ignore[arg-type]  # hypothesis types it as datetime
    assert from_us(to_us(moment)) == moment
