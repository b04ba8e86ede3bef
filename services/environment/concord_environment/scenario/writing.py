"""A simulation as a scenario document."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from concord_environment.core.events import Event
from concord_environment.core.simulation import Simulation
from concord_environment.lifecycle import Lifecycle
from concord_environment.modalities.location.records import Place
from concord_environment.modalities.world import EnvironmentWorld
from concord_environment.scenario import states
from concord_environment.scenario.documents import (
    EnvironmentDocument,
    EventDocument,
    EventsDocument,
    TimeStateDocument,
)

_PLACE: Final = tuple(states.PlaceDocument.model_fields)


def environment_document(simulation: Simulation[EnvironmentWorld], lifecycle: Lifecycle) -> EnvironmentDocument:
    """The clock and every modality's state."""
    time_state = TimeStateDocument(
        current_time=simulation.now,
        time_scale=lifecycle.time_scale,
        is_paused=lifecycle.is_paused,
        auto_advance=lifecycle.auto_advance,
        last_wall_time_update=simulation.now,
    )
    documents = {
        modality: document.model_validate(
            {
                **asdict(simulation.world.upkeep(modality)),
                "modality_type": modality,
                **_WRITERS[modality](simulation.world),
            }
        ).model_dump(mode="json")
        for modality, document in states.DOCUMENTS.items()
    }
    return EnvironmentDocument(time_state=time_state, modality_states=documents)


def events_document(simulation: Simulation[EnvironmentWorld]) -> EventsDocument:
    """Every event, in the order in which they were made."""
    events = sorted(simulation.events.rows(), key=lambda event: event.sequence)
    return EventsDocument.model_construct(events=[_event(event) for event in events])


def _event(event: Event) -> EventDocument:
    return EventDocument.model_construct(
        event_id=event.event_id,
        scheduled_time=event.scheduled_time,
        modality=event.modality,
        data=event.action.as_data(),
        status=event.status,
        created_at=event.created_at,
        executed_at=event.executed_at,
        agent_id=event.agent_id,
        priority=event.priority,
        error_message=event.error_message,
        metadata=event.metadata,
    )


def _calendar(world: EnvironmentWorld) -> dict[str, Any]:
    state, settings = world.calendar, world.calendar.current_settings
    return {"calendars": dict(state.calendars.items()), "events": dict(state.events.items()), **asdict(settings)}


def _chat(world: EnvironmentWorld) -> dict[str, Any]:
    state = world.chat
    conversations = dict(state.conversations.items())
    return {"messages": list(state.messages.rows()), "conversations": conversations, **asdict(state.current_settings)}


def _contacts(world: EnvironmentWorld) -> dict[str, Any]:
    return {"contacts": dict(world.contacts.contacts.items())}


def _email(world: EnvironmentWorld) -> dict[str, Any]:
    return {"emails": dict(world.email.emails.items()), "user_email_address": world.email.address}


def _sms(world: EnvironmentWorld) -> dict[str, Any]:
    state = world.sms
    account = asdict(state.current_account)
    return {"messages": dict(state.messages.items()), "conversations": dict(state.conversations.items()), **account}


def _location(world: EnvironmentWorld) -> dict[str, Any]:
    places = [_place(place) for place in world.location.places.rows()]
    history = places[:-1]
    current = {f"current_{name}": part for name, part in places[-1].items() if name != "timestamp"} if places else {}
    return {**current, "location_history": history}


def _place(place: Place) -> dict[str, Any]:
    return {name: getattr(place, name) for name in _PLACE}


def _weather(world: EnvironmentWorld) -> dict[str, Any]:
    reports = world.weather.reports
    locations = {}
    for name in reports.words("location"):
        *earlier, current = reports.group("location", name)
        locations[name] = {
            "latitude": current.latitude,
            "longitude": current.longitude,
            "current_report": current.report,
            "last_updated": current.timestamp,
            "report_history": [{"timestamp": one.timestamp, "report": one.report} for one in earlier],
        }
    return {"locations": locations}


def _preferences(world: EnvironmentWorld) -> dict[str, Any]:
    return asdict(world.preferences.current)


_WRITERS: Final[dict[str, Callable[[EnvironmentWorld], dict[str, Any]]]] = {
    "calendar": _calendar,
    "chat": _chat,
    "contacts": _contacts,
    "email": _email,
    "location": _location,
    "sms": _sms,
    "time": _preferences,
    "weather": _weather,
}
