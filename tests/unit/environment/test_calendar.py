"""The calendar: series, their exceptions and cuts, zones, and invitations that are answered."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from concord_environment.core.events import Submission
from concord_environment.core.faults import Conflict, Fault, Invalid, NotThere
from concord_environment.core.simulation import Simulation
from concord_environment.modalities.calendar.queries import CalendarQuery, find_events
from concord_environment.modalities.calendar.records import CalendarEvent
from concord_environment.modalities.calendar.requests import (
    CalendarAction,
    CreateEvent,
    DeleteEvent,
    Respond,
    UpdateEvent,
)
from concord_environment.modalities.calendar.rules import recurs
from concord_environment.modalities.world import EnvironmentWorld
from concord_environment.scenario.consistency import inconsistencies
from tests.unit.environment.worlds import USER, new_simulation

MONDAY = datetime(2026, 3, 2, 10)  # noqa: DTZ001 - meant in the event's zone
WINDOW = {"start": datetime(2026, 3, 1, tzinfo=UTC), "end": datetime(2026, 5, 1, tzinfo=UTC), "expand_recurring": True}

Sim = Simulation[EnvironmentWorld]


def do(simulation: Sim, action: CalendarAction) -> None:
    simulation.act(Submission(action, simulation.now))


def create(simulation: Sim, **fields: object) -> None:
    given_fields = {
        "event_id": "e",
        "title": "Standup",
        "start": MONDAY,
        "end": MONDAY + timedelta(minutes=30),
        "timezone": "Europe/Berlin",
        "organizer": USER,
        **fields,
    }
    do(simulation, CreateEvent.model_validate(given_fields))


def weekly(**fields: object) -> dict[str, object]:
    return {"frequency": "weekly", "end_type": "count", "count": 6, **fields}


def happens(simulation: Sim, **query: object) -> list[CalendarEvent]:
    asked = CalendarQuery.model_validate({**WINDOW, **query, "limit": 1000})
    return find_events(simulation.world.calendar, asked, simulation.now)[0]


def days(simulation: Sim) -> list[str]:
    return [event.start.astimezone(ZoneInfo("Europe/Berlin")).date().isoformat() for event in happens(simulation)]


def found(simulation: Sim, event_id: str = "e") -> CalendarEvent:
    event = simulation.world.calendar.events.get(event_id)
    assert event is not None
    return event


MONDAYS = [(date(2026, 3, 2) + timedelta(weeks=week)).isoformat() for week in range(6)]


def test_a_series_keeps_its_time_of_day_when_the_clocks_change() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    assert days(simulation) == MONDAYS
    # Berlin's clocks go forward on March 29.
    assert [event.start.hour for event in happens(simulation)] == [9, 9, 9, 9, 8, 8]


def test_one_occurrence_is_deleted_and_the_others_stay() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    do(simulation, DeleteEvent(event_id="e", recurrence_scope="this", recurrence_id=MONDAYS[2]))
    assert days(simulation) == [day for day in MONDAYS if day != MONDAYS[2]]


def test_one_occurrence_is_changed_and_the_others_stay() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    later = MONDAY + timedelta(weeks=1, hours=4)
    do(simulation, UpdateEvent(event_id="e", recurrence_id=MONDAYS[1], start=later, title="Moved"))
    shown = happens(simulation)
    assert [event.title for event in shown] == ["Standup", "Moved", "Standup", "Standup", "Standup", "Standup"]
    assert shown[1].end - shown[1].start == timedelta(minutes=30)
    assert (shown[1].parent_event_id, shown[1].recurrence_id) == ("e", MONDAYS[1])


def test_a_cut_makes_two_series_that_happen_as_often_as_one_did() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    do(
        simulation,
        UpdateEvent(event_id="e", recurrence_scope="this_and_future", recurrence_id=MONDAYS[2], title="New"),
    )
    assert days(simulation) == MONDAYS
    assert [event.title for event in happens(simulation)] == ["Standup"] * 2 + ["New"] * 4


def test_a_series_ends_before_an_occurrence_that_is_deleted_with_those_after_it() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    do(simulation, DeleteEvent(event_id="e", recurrence_scope="this_and_future", recurrence_id=MONDAYS[4]))
    assert days(simulation) == MONDAYS[:4]
    do(simulation, DeleteEvent(event_id="e", recurrence_scope="this_and_future", recurrence_id=MONDAYS[0]))
    assert days(simulation) == []


def test_all_of_a_series_goes_with_its_changed_occurrences() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    do(simulation, UpdateEvent(event_id="e", recurrence_id=MONDAYS[1], title="Moved"))
    do(simulation, DeleteEvent(event_id="e"))
    assert len(simulation.world.calendar.events) == 0


def test_an_occurrence_that_there_is_not_can_be_neither_changed_nor_deleted() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    for day in ("2026-03-03", "2027-03-01"):
        with pytest.raises(NotThere):
            do(simulation, DeleteEvent(event_id="e", recurrence_scope="this", recurrence_id=day))
    with pytest.raises(Invalid):
        do(simulation, DeleteEvent(event_id="e", recurrence_scope="this"))


@pytest.mark.parametrize(
    "recurrence",
    [
        {"frequency": "yearly", "month_of_year": 2, "day_of_month": 30},
        {"frequency": "monthly", "rrule": "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6"},
    ],
)
def test_a_series_that_never_happens_is_refused(recurrence: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        create(new_simulation(), recurrence=recurrence)


def test_a_rule_on_leap_days_does_happen() -> None:
    assert recurs("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", datetime(2026, 3, 1, tzinfo=UTC))


def test_an_event_ends_after_it_begins() -> None:
    with pytest.raises(Invalid):
        create(new_simulation(), end=MONDAY - timedelta(hours=1))


ATTENDEES = [{"email": USER}, {"email": "eve@example.com", "response": "accepted"}, {"email": "bob@example.com"}]


def test_an_answer_changes_one_attendee_and_nothing_else() -> None:
    simulation = new_simulation()
    create(simulation, attendees=ATTENDEES)
    before = found(simulation)
    do(simulation, Respond(event_id="e", attendee_email="BOB@example.com", response="declined", comment="away"))
    after = found(simulation)
    assert [attendee.response for attendee in after.attendees] == ["needs-action", "accepted", "declined"]
    assert after.sequence == before.sequence
    assert after.attendees[:2] == before.attendees[:2]


def test_who_is_not_invited_cannot_answer_nor_anybody_a_cancelled_meeting() -> None:
    simulation = new_simulation()
    create(simulation, attendees=ATTENDEES)
    with pytest.raises(NotThere):
        do(simulation, Respond(event_id="e", attendee_email="nobody@example.com", response="accepted"))
    do(simulation, UpdateEvent(event_id="e", status="cancelled"))
    with pytest.raises(Conflict):
        do(simulation, Respond(event_id="e", attendee_email=USER, response="accepted"))


def test_a_material_change_bumps_the_sequence_and_asks_everybody_but_the_organiser_anew() -> None:
    simulation = new_simulation()
    create(simulation, attendees=[*ATTENDEES[1:], {"email": USER, "response": "accepted"}])
    do(simulation, UpdateEvent(event_id="e", start=MONDAY + timedelta(hours=1)))
    event = found(simulation)
    assert event.sequence == 1
    assert [attendee.response for attendee in event.attendees] == ["needs-action", "needs-action", "accepted"]


def test_another_title_or_room_asks_nobody_anew() -> None:
    simulation = new_simulation()
    create(simulation, attendees=ATTENDEES)
    do(simulation, UpdateEvent(event_id="e", title="Other", location="Room 2"))
    event = found(simulation)
    assert event.sequence == 0
    assert event.attendees[1].response == "accepted"


def test_one_occurrence_can_be_answered_by_itself() -> None:
    simulation = new_simulation()
    create(simulation, attendees=ATTENDEES, recurrence=weekly())
    do(simulation, Respond(event_id="e", attendee_email=USER, response="declined", recurrence_id=MONDAYS[1]))
    answers = [event.attendees[0].response for event in happens(simulation)]
    assert answers == ["needs-action", "declined", *["needs-action"] * 4]


def test_events_are_found_by_what_people_look_for() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly(), attendees=ATTENDEES)
    create(simulation, event_id="d", title="Dentist", location="Main Street", start=MONDAY, end=MONDAY)
    assert [event.event_id for event in happens(simulation, search="main street")] == ["d"]
    assert {event.event_id for event in happens(simulation, attendee_email="Eve@example.com")} == {"e"}
    assert len(happens(simulation, recurring=True)) == 6
    assert len(happens(simulation, recurring=True, expand_recurring=False)) == 1
    assert {event.event_id for event in happens(simulation, start=None, end=None, date=MONDAY.date())} == {"d", "e"}


@pytest.mark.parametrize("scope", ["all", "this_and_future"])
def test_exceptions_move_along_with_a_series_that_moves_to_other_days(scope: str) -> None:
    simulation = new_simulation()
    create(simulation, recurrence={"frequency": "daily", "end_type": "count", "count": 4})
    do(simulation, DeleteEvent(event_id="e", recurrence_scope="this", recurrence_id="2026-03-03"))
    do(simulation, DeleteEvent(event_id="e", recurrence_scope="this", recurrence_id="2026-03-05"))
    day = None if scope == "all" else "2026-03-02"
    moved = {"event_id": "e", "recurrence_scope": scope, "recurrence_id": day, "start": MONDAY - timedelta(days=1)}
    do(simulation, UpdateEvent.model_validate(moved))
    assert days(simulation) == ["2026-03-01", "2026-03-03"]


def test_an_occurrence_of_its_own_replaces_the_same_one_of_a_series_that_moved_across_midnight() -> None:
    simulation = new_simulation()
    create(simulation, recurrence={"frequency": "daily", "end_type": "count", "count": 3})
    own = {"recurrence_scope": "this", "recurrence_id": "2026-03-04", "title": "Its own"}
    do(simulation, UpdateEvent.model_validate({"event_id": "e", **own}))
    do(simulation, UpdateEvent.model_validate({"event_id": "e", "start": MONDAY - timedelta(hours=11)}))
    shown = happens(simulation)
    assert [event.title for event in shown] == ["Standup", "Standup", "Its own"]
    assert [event.recurrence_id for event in shown] == ["2026-03-01", "2026-03-02", "2026-03-03"]


class Calendar(RuleBasedStateMachine):
    """Any edits of series: what is shown fits together, and undoing leads back."""

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
        return happens(self.simulation, **window)

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
        start = (one.start if scope != "all" else found(self.simulation, one.event_id).start) + timedelta(
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
        do(self.simulation, action)
        after = self.shown()
        self.simulation.undo(1)
        self.simulation.redo(1)
        assert self.shown() == after

    @invariant()
    def it_fits_together(self) -> None:
        if hasattr(self, "simulation"):
            assert inconsistencies(self.simulation.world) == []
            assert all(event.end - event.start == timedelta(minutes=30) for event in self.shown())


Calendar.TestCase.settings = settings(max_examples=25, stateful_step_count=10, deadline=None)
TestCalendar = Calendar.TestCase


@given(st.integers(1, 30), st.integers(0, 29))
@settings(max_examples=30, deadline=None)
def test_a_cut_anywhere_keeps_the_number_of_occurrences(count: int, cut: int) -> None:
    simulation = new_simulation()
    create(simulation, recurrence={"frequency": "daily", "end_type": "count", "count": count})
    before = days(simulation)
    if cut < count:
        scope = {"recurrence_scope": "this_and_future", "recurrence_id": before[cut]}
        do(simulation, UpdateEvent.model_validate({"event_id": "e", "title": "New", **scope}))
    assert days(simulation) == before
