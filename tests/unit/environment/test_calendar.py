"""The calendar: series, their exceptions and cuts, zones, and invitations that are answered."""

from datetime import UTC, date, datetime, timedelta

import pytest

from concord_environment.core.faults import Conflict, Invalid, NotFound
from concord_environment.modalities.calendar.requests import (
    DeleteEvent,
    Respond,
    UpdateEvent,
)
from concord_environment.modalities.calendar.rrule import recurs
from concord_environment.modalities.calendar.state import CalendarState
from tests.unit.environment.calendars import ATTENDEES, MONDAY, create, days, do, found, happens, weekly
from tests.unit.environment.worlds import USER, new_simulation

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


@pytest.mark.parametrize(
    "recurrence",
    [
        {"frequency": "daily", "end_type": "until", "end_date": "2026-03-04"},
        {"frequency": "daily", "rrule": "FREQ=DAILY;UNTIL=20260304T225959Z"},
    ],
)
@pytest.mark.parametrize(("hours", "first"), [(-11, 1), (5, 2), (20, 3)])
def test_a_series_that_ends_on_a_date_happens_as_often_after_it_moves_to_other_days(
    recurrence: dict[str, object], hours: int, first: int
) -> None:
    simulation = new_simulation()
    create(simulation, recurrence=recurrence)
    do(simulation, UpdateEvent(event_id="e", start=MONDAY + timedelta(hours=hours)))
    assert days(simulation) == [f"2026-03-0{day}" for day in range(first, first + 3)]


def test_a_series_that_ends_before_it_begins_can_be_moved() -> None:
    simulation = new_simulation()
    create(simulation, recurrence={"frequency": "daily", "end_type": "until", "end_date": "2026-03-01"})
    do(simulation, UpdateEvent(event_id="e", start=MONDAY + timedelta(days=1)))
    assert days(simulation) == []


def test_all_of_a_series_goes_with_its_changed_occurrences() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    do(simulation, UpdateEvent(event_id="e", recurrence_id=MONDAYS[1], title="Moved"))
    do(simulation, DeleteEvent(event_id="e"))
    assert len(simulation.world[CalendarState].events) == 0


def test_an_occurrence_that_there_is_not_can_be_neither_changed_nor_deleted() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    for day in ("2026-03-03", "2027-03-01"):
        with pytest.raises(NotFound):
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
    with pytest.raises(NotFound):
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
