"""The calendar: recurring series, their exceptions and splits, time zones, and responses to invitations."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from concord_environment.core.faults import BadRequest, Conflict, Invalid, NotFound
from concord_environment.modalities.calendar.client_form import client_rule
from concord_environment.modalities.calendar.recurrence import rrule_of
from concord_environment.modalities.calendar.requests import (
    DeleteEvent,
    Respond,
    UpdateEvent,
)
from concord_environment.modalities.calendar.rrule import recurs
from concord_environment.modalities.calendar.state import CalendarState, RecurrenceRule
from tests.unit.environment.calendars import ATTENDEES, MONDAY, act, create, days, query_events, stored_event, weekly
from tests.unit.environment.worlds import USER, new_simulation

MONDAYS = [(date(2026, 3, 2) + timedelta(weeks=week)).isoformat() for week in range(6)]


def test_a_series_keeps_its_time_of_day_when_the_clocks_change() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    assert days(simulation) == MONDAYS
    # Berlin's clocks go forward on March 29.
    assert [event.start.hour for event in query_events(simulation)] == [9, 9, 9, 9, 8, 8]


def test_one_occurrence_is_deleted_and_the_others_stay() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    act(simulation, DeleteEvent(event_id="e", recurrence_scope="this", recurrence_id=MONDAYS[2]))
    assert days(simulation) == [day for day in MONDAYS if day != MONDAYS[2]]


def test_one_occurrence_is_changed_and_the_others_stay() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    later = MONDAY + timedelta(weeks=1, hours=4)
    act(simulation, UpdateEvent(event_id="e", recurrence_id=MONDAYS[1], start=later, title="Moved"))
    shown = query_events(simulation)
    assert [event.title for event in shown] == ["Standup", "Moved", "Standup", "Standup", "Standup", "Standup"]
    assert shown[1].end - shown[1].start == timedelta(minutes=30)
    assert (shown[1].parent_event_id, shown[1].recurrence_id) == ("e", MONDAYS[1])


def test_changing_this_and_future_splits_a_series_and_keeps_its_occurrences() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    act(
        simulation,
        UpdateEvent(event_id="e", recurrence_scope="this_and_future", recurrence_id=MONDAYS[2], title="New"),
    )
    assert days(simulation) == MONDAYS
    assert [event.title for event in query_events(simulation)] == ["Standup"] * 2 + ["New"] * 4


def test_deleting_this_and_future_ends_a_series_before_that_occurrence() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    act(simulation, DeleteEvent(event_id="e", recurrence_scope="this_and_future", recurrence_id=MONDAYS[4]))
    assert days(simulation) == MONDAYS[:4]
    act(simulation, DeleteEvent(event_id="e", recurrence_scope="this_and_future", recurrence_id=MONDAYS[0]))
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
    act(simulation, UpdateEvent(event_id="e", start=MONDAY + timedelta(hours=hours)))
    assert days(simulation) == [f"2026-03-0{day}" for day in range(first, first + 3)]


def test_a_series_that_ends_before_it_begins_can_be_moved() -> None:
    simulation = new_simulation()
    create(simulation, recurrence={"frequency": "daily", "end_type": "until", "end_date": "2026-03-01"})
    act(simulation, UpdateEvent(event_id="e", start=MONDAY + timedelta(days=1)))
    assert days(simulation) == []


def test_deleting_a_series_deletes_its_changed_occurrences() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    act(simulation, UpdateEvent(event_id="e", recurrence_id=MONDAYS[1], title="Moved"))
    act(simulation, DeleteEvent(event_id="e"))
    assert len(simulation.world[CalendarState].events) == 0


def test_a_missing_occurrence_cannot_be_deleted() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    for day in ("2026-03-03", "2027-03-01"):
        with pytest.raises(NotFound):
            act(simulation, DeleteEvent(event_id="e", recurrence_scope="this", recurrence_id=day))


def test_without_the_date_of_an_occurrence_an_action_on_this_one_means_the_whole_series() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly())
    act(simulation, UpdateEvent(event_id="e", recurrence_scope="this", title="All of them"))
    assert {event.title for event in query_events(simulation)} == {"All of them"}
    act(simulation, DeleteEvent(event_id="e", recurrence_scope="this"))
    assert days(simulation) == []


@pytest.mark.parametrize(
    "recurrence",
    [
        {"frequency": "yearly", "month_of_year": 2, "day_of_month": 30},
        {"frequency": "monthly", "rrule": "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6"},
    ],
)
def test_a_series_without_occurrences_is_refused(recurrence: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        create(new_simulation(), recurrence=recurrence)


def test_a_rule_on_leap_days_has_occurrences() -> None:
    assert recurs("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", datetime(2026, 3, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("until", "last"),
    [
        ("20260316", MONDAYS[2]),
        ("20260316T100000", MONDAYS[2]),
        ("20260316T090000Z", MONDAYS[2]),
        ("20260316T085959Z", MONDAYS[1]),
        ("20260405", MONDAYS[4]),
        ("99991231T235959Z", "2026-04-27"),
    ],
)
def test_an_end_is_in_the_time_zone_of_the_series_unless_it_is_in_utc(until: str, last: str) -> None:
    simulation = new_simulation()
    recurrence = {"frequency": "weekly", "rrule": f"FREQ=WEEKLY;BYDAY=MO;UNTIL={until}"}
    create(simulation, recurrence=recurrence)
    assert days(simulation)[-1] == last


def test_a_rule_whose_occurrences_are_further_apart_than_simulated_time_is_long_ends_with_it() -> None:
    simulation = new_simulation()
    create(simulation, recurrence={"frequency": "yearly", "interval": 1000})
    assert days(simulation) == MONDAYS[:1]


@pytest.mark.parametrize(
    "part", ["BYMONTH=0", "BYMONTHDAY=32", "BYDAY=MO,", "BYDAY=-MO", "BYSETPOS=367", "UNTIL=20261301"]
)
def test_a_rule_that_names_no_date_is_refused(part: str) -> None:
    with pytest.raises(ValidationError, match="RRULE"):
        RecurrenceRule.model_validate({"frequency": "monthly", "rrule": f"FREQ=MONTHLY;{part}"})


def test_an_event_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(BadRequest):
        create(new_simulation(), end=MONDAY - timedelta(hours=1))


def test_a_response_changes_one_attendee_and_nothing_else() -> None:
    simulation = new_simulation()
    create(simulation, attendees=ATTENDEES)
    before = stored_event(simulation)
    act(simulation, Respond(event_id="e", attendee_email="BOB@example.com", response="declined", comment="away"))
    after = stored_event(simulation)
    assert [attendee.response for attendee in after.attendees] == ["needs-action", "accepted", "declined"]
    assert after.sequence == before.sequence
    assert after.attendees[:2] == before.attendees[:2]


def test_strangers_cannot_respond_nor_can_attendees_of_a_cancelled_event() -> None:
    simulation = new_simulation()
    create(simulation, attendees=ATTENDEES)
    with pytest.raises(NotFound):
        act(simulation, Respond(event_id="e", attendee_email="nobody@example.com", response="accepted"))
    act(simulation, UpdateEvent(event_id="e", status="cancelled"))
    with pytest.raises(Conflict):
        act(simulation, Respond(event_id="e", attendee_email=USER, response="accepted"))


def test_a_material_change_increments_the_sequence_and_resets_other_attendees_responses() -> None:
    simulation = new_simulation()
    create(simulation, attendees=[*ATTENDEES[1:], {"email": USER, "response": "accepted"}])
    act(simulation, UpdateEvent(event_id="e", start=MONDAY + timedelta(hours=1)))
    event = stored_event(simulation)
    assert event.sequence == 1
    assert [attendee.response for attendee in event.attendees] == ["needs-action", "needs-action", "accepted"]


def test_a_new_title_or_location_keeps_the_responses() -> None:
    simulation = new_simulation()
    create(simulation, attendees=ATTENDEES)
    act(simulation, UpdateEvent(event_id="e", title="Other", location="Room 2"))
    event = stored_event(simulation)
    assert event.sequence == 0
    assert event.attendees[1].response == "accepted"


def test_one_occurrence_can_be_responded_to_separately() -> None:
    simulation = new_simulation()
    create(simulation, attendees=ATTENDEES, recurrence=weekly())
    act(simulation, Respond(event_id="e", attendee_email=USER, response="declined", recurrence_id=MONDAYS[1]))
    answers = [event.attendees[0].response for event in query_events(simulation)]
    assert answers == ["needs-action", "declined", *["needs-action"] * 4]


def test_queries_filter_by_text_attendee_recurrence_and_date() -> None:
    simulation = new_simulation()
    create(simulation, recurrence=weekly(), attendees=ATTENDEES)
    create(simulation, event_id="d", title="Dentist", location="Main Street", start=MONDAY, end=MONDAY)
    assert [event.event_id for event in query_events(simulation, search="main street")] == ["d"]
    assert {event.event_id for event in query_events(simulation, attendee_email="Eve@example.com")} == {"e"}
    assert len(query_events(simulation, recurring=True)) == 6
    assert len(query_events(simulation, recurring=True, expand_recurring=False)) == 1
    assert {event.event_id for event in query_events(simulation, start=None, end=None, date=MONDAY.date())} == {
        "d",
        "e",
    }


@pytest.mark.parametrize("scope", ["all", "this_and_future"])
def test_exceptions_move_with_their_series_to_other_days(scope: str) -> None:
    simulation = new_simulation()
    create(simulation, recurrence={"frequency": "daily", "end_type": "count", "count": 4})
    act(simulation, DeleteEvent(event_id="e", recurrence_scope="this", recurrence_id="2026-03-03"))
    act(simulation, DeleteEvent(event_id="e", recurrence_scope="this", recurrence_id="2026-03-05"))
    day = None if scope == "all" else "2026-03-02"
    moved = {"event_id": "e", "recurrence_scope": scope, "recurrence_id": day, "start": MONDAY - timedelta(days=1)}
    act(simulation, UpdateEvent.model_validate(moved))
    assert days(simulation) == ["2026-03-01", "2026-03-03"]


def test_a_changed_occurrence_replaces_the_same_one_of_a_series_moved_across_midnight() -> None:
    simulation = new_simulation()
    create(simulation, recurrence={"frequency": "daily", "end_type": "count", "count": 3})
    own = {"recurrence_scope": "this", "recurrence_id": "2026-03-04", "title": "Its own"}
    act(simulation, UpdateEvent.model_validate({"event_id": "e", **own}))
    act(simulation, UpdateEvent.model_validate({"event_id": "e", "start": MONDAY - timedelta(hours=11)}))
    shown = query_events(simulation)
    assert [event.title for event in shown] == ["Standup", "Standup", "Its own"]
    assert [event.recurrence_id for event in shown] == ["2026-03-01", "2026-03-02", "2026-03-03"]


@pytest.mark.parametrize(
    ("given", "rrule"),
    [
        ({"frequency": "WEEKLY", "by_day": ["MO", "WE"], "count": 4}, "FREQ=WEEKLY;INTERVAL=1;BYDAY=MO,WE;COUNT=4"),
        ({"frequency": "MONTHLY", "by_month_day": [31]}, "FREQ=MONTHLY;INTERVAL=1;BYMONTHDAY=31"),
        (
            {"frequency": "MONTHLY", "by_day": ["FR"], "by_set_pos": [-1], "interval": 2, "until": "2026-12-31"},
            "FREQ=MONTHLY;INTERVAL=2;BYDAY=FR;BYSETPOS=-1;UNTIL=20261231T235959Z",
        ),
        ({"frequency": "daily", "until": "2026-12-31T09:00:00Z"}, "FREQ=DAILY;INTERVAL=1;UNTIL=20261231T235959Z"),
    ],
)
def test_a_rule_in_the_form_of_the_ues_client_means_the_same_rrule(given: dict[str, object], rrule: str) -> None:
    rule = RecurrenceRule.model_validate(given)
    assert rrule_of(rule, ZoneInfo("UTC")) == rrule
    shown = client_rule(rrule)
    assert {name: shown.get(name) for name in given if name.startswith("by_")} == {
        name: part for name, part in given.items() if name.startswith("by_")
    }
