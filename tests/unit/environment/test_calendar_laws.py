"""Laws of recurring series: no edit loses, duplicates or leaves behind an occurrence."""

from datetime import UTC, datetime, timedelta
from itertools import takewhile

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from concord_environment.core.faults import Fault
from concord_environment.modalities.calendar.recurrence import occurrences
from concord_environment.modalities.calendar.requests import (
    CalendarAction,
    DeleteEvent,
    Respond,
    UpdateEvent,
)
from concord_environment.modalities.calendar.state import CalendarEvent, CalendarState
from concord_environment.modalities.registry import inconsistencies
from tests.unit.environment.calendars import ATTENDEES, act, create, days, query_events, stored_event
from tests.unit.environment.worlds import USER, new_simulation


class Calendar(RuleBasedStateMachine):
    """Random edits of a series: the calendar stays consistent, and undoing and redoing an edit restores it."""

    @initialize(
        frequency=st.sampled_from(["daily", "weekly", "monthly"]),
        count=st.integers(1, 12),
        zone=st.sampled_from(["UTC", "Europe/Berlin", "America/New_York"]),
    )
    def series(self, frequency: str, count: int, zone: str) -> None:
        self.simulation = new_simulation()
        rule_given = {"frequency": frequency, "end_type": "count", "count": count}
        create(self.simulation, timezone=zone, recurrence=rule_given, attendees=ATTENDEES)

    def shown(self) -> list[CalendarEvent]:
        window = {"start": datetime(2026, 1, 1, tzinfo=UTC), "end": datetime(2028, 1, 1, tzinfo=UTC)}
        return query_events(self.simulation, **window)

    @rule(days=st.integers(1, 40))
    def time_passes(self, days: int) -> None:
        self.simulation.advance(days * 86_400_000_000)

    @precondition(lambda self: self.shown())
    @rule(data=st.data(), scope=st.sampled_from(["this", "this_and_future", "all"]))
    def delete(self, data: st.DataObject, scope: str) -> None:
        before = self.shown()
        one = data.draw(st.sampled_from(before))
        self.edit(DeleteEvent.model_validate(self.target(one, scope)))
        after = self.shown()
        assert len(after) < len(before)
        assert one not in after

    @precondition(lambda self: self.shown())
    @rule(data=st.data(), scope=st.sampled_from(["this", "this_and_future", "all"]), minutes=st.integers(-300, 300))
    def move(self, data: st.DataObject, scope: str, minutes: int) -> None:
        before = self.shown()
        one = data.draw(st.sampled_from(before))
        start = (one.start if scope != "all" else stored_event(self.simulation, one.event_id).start) + timedelta(
            minutes=minutes
        )
        try:
            self.edit(UpdateEvent.model_validate({**self.target(one, scope), "start": start}))
        except Fault:
            return
        assert len(self.shown()) == len(before)

    @precondition(lambda self: self.shown())
    @rule(data=st.data(), response=st.sampled_from(["accepted", "declined", "tentative"]))
    def respond(self, data: st.DataObject, response: str) -> None:
        one = data.draw(st.sampled_from(self.shown()))
        before = len(self.shown())
        answer = {"event_id": one.event_id, "response": response, "attendee_email": USER}
        self.edit(Respond.model_validate(answer))
        assert len(self.shown()) == before

    def target(self, one: CalendarEvent, scope: str) -> dict[str, object]:
        single = one.parent_event_id is not None or one.recurrence_id is None
        day = None if single or scope == "all" else one.recurrence_id
        return {"event_id": one.event_id, "recurrence_scope": scope, "recurrence_id": day}

    def edit(self, action: CalendarAction) -> None:
        act(self.simulation, action)
        after = self.shown()
        self.simulation.undo(1)
        self.simulation.redo(1)
        assert self.shown() == after

    @invariant()
    def calendar_is_consistent(self) -> None:
        if hasattr(self, "simulation"):
            assert inconsistencies(self.simulation.world) == []
            assert all(event.end - event.start == timedelta(minutes=30) for event in self.shown())


def test_a_series_stays_consistent_under_any_changes() -> None:
    limits = settings(max_examples=25, stateful_step_count=10, deadline=None)
    run_state_machine_as_test(Calendar, settings=limits)


@given(st.integers(1, 30), st.integers(0, 29))
@settings(max_examples=30, deadline=None)
def test_splitting_a_series_anywhere_keeps_its_occurrences(count: int, cut: int) -> None:
    simulation = new_simulation()
    create(simulation, recurrence={"frequency": "daily", "end_type": "count", "count": count})
    before = days(simulation)
    if cut < count:
        scope = {"recurrence_scope": "this_and_future", "recurrence_id": before[cut]}
        act(simulation, UpdateEvent.model_validate({"event_id": "e", "title": "New", **scope}))
    assert days(simulation) == before


SERIES = st.none() | st.fixed_dictionaries(
    {"frequency": st.sampled_from(["daily", "weekly", "monthly"]), "interval": st.integers(1, 3)},
    optional={"end_type": st.just("count"), "count": st.integers(1, 60)},
).filter(lambda rule: ("count" in rule) == ("end_type" in rule))
EVENTS = st.lists(
    st.tuples(
        st.integers(0, 30_000),
        st.sampled_from([0, 1, 24, 24 * 40, 24 * 500]),
        st.sampled_from(["UTC", "Europe/Berlin", "Pacific/Kiritimati", "America/New_York"]),
        SERIES,
    ),
    max_size=2,
)


@given(events=EVENTS, first=st.integers(0, 30_000), hours=st.sampled_from([1, 24, 168, 24 * 200, 24 * 366]))
@settings(deadline=None)
def test_a_query_window_shows_exactly_the_occurrences_that_overlap_it(
    events: list[tuple[int, int, str, dict[str, object] | None]], first: int, hours: int
) -> None:
    simulation = new_simulation()
    for number, (begin, length, zone, recurrence) in enumerate(events):
        start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=begin)
        end = start + timedelta(hours=length)
        create(simulation, event_id=str(number), start=start, end=end, timezone=zone, recurrence=recurrence)
    opens = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=first)
    closes = opens + timedelta(hours=hours)
    expected = {
        (row.event_id, one.start)
        for row in simulation.world[CalendarState].events.rows()
        for one in takewhile(lambda one: one.start < closes, occurrences(row, None, None))
        if one.end > opens or one.start == opens
    }
    shown = {(event.event_id, event.start) for event in query_events(simulation, start=opens, end=closes)}
    assert shown == expected
