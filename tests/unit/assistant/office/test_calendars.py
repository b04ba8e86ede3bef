"""Changes of a calendar are compared by occurrence, responses by invitation."""

from typing import Any

from concord_assistant.office.calendars import calendar_changes, done, unwanted
from concord_assistant.office.plan import DayPlan, Errand, Occurrence

USER, GUEST = "kim.user@larkfield.example", "pat.vole@larkfield.example"


def _event(name: str, day: int, response: str = "needs-action", **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {
        "event_id": name,
        "title": name,
        "start": f"2031-01-{day:02}T10:00:00Z",
        "end": f"2031-01-{day:02}T11:00:00Z",
        "organizer": GUEST,
        "attendees": [{"email": GUEST, "response": "accepted"}, {"email": USER, "response": response}],
        **more,
    }


def _state(*events: dict[str, Any], dates: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {
        "calendar": {"events": {each["event_id"]: each for each in events}},
        "occurrences": list(events) if dates is None else dates,
    }


def _plan(**errand: Any) -> DayPlan:  # noqa: ANN401 - fields of an errand
    return DayPlan(user=[USER], errands=[Errand(errand_id="e", title="E", prompt="Do it.", **errand)])


def _judged(plan: DayPlan, initial: dict[str, Any], final: dict[str, Any]) -> tuple[bool, list[str]]:
    changes = calendar_changes(plan, initial, final, [])
    return done(plan.errands[0], changes), list(unwanted(plan, changes))


def test_a_moved_date_of_a_series_is_one_occurrence_away_and_one_there() -> None:
    series = _event("series", 6)
    first, second, moved = _event("series", 6), _event("series", 13), _event("new", 15, parent_event_id="series")
    times = [
        {"start": "2031-01-15T10:00:00Z", "end": "2031-01-15T11:00:00Z"},
        {"start": "2031-01-13T10:00:00Z", "end": "2031-01-13T11:00:00Z"},
    ]
    added, removed = (Occurrence.model_validate({**each, "attendees": [GUEST]}) for each in times)
    plan = _plan(added=[added], removed=[removed])
    initial = _state(series, dates=[first, second])
    assert _judged(plan, initial, _state(series, moved, dates=[first, moved])) == (True, [])
    assert _judged(_plan(), initial, _state(series, moved, dates=[first, moved]))[1] != []


def test_a_moved_date_that_lost_its_guest_is_another_appointment() -> None:
    series, moved = _event("series", 6), _event("new", 15, attendees=[])
    times = {"start": "2031-01-15T10:00:00Z", "end": "2031-01-15T11:00:00Z", "attendees": [GUEST]}
    plan = _plan(added=[Occurrence.model_validate(times)])
    fine, harm = _judged(plan, _state(series), _state(series, moved))
    assert not fine
    assert len(harm) == 1


def test_one_date_of_a_series_with_a_response_of_its_own_is_a_change_of_the_series() -> None:
    series = _event("series", 6)
    alone = _event("new", 13, "declined", parent_event_id="series")
    initial, final = _state(series), _state(_event("series", 6, "accepted"), alone, dates=[series])
    assert _judged(_plan(responses={"series": "accepted"}), initial, final) == (False, [])
    assert _judged(_plan(), initial, final)[1] == ["No errand responds to the invitation series."]


def test_all_dates_of_a_series_with_one_response_are_its_response() -> None:
    series = _event("series", 6)
    final = _state(
        _event("series", 6, "declined"), _event("new", 13, "declined", parent_event_id="series"), dates=[series]
    )
    assert _judged(_plan(responses={"series": "declined"}), _state(series), final) == (True, [])
