"""The operations on calendar events."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from concord_environment.core.clock import as_utc
from concord_environment.core.faults import BadRequest, Conflict, NotFound
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.calendar import requests
from concord_environment.modalities.calendar.authorisation import bind_create, bind_respond, bind_update
from concord_environment.modalities.calendar.calendars import CALENDAR_CONTAINER_IMPLEMENTATIONS, existing_calendar
from concord_environment.modalities.calendar.invitations import revised, with_response
from concord_environment.modalities.calendar.recurrence import (
    Occurrence,
    check,
    continued_from,
    ended_before,
    moved_days,
    occurrence_on,
    occurrences,
    with_moved_end,
)
from concord_environment.modalities.calendar.state import Calendar, CalendarAttachment, CalendarEvent, CalendarState
from concord_environment.modalities.email.state import EmailState
from concord_environment.modalities.modality import AnyImplementation, Implementation, States
from concord_environment_client.modalities.calendar import CalendarCalls

_TARGET: Final = frozenset(
    {"operation", "event_id", "calendar_id", "move_to_calendar_id", "recurrence_scope", "recurrence_id"}
)
_NULLABLE: Final = frozenset({"description", "location", "color", "conference_link", "recurrence"})


def _create(world: States, action: requests.CreateEvent, transaction: Transaction) -> None:
    state, settings = world[CalendarState], world[CalendarState].current_settings
    event_id = action.event_id or transaction.new_id()
    if event_id in state.events:
        raise Conflict(f"event {event_id} already exists")
    calendar_id = action.calendar_id or settings.default_calendar_id
    if calendar_id not in state.calendars:
        created = Calendar(calendar_id, calendar_id.title()[:200], transaction.now, transaction.now)
        transaction.put(state.calendars, calendar_id, created)
    zone = action.timezone or settings.user_timezone
    given = {name: getattr(action, name) for name in type(action).model_fields if name != "operation"}
    times = {"start": _as_utc_from(action.start, zone), "end": _as_utc_from(action.end, zone)}
    stamps = {"created_at": transaction.now, "updated_at": transaction.now}
    ids = {"event_id": event_id, "calendar_id": calendar_id}
    attachments = _with_ids(action.attachments, transaction)
    event = CalendarEvent(**{**given, **times, **stamps, **ids, "timezone": zone, "attachments": attachments})
    _put(state, event, transaction)


def _update(world: States, action: requests.UpdateEvent, transaction: Transaction) -> None:
    state, event = world[CalendarState], transaction.named(world[CalendarState].events, action.event_id)
    if event is None:
        return
    changes = _changes(action, event.timezone)
    if action.attachments is not None:
        changes["attachments"] = _with_ids(action.attachments, transaction)
    if action.move_to_calendar_id is not None:
        changes["calendar_id"] = existing_calendar(state, action.move_to_calendar_id).calendar_id
    occurrence = _occurrence(event, action, transaction.now)
    if occurrence is None:
        _put_series(state, event, revised(event, changes, transaction.now), transaction)
    elif action.recurrence_scope == "this_and_future":
        _end_before(state, event, occurrence, transaction)
        later = replace(continued_from(event, occurrence), event_id=transaction.new_id())
        _put_series(state, later, revised(later, changes, transaction.now), transaction)
    else:
        changed = _changed_occurrence(state, event, occurrence, transaction)
        _put(state, revised(changed, {**changes, "recurrence": None}, transaction.now), transaction)


def _delete(world: States, action: requests.DeleteEvent, transaction: Transaction) -> None:
    state, event = world[CalendarState], transaction.named(world[CalendarState].events, action.event_id)
    if event is None:
        return
    occurrence = _occurrence(event, action, transaction.now)
    if occurrence is not None and action.recurrence_scope == "this_and_future":
        _end_before(state, event, occurrence, transaction)
    elif occurrence is not None:
        _exclude(state, event, occurrence.day, transaction)
    else:
        if event.parent_event_id is not None and event.recurrence_id is not None:
            series = state.events.get(event.parent_event_id)
            if series is not None:
                _exclude(state, series, event.recurrence_id, transaction)
                return
        for changed in state.events.found("parent", event.event_id):
            transaction.drop(state.events, changed.event_id)
        transaction.drop(state.events, event.event_id)


def _respond(world: States, action: requests.Respond, transaction: Transaction) -> None:
    state, event = world[CalendarState], transaction.named(world[CalendarState].events, action.event_id)
    if event is None:
        return
    if event.recurrence is not None and action.recurrence_id is not None:
        event = _changed_occurrence(state, event, _known_occurrence(event, action.recurrence_id), transaction)
        event = replace(event, recurrence=None)
    email = action.attendee_email or world[EmailState].address
    updated = with_response(event, email, action.response, action.comment, transaction.now)
    transaction.put(state.events, updated.event_id, updated)


def _with_ids(attachments: Iterable[CalendarAttachment], transaction: Transaction) -> tuple[CalendarAttachment, ...]:
    return tuple(
        attachment
        if attachment.attachment_id is not None
        else attachment.model_copy(update={"attachment_id": transaction.new_id()})
        for attachment in attachments
    )


def _put(state: CalendarState, event: CalendarEvent, transaction: Transaction) -> None:
    if event.end < event.start:
        raise BadRequest("end: must not be before start")
    check(event)
    transaction.put(state.events, event.event_id, event)


def _put_series(state: CalendarState, before: CalendarEvent, after: CalendarEvent, transaction: Transaction) -> None:
    """Replaces an event. If a series moves to other days, its exceptions and its end date move with it."""
    changed = state.changed_occurrences(before)
    days = moved_days(before, after, {*before.recurrence_exceptions, *changed})
    if after.recurrence_exceptions == before.recurrence_exceptions:
        after = replace(after, recurrence_exceptions=tuple(days.get(day, day) for day in after.recurrence_exceptions))
    _put(state, with_moved_end(before, after), transaction)
    for day, occurrence in changed.items():
        if days.get(day, day) != day:
            transaction.put(state.events, occurrence.event_id, replace(occurrence, recurrence_id=days[day]))


def _as_utc_from(moment: datetime, zone: str) -> datetime:
    """Converts a time to UTC. A time without an offset is in the zone."""
    return as_utc(moment.replace(tzinfo=ZoneInfo(zone)) if moment.tzinfo is None else moment)


def _changes(action: requests.UpdateEvent, zone: str) -> dict[str, Any]:
    """The fields that a request sets. Null clears an optional field and leaves any other field as it is."""
    given = {name: getattr(action, name) for name in action.model_fields_set - _TARGET}
    changes = {name: value for name, value in given.items() if value is not None or name in _NULLABLE}
    for name in ("start", "end"):
        if name in changes:
            changes[name] = _as_utc_from(changes[name], action.timezone or zone)
    return changes


def _occurrence(
    event: CalendarEvent, action: requests.UpdateEvent | requests.DeleteEvent, now: datetime
) -> Occurrence | None:
    """The occurrence that an action addresses. None means the whole event."""
    scope = action.recurrence_scope or "this"
    if event.recurrence is None or scope == "all":
        return None
    if action.recurrence_id is not None:
        return _known_occurrence(event, action.recurrence_id)
    if scope == "this":
        return None
    following = next(occurrences(event, now, None), None)
    if following is None:
        raise NotFound("the series has no future occurrence")
    return following


def _known_occurrence(event: CalendarEvent, day: str) -> Occurrence:
    occurrence = occurrence_on(event, day)
    if occurrence is None:
        raise NotFound(f"the series has no occurrence on {day}")
    return occurrence


def _changed_occurrence(
    state: CalendarState, event: CalendarEvent, occurrence: Occurrence, transaction: Transaction
) -> CalendarEvent:
    """The occurrence as a separate event: the one changed earlier, or else a new copy of the series."""
    known = state.changed_occurrences(event).get(occurrence.day)
    return known or replace(
        event,
        event_id=transaction.new_id(),
        parent_event_id=event.event_id,
        recurrence_id=occurrence.day,
        recurrence_exceptions=(),
        start=occurrence.start,
        end=occurrence.end,
    )


def _exclude(state: CalendarState, event: CalendarEvent, day: str, transaction: Transaction) -> None:
    changed = state.changed_occurrences(event).get(day)
    if changed is not None:
        transaction.drop(state.events, changed.event_id)
    days = tuple(sorted({*event.recurrence_exceptions, day}))
    transaction.put(state.events, event.event_id, revised(event, {"recurrence_exceptions": days}, transaction.now))


def _end_before(state: CalendarState, event: CalendarEvent, occurrence: Occurrence, transaction: Transaction) -> None:
    """Ends a series before an occurrence. If the occurrence is the first one, deletes the series."""
    for day, changed in state.changed_occurrences(event).items():
        if day >= occurrence.day:
            transaction.drop(state.events, changed.event_id)
    if occurrence.start <= event.start:
        transaction.drop(state.events, event.event_id)
    else:
        shortened = replace(ended_before(event, occurrence.day), updated_at=transaction.now)
        transaction.put(state.events, event.event_id, shortened)


CALENDAR_IMPLEMENTATIONS: Final[tuple[AnyImplementation, ...]] = (
    Implementation(CalendarCalls.create, requests.CreateEvent, _create, bind_create),
    Implementation(CalendarCalls.update, requests.UpdateEvent, _update, bind_update),
    Implementation(CalendarCalls.delete, requests.DeleteEvent, _delete),
    Implementation(CalendarCalls.respond_to_event, requests.Respond, _respond, bind_respond),
    *CALENDAR_CONTAINER_IMPLEMENTATIONS,
)
