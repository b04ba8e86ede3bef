"""The requests of the calendar's operations."""

from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from concord_environment.core.actions import Action
from concord_environment.core.clock import as_utc
from concord_environment.modalities.calendar.state import (
    Answer,
    Attendees,
    CalendarAttachment,
    Day,
    EventState,
    RecurrenceRule,
    Reminders,
    Transparency,
    Visibility,
)
from concord_environment.modalities.fields import MAX_ITEMS, Address, Id, Line, Name, NoneAsEmpty, Text, Zone


def _in_range(moment: datetime) -> datetime:
    as_utc(moment)
    return moment


LocalMoment = Annotated[datetime, AfterValidator(_in_range)]
"""A moment. Without an offset it is in the event's time zone. A date stands for its midnight."""
Scope = Literal["this", "this_and_future", "all"]
Days = Annotated[tuple[Day, ...], Field(max_length=MAX_ITEMS)]
Attachments = Annotated[tuple[CalendarAttachment, ...], Field(max_length=100)]


class CalendarAction(Action):
    """Base class of the calendar's requests."""

    modality: ClassVar[str] = "calendar"


class CreateEvent(CalendarAction):
    """Puts an event into a calendar. The user organises it unless somebody else is named, which is the proctor's."""

    operation: Literal["create"] = "create"
    title: Annotated[Line, Field(min_length=1)]
    start: LocalMoment
    end: LocalMoment
    calendar_id: Id | None = None
    event_id: Id | None = None
    all_day: bool = False
    timezone: Zone | None = None
    description: Text | None = None
    location: Line | None = None
    status: EventState = "confirmed"
    organizer: Address | None = None
    attendees: Annotated[Attendees, NoneAsEmpty] = ()
    recurrence: RecurrenceRule | None = None
    recurrence_exceptions: Annotated[Days, NoneAsEmpty] = ()
    reminders: Annotated[Reminders, NoneAsEmpty] = ()
    color: Name | None = None
    visibility: Visibility = "default"
    transparency: Transparency = "opaque"
    attachments: Annotated[Attachments, NoneAsEmpty] = ()
    conference_link: Line | None = None


class _OfSeries(CalendarAction):
    event_id: Id
    recurrence_scope: Scope | None = None
    recurrence_id: Day | None = None


class UpdateEvent(_OfSeries):
    """Changes what is given. Of a series: one occurrence (`this`), it and those after it, or all.

    `recurrence_id` is the occurrence's day. Without a scope, it is that occurrence if a day is given, else all.
    """

    operation: Literal["update"] = "update"
    title: Annotated[Line | None, Field(min_length=1)] = None
    start: LocalMoment | None = None
    end: LocalMoment | None = None
    calendar_id: Id | None = None
    all_day: bool | None = None
    timezone: Zone | None = None
    description: Text | None = None
    location: Line | None = None
    status: EventState | None = None
    organizer: Address | None = None
    attendees: Attendees | None = None
    recurrence: RecurrenceRule | None = None
    recurrence_exceptions: Days | None = None
    reminders: Reminders | None = None
    color: Name | None = None
    visibility: Visibility | None = None
    transparency: Transparency | None = None
    attachments: Attachments | None = None
    conference_link: Line | None = None


class DeleteEvent(_OfSeries):
    """Deletes an event; of a series one occurrence, it and those after it, or all."""

    operation: Literal["delete"] = "delete"


class Respond(CalendarAction):
    """Answers an invitation, for one attendee only: the user where nobody is named."""

    operation: Literal["respond"] = "respond"
    event_id: Id
    response: Answer
    attendee_email: Address | None = None
    comment: Line | None = None
    recurrence_id: Day | None = None


class CreateCalendar(CalendarAction):
    """Makes a calendar."""

    operation: Literal["create_calendar"] = "create_calendar"
    name: Name
    calendar_id: Id | None = None
    color: Name = "#4285f4"
    visible: bool = True
    default_reminders: Annotated[Reminders, NoneAsEmpty] = ()


class UpdateCalendar(CalendarAction):
    """Renames, colours, shows or hides a calendar."""

    operation: Literal["update_calendar"] = "update_calendar"
    calendar_id: Id
    name: Name | None = None
    color: Name | None = None
    visible: bool | None = None
    default_reminders: Reminders | None = None


class DeleteCalendar(CalendarAction):
    """Deletes a calendar and every event in it."""

    operation: Literal["delete_calendar"] = "delete_calendar"
    calendar_id: Id


class SetDefaultCalendar(CalendarAction):
    """Says into which calendar new events go."""

    operation: Literal["set_default_calendar"] = "set_default_calendar"
    calendar_id: Id
