"""Views of the calendar."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from operator import attrgetter
from typing import Final
from zoneinfo import ZoneInfo

from pydantic import BaseModel, field_serializer

from concord_environment.modalities.calendar.client_form import client_rule
from concord_environment.modalities.calendar.queries import CalendarQuery, events_on, find_events
from concord_environment.modalities.calendar.recurrence import rrule_of
from concord_environment.modalities.calendar.state import (
    Calendar,
    CalendarAttachment,
    CalendarEvent,
    CalendarState,
    RecurrenceRule,
    Reminders,
)
from concord_environment.modalities.modality import (
    QueryAnswer,
    StatePage,
    States,
    StateView,
    Views,
    view_fields,
)


class RecurrenceView(RecurrenceRule):
    """The recurrence of a series in the form of UES's client, with the fields of its server's form besides."""

    until: str | None = None
    by_day: list[str] | None = None
    by_month_day: list[int] | None = None
    by_month: list[int] | None = None
    by_set_pos: list[int] | None = None

    @field_serializer("frequency")
    def _in_capitals(self, frequency: str) -> str:
        return frequency.upper()


class AttachmentView(CalendarAttachment):
    """An attachment in the forms of UES's server and of its client. The service keeps no content: `data` is null."""

    data: None = None
    title: str
    file_url: str
    file_id: str | None


@dataclass(frozen=True, slots=True)
class CalendarEventView(CalendarEvent):
    """An event. `recurring_event_id` is the id of the series, as UES's client calls it."""

    recurrence: RecurrenceView | None = None
    attachments: tuple[AttachmentView, ...] = ()
    recurring_event_id: str | None = None


_FIELDS: Final = tuple(field.name for field in fields(CalendarEvent))
_values: Final = attrgetter(*_FIELDS)


def event_view(event: CalendarEvent) -> CalendarEventView:
    """An event as in responses."""
    shown = dict(zip(_FIELDS, _values(event), strict=True))
    if event.recurrence is not None:
        rrule = rrule_of(event.recurrence, ZoneInfo(event.timezone))
        shown["recurrence"] = RecurrenceView.model_construct(**dict(event.recurrence), **client_rule(rrule))
    if event.attachments:
        shown["attachments"] = tuple(map(_attachment_view, event.attachments))
    return CalendarEventView(**shown, recurring_event_id=event.parent_event_id)


def _attachment_view(attachment: CalendarAttachment) -> AttachmentView:
    return AttachmentView.model_construct(
        **dict(attachment),
        title=attachment.filename,
        file_url=attachment.url or "",
        file_id=attachment.attachment_id,
    )


class CalendarView(BaseModel):
    """A calendar. `event_ids` lists the events of the calendar in the same response."""

    calendar_id: str
    name: str
    color: str
    visible: bool
    created_at: datetime
    updated_at: datetime
    event_ids: tuple[str, ...]
    event_count: int
    default_reminders: Reminders


class EventSummary(BaseModel):
    """An event without its details."""

    event_id: str
    title: str
    start: datetime
    end: datetime
    location: str | None
    recurring: bool


class CalendarCounts(StateView):
    """The number of calendars and events. Today is the current simulated day in the user's time zone."""

    default_calendar_id: str
    user_timezone: str
    calendar_count: int
    event_count: int
    events_today: int


class CalendarStateView(CalendarCounts):
    """All calendars, and the events by start. A series is one event, and so is each of its changed occurrences."""

    calendars: dict[str, CalendarView]
    events: dict[str, CalendarEventView]
    returned_count: int
    has_more: bool


class CalendarBriefView(CalendarCounts):
    """Today's events, including occurrences of series, with the current event and the next one today."""

    today: list[EventSummary]
    current_event: EventSummary | None
    next_event: EventSummary | None


class CalendarAnswer(QueryAnswer):
    """The calendar events that match a query."""

    events: list[CalendarEventView]


class CalendarList(BaseModel):
    """All calendars, and the id of the default calendar."""

    calendars: list[CalendarView]
    count: int
    default_calendar_id: str


def list_calendars(world: States) -> CalendarList:
    """All calendars, without event ids."""
    state = world[CalendarState]
    calendars = [calendar_view(state, calendar) for calendar in state.calendars.rows()]
    default = state.current_settings.default_calendar_id
    return CalendarList(calendars=calendars, count=len(calendars), default_calendar_id=default)


def calendar_view(state: CalendarState, calendar: Calendar, event_ids: tuple[str, ...] = ()) -> CalendarView:
    """A calendar as in responses."""
    return CalendarView(
        calendar_id=calendar.calendar_id,
        name=calendar.name,
        color=calendar.color,
        visible=calendar.visible,
        created_at=calendar.created_at,
        updated_at=calendar.updated_at,
        event_ids=event_ids,
        event_count=state.events.group_size("calendar", calendar.calendar_id),
        default_reminders=calendar.default_reminders,
    )


def _counts(world: States, now: datetime, today: int) -> dict[str, object]:
    state = world[CalendarState]
    return {
        **view_fields(world, "calendar", now),
        "default_calendar_id": state.current_settings.default_calendar_id,
        "user_timezone": state.current_settings.user_timezone,
        "calendar_count": len(state.calendars),
        "event_count": len(state.events),
        "events_today": today,
    }


def _state(world: States, now: datetime, page: StatePage) -> CalendarStateView:
    state = world[CalendarState]
    if page.since is None:
        events, total = state.events.window(page.first, page.stop), len(state.events)
    else:
        query = CalendarQuery(start=page.since, limit=page.limit, offset=page.offset)
        events, total = find_events(state, query, now)
    shown: dict[str, list[str]] = {}
    for event in events:
        shown.setdefault(event.calendar_id, []).append(event.event_id)
    return CalendarStateView.model_validate(
        {
            **_counts(world, now, len(events_on(state, now))),
            "calendars": {
                key: calendar_view(state, calendar, tuple(shown.get(key, ())))
                for key, calendar in state.calendars.items()
            },
            "events": {event.event_id: event_view(event) for event in events},
            "returned_count": len(events),
            "has_more": page.stop < total,
        }
    )


def _brief(world: States, now: datetime) -> CalendarBriefView:
    today = events_on(world[CalendarState], now)
    current = next((event for event in today if event.start <= now < event.end), None)
    following = next((event for event in today if event.start > now), None)
    return CalendarBriefView.model_validate(
        {
            **_counts(world, now, len(today)),
            "today": [_summarised(event) for event in today],
            "current_event": current and _summarised(current),
            "next_event": following and _summarised(following),
        }
    )


def _summarised(event: CalendarEvent) -> EventSummary:
    return EventSummary(
        event_id=event.event_id,
        title=event.title,
        start=event.start,
        end=event.end,
        location=event.location,
        recurring=event.recurrence is not None,
    )


def _find(world: States, now: datetime, query: CalendarQuery) -> tuple[list[CalendarEventView], int]:
    events, total = find_events(world[CalendarState], query, now)
    return [event_view(event) for event in events], total


def _as_text(brief: CalendarBriefView) -> Iterable[str]:
    yield f"CALENDAR: {brief.events_today} today"
    for event in brief.today:
        yield f"  - {event.start:%H:%M}-{event.end:%H:%M} {event.title}"


CALENDAR_VIEWS: Final = Views(
    _state,
    CalendarStateView,
    _brief,
    CalendarBriefView,
    CalendarQuery,
    _find,
    CalendarAnswer,
    _as_text,
)
