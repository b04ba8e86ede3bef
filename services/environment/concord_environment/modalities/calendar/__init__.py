"""The modality `calendar`: calendars and events, with recurrence by RFC 5545 and invitations by RFC 5546."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from concord_environment.core.faults import Invalid
from concord_environment.modalities.calendar.operations import CALENDAR_IMPLEMENTATIONS
from concord_environment.modalities.calendar.recurrence import check
from concord_environment.modalities.calendar.state import (
    PRIMARY,
    Calendar,
    CalendarEvent,
    CalendarSettings,
    CalendarState,
)
from concord_environment.modalities.calendar.views import CALENDAR_VIEWS
from concord_environment.modalities.documents import ScenarioForm, StateDocument, load_rows, with_current_names
from concord_environment.modalities.fields import Id, Zone
from concord_environment.modalities.modality import ONLY_KEY, Modality
from concord_environment_client.modalities.calendar import CalendarCalls

_OLD_NAMES: Final = {"start_time": "start", "end_time": "end", "summary": "title"}
"""Maps the field names of events in older scenario files to the current names."""


def _with_current_names(value: object) -> object:
    return with_current_names(value, "event_id", _OLD_NAMES, _with_times)


def _with_times(event: dict[str, Any]) -> dict[str, Any]:
    created_at = event.get("created_at") or event.get("start")
    return {**event, "created_at": created_at, "updated_at": event.get("updated_at") or created_at}


class CalendarDocument(StateDocument):
    """The calendars and their events."""

    calendars: dict[Id, Calendar] = Field(default_factory=dict)
    events: Annotated[dict[Id, CalendarEvent], BeforeValidator(_with_current_names)] = Field(default_factory=dict)
    default_calendar_id: Id = PRIMARY
    user_timezone: Zone = "UTC"


def _load(state: CalendarState, document: CalendarDocument) -> None:
    if document.calendars:
        state.calendars.write(PRIMARY, None)
    load_rows(state.calendars, document.calendars, "calendar_id")
    if document.default_calendar_id not in state.calendars:
        raise Invalid(f"modality_states.calendar: the default calendar {document.default_calendar_id!r} does not exist")
    state.settings.write(ONLY_KEY, CalendarSettings(document.default_calendar_id, document.user_timezone))
    for event in document.events.values():
        if event.calendar_id not in state.calendars:
            raise Invalid(f"modality_states.calendar: the calendar of event {event.event_id!r} does not exist")
        check(event)
    load_rows(state.events, document.events, "event_id")


def _dump(state: CalendarState) -> dict[str, Any]:
    calendars, events = dict(state.calendars.items()), dict(state.events.items())
    return {"calendars": calendars, "events": events, **asdict(state.current_settings)}


def _inconsistencies(state: CalendarState) -> Iterator[str]:
    default = state.current_settings.default_calendar_id
    if default not in state.calendars:
        yield f"calendar: the default calendar {default} does not exist"
    for event in state.events.rows():
        if event.calendar_id not in state.calendars:
            yield f"calendar: calendar {event.calendar_id} of event {event.event_id} does not exist"
        if event.parent_event_id is not None and event.parent_event_id not in state.events:
            yield f"calendar: series {event.parent_event_id} of event {event.event_id} does not exist"
        if event.end < event.start:
            yield f"calendar: event {event.event_id} ends before it starts"


MODALITY: Final = Modality(
    calls=CalendarCalls,
    description="the user's calendars and their events",
    state=CalendarState,
    implementations=CALENDAR_IMPLEMENTATIONS,
    views=CALENDAR_VIEWS,
    scenario=ScenarioForm(CalendarDocument, _load, _dump),
    inconsistencies=_inconsistencies,
)
