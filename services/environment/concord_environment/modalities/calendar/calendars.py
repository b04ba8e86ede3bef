"""The operations on calendars, as opposed to events."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeVar

from concord_environment.core.faults import Conflict, NotFound
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.calendar import requests
from concord_environment.modalities.calendar.state import Calendar, CalendarState
from concord_environment.modalities.calendar.views import CalendarView, calendar_view
from concord_environment.modalities.modality import (
    ONLY_KEY,
    ActionResponse,
    AnyImplementation,
    EventFacts,
    Implementation,
    States,
)
from concord_environment_client.modalities.calendar import CalendarCalls
from concord_environment_client.operations import Operation

A = TypeVar("A", bound=requests.CalendarAction)


def existing_calendar(state: CalendarState, calendar_id: str) -> Calendar:
    """The calendar with an id. Raises NotFound."""
    calendar = state.calendars.get(calendar_id)
    if calendar is None:
        raise NotFound(f"there is no calendar {calendar_id}")
    return calendar


class CalendarActionResponse(ActionResponse):
    """The event of an action on a calendar, and the calendar. Null for a deleted calendar, and until time moves."""

    calendar: CalendarView | None


def _affected(
    world: States,
    action: requests.CreateCalendar | requests.UpdateCalendar | requests.DeleteCalendar | requests.SetDefaultCalendar,
    facts: EventFacts,
) -> dict[str, Any]:
    state = world[CalendarState]
    calendar = state.calendars.get(action.calendar_id or facts.row_id) if facts.is_executed else None
    return {"calendar": calendar and calendar_view(state, calendar)}


def _create(world: States, action: requests.CreateCalendar, transaction: Transaction) -> None:
    calendar_id = action.calendar_id or transaction.new_id()
    if calendar_id in world[CalendarState].calendars:
        raise Conflict(f"calendar {calendar_id} already exists")
    now = transaction.now
    calendar = Calendar(calendar_id, action.name, now, now, action.color, action.visible, action.default_reminders)
    transaction.put(world[CalendarState].calendars, calendar_id, calendar)


def _update(world: States, action: requests.UpdateCalendar, transaction: Transaction) -> None:
    calendar = existing_calendar(world[CalendarState], action.calendar_id)
    names = action.model_fields_set - {"operation", "calendar_id"}
    changes = {name: value for name in names if (value := getattr(action, name)) is not None}
    updated = replace(calendar, **changes, updated_at=transaction.now)
    transaction.put(world[CalendarState].calendars, calendar.calendar_id, updated)


def _delete(world: States, action: requests.DeleteCalendar, transaction: Transaction) -> None:
    state, calendar = world[CalendarState], existing_calendar(world[CalendarState], action.calendar_id)
    if calendar.calendar_id == state.current_settings.default_calendar_id:
        raise Conflict("the default calendar cannot be deleted: make another calendar the default first")
    for event in list(state.events.group("calendar", calendar.calendar_id)):
        transaction.drop(state.events, event.event_id)
    transaction.drop(state.calendars, calendar.calendar_id)


def _set_default(world: States, action: requests.SetDefaultCalendar, transaction: Transaction) -> None:
    state, calendar = world[CalendarState], existing_calendar(world[CalendarState], action.calendar_id)
    settings = replace(state.current_settings, default_calendar_id=calendar.calendar_id)
    transaction.put(state.settings, ONLY_KEY, settings)


def _implementation(
    operation: Operation, request: type[A], apply: Callable[[States, A, Transaction], None]
) -> AnyImplementation:
    return Implementation(operation, request, apply, response=CalendarActionResponse, affected=_affected)


CALENDAR_CONTAINER_IMPLEMENTATIONS: Final[tuple[AnyImplementation, ...]] = (
    _implementation(CalendarCalls.create_calendar, requests.CreateCalendar, _create),
    _implementation(CalendarCalls.update_calendar, requests.UpdateCalendar, _update),
    _implementation(CalendarCalls.delete_calendar, requests.DeleteCalendar, _delete),
    _implementation(CalendarCalls.set_default_calendar, requests.SetDefaultCalendar, _set_default),
)
