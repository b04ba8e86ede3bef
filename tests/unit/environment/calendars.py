"""Calendar helpers for tests: create events, act on them, and query their occurrences."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from concord_environment.core.events import Submission
from concord_environment.core.simulation import Simulation
from concord_environment.modalities.calendar.queries import CalendarQuery, find_events
from concord_environment.modalities.calendar.requests import CalendarAction, CreateEvent
from concord_environment.modalities.calendar.state import CalendarEvent, CalendarState
from concord_environment.modalities.world import EnvironmentWorld
from tests.unit.environment.worlds import USER

ATTENDEES = [{"email": USER}, {"email": "eve@example.com", "response": "accepted"}, {"email": "bob@example.com"}]
MONDAY = datetime(2026, 3, 2, 10)  # noqa: DTZ001 - in the event's time zone
WINDOW = {"start": datetime(2026, 3, 1, tzinfo=UTC), "end": datetime(2026, 5, 1, tzinfo=UTC), "expand_recurring": True}

Sim = Simulation[EnvironmentWorld]


def act(simulation: Sim, action: CalendarAction) -> None:
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
    act(simulation, CreateEvent.model_validate(given_fields))


def weekly(**fields: object) -> dict[str, object]:
    return {"frequency": "weekly", "end_type": "count", "count": 6, **fields}


def query_events(simulation: Sim, **query: object) -> list[CalendarEvent]:
    asked = CalendarQuery.model_validate({**WINDOW, **query})
    return find_events(simulation.world[CalendarState], asked, simulation.now)[0]


def days(simulation: Sim) -> list[str]:
    return [event.start.astimezone(ZoneInfo("Europe/Berlin")).date().isoformat() for event in query_events(simulation)]


def stored_event(simulation: Sim, event_id: str = "e") -> CalendarEvent:
    event = simulation.world[CalendarState].events.get(event_id)
    assert event is not None
    return event
