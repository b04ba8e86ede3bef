"""What time does: it covers (t, t + d], stops at each event's due time, and two steps make one."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concord_environment.core.actions import Action
from concord_environment.core.clock import TICK, as_utc, from_us, to_us
from concord_environment.core.events import EventStatus, Submission
from concord_environment.core.faults import Conflict, Invalid, NotThere
from concord_environment.core.replay import digests
from concord_environment.modalities.email.state import EmailState
from tests.unit.environment.worlds import (
    START,
    at,
    delete,
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
def test_two_advances_do_what_one_over_both_does(
    agenda: list[tuple[int, Action, int]], first: int, second: int
) -> None:
    twice, once = new_simulation(), new_simulation()
    for simulation in (twice, once):
        simulation.schedule(planned(agenda))

    done = [*twice.advance(first).events, *twice.advance(second).events]
    at_once = once.advance(first + second).events

    assert done == list(at_once)
    assert twice.position == once.position
    assert digests(twice.tables) == digests(once.tables)


@given(agendas)
@settings(max_examples=40, deadline=None)
def test_events_happen_by_due_time_then_priority_then_the_order_in_which_they_were_made(
    agenda: list[tuple[int, Action, int]],
) -> None:
    simulation = new_simulation()
    simulation.schedule(planned(agenda))
    done = [event for event in simulation.advance(seconds(60)).events if "caused_by" not in event.metadata]
    order = [(event.scheduled_time, -event.priority, event.sequence) for event in done]
    assert order == sorted(order)
    assert len(done) == len(agenda)


def test_the_clock_stands_at_the_due_time_while_an_event_happens() -> None:
    simulation = new_simulation()
    schedule(simulation, (5, mail("a")), (7.5, say("b")))
    progress = simulation.advance(seconds(10))
    assert [event.executed_at for event in progress.events] == [at(5), at(7.5)]
    found = simulation.world[EmailState].emails.get("a")
    assert found is not None
    assert found.received_at == at(5)
    assert simulation.now == at(10)


def test_an_advance_takes_in_its_end_and_leaves_out_its_beginning() -> None:
    simulation = new_simulation()
    schedule(simulation, (5, mail("a")))
    assert simulation.advance(seconds(5)).executed == 1
    assert simulation.advance(seconds(5)).executed == 0


def test_what_is_asked_for_now_happens_one_tick_after_time_begins_to_move() -> None:
    simulation = new_simulation()
    schedule(simulation, (0, mail("a")))
    assert "a" not in simulation.world[EmailState].emails
    assert simulation.advance(TICK).executed == 1


def test_what_an_event_brings_about_at_once_happens_in_the_same_advance_and_names_its_cause() -> None:
    simulation = new_simulation()
    (sent,) = schedule(simulation, (1, note_to_self("x")))
    events = simulation.advance(seconds(2)).events
    assert [event.action.operation for event in events] == ["send", "receive"]
    assert events[1].metadata == {"caused_by": sent}
    assert events[1].executed_at == at(1)


def test_a_failing_event_is_recorded_and_leaves_nothing_behind() -> None:
    simulation = new_simulation()
    schedule(simulation, (1, mail("a")), (2, delete("nothing")), (3, say("x")))
    before = digests(simulation.world.tables)
    progress = simulation.advance(seconds(2))
    failed = progress.events[1]
    assert (failed.status, failed.executed_at) == (EventStatus.FAILED, at(2))
    assert failed.error_message == "there is no email nothing"
    changed = {name for name, digest in digests(simulation.world.tables).items() if digest != before[name]}
    assert changed == {"email.emails", "upkeep"}
    assert simulation.advance(seconds(1)).executed == 1


def test_an_action_that_fails_half_way_takes_its_writes_back() -> None:
    simulation = new_simulation()
    schedule(simulation, (1, mail("a")))
    simulation.advance(seconds(1))
    before = digests(simulation.world.tables)
    with pytest.raises(NotThere):
        simulation.act(Submission(read("a").model_copy(update={"message_ids": ("nothing",)}), simulation.now))
    assert digests(simulation.world.tables) == before


def test_events_at_one_instant_come_to_an_end() -> None:
    simulation = new_simulation(per_instant=3)
    schedule(simulation, *((1, say(str(number))) for number in range(5)))
    progress = simulation.advance(seconds(1))
    assert (progress.executed, progress.failed) == (3, 2)
    assert progress.events[-1].error_message == "more than 3 events at one instant"


def test_setting_the_clock_skips_what_was_due_and_executes_nothing() -> None:
    simulation = new_simulation()
    schedule(simulation, (5, mail("a")), (15, mail("b")))
    (skipped,) = simulation.jump(at(10))
    assert skipped.status is EventStatus.SKIPPED
    assert simulation.advance(seconds(5)).executed == 1
    assert "a" not in simulation.world[EmailState].emails


def test_the_past_is_past() -> None:
    simulation = new_simulation()
    simulation.advance(seconds(10))
    with pytest.raises(Conflict):
        simulation.jump(at(5))
    with pytest.raises(Conflict):
        schedule(simulation, (5, mail("a")))
    with pytest.raises(Invalid):
        simulation.advance(0)


def test_of_events_that_are_scheduled_together_all_are_or_none() -> None:
    simulation = new_simulation()
    simulation.advance(seconds(10))
    with pytest.raises(Conflict):
        schedule(simulation, (20, mail("a")), (5, mail("b")))
    assert len(simulation.events) == 0


def test_skipping_to_the_next_event_executes_all_that_is_due_with_it() -> None:
    simulation = new_simulation()
    schedule(simulation, (5, mail("a")), (5, mail("b")), (6, mail("c")))
    assert simulation.skip_to_next().executed == 2
    assert simulation.now == at(5)
    simulation.skip_to_next()
    with pytest.raises(NotThere):
        simulation.skip_to_next()


def test_only_a_pending_event_can_be_cancelled() -> None:
    simulation = new_simulation()
    (event_id,) = schedule(simulation, (5, mail("a")))
    assert simulation.cancel(event_id).status is EventStatus.CANCELLED
    with pytest.raises(Conflict):
        simulation.cancel(event_id)
    with pytest.raises(NotThere):
        simulation.cancel("nothing")
    assert simulation.advance(seconds(10)).executed == 0


@given(st.datetimes(min_value=START.replace(tzinfo=None, year=1970), max_value=START.replace(tzinfo=None, year=2199)))
def test_a_moment_survives_the_clock_to_the_microsecond(naive: object) -> None:
    moment = as_utc(naive)  # type: ignore[arg-type]  # hypothesis types it as datetime
    assert from_us(to_us(moment)) == moment
