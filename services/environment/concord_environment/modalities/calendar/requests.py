"""The requests of the calendar's operations."""

from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from concord_environment.core.actions import Action
from concord_environment.core.clock import as_utc
from concord_environment.modalities.calendar.state import (
    Attendees,
    CalendarAttachment,
    Day,
    EventState,
    RecurrenceRule,
    Reminders,
    Response,
    Transparency,
    Visibility,
)
from concord_environment.modalities.fields import MAX_ITEMS, Address, Id, Line, Name, NoneAsEmpty, Text, Zone


def _in_range(moment: datetime) -> datetime:
    as_utc(moment)
    return moment


LocalMoment = Annotated[
    datetime,
    AfterValidator(_in_range),
    Field(description="An RFC 3339 time or date. Without an offset, it is in the time zone of the event."),
]
"""A time. Without an offset, it is in the time zone of the event. A date means its midnight."""
Scope = Annotated[
    Literal["this", "this_and_future", "all"],
    BeforeValidator(lambda scope: "this_and_future" if scope == "future" else scope),
]
"""The occurrences of a series that a request changes. UES's client says `future` for `this_and_future`."""
Days = Annotated[tuple[Day, ...], Field(max_length=MAX_ITEMS)]
Attachments = Annotated[tuple[CalendarAttachment, ...], Field(max_length=100)]


class CalendarAction(Action):
    """Base class of the calendar's requests."""

    modality: ClassVar[str] = "calendar"


class CreateEvent(CalendarAction):
    """Creates an event, or with `recurrence` a series, in a calendar.

    By default, the calendar is the user's default calendar, the time zone is the user's, and the service generates
    the `event_id`. A calendar that does not exist is created. The organiser of a meeting with attendees is the user;
    another `organizer` requires the permission `calendar:create:others`. Fails if the `event_id` exists (409), if the
    event ends before it starts (400), or if no date matches the recurrence (422).
    """

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


class _EventAction(CalendarAction):
    event_id: Id
    calendar_id: Annotated[
        Id | None, Field(description="The calendar of the event, for compatibility with UES. It has no effect.")
    ] = None
    recurrence_scope: Scope | None = None
    recurrence_id: Day | None = None


class UpdateEvent(_EventAction):
    """Changes the given fields of an event. A new start without a new end keeps the duration.

    For a series, `recurrence_scope` selects one occurrence (`this`), an occurrence and all later ones
    (`this_and_future`), or the whole series (`all`). `recurrence_id` is the date of the occurrence. The default scope
    is `this` with a `recurrence_id`. Without one, `this` is the whole series. `move_to_calendar_id` moves the event to
    another calendar. Null clears `description`, `location`, `color`, `conference_link` and `recurrence`. A change of
    time, recurrence or status resets the responses of the attendees. Changes to another organiser's meeting require the
    permission `calendar:update:others`, except for the user's own `move_to_calendar_id`, `color`, `reminders`,
    `visibility` and `transparency`. Changes nothing if the event does not exist. Fails if the other calendar or the
    occurrence does not exist (404), or if the event ends before it starts (400).
    """

    operation: Literal["update"] = "update"
    title: Annotated[Line | None, Field(min_length=1)] = None
    start: LocalMoment | None = None
    end: LocalMoment | None = None
    move_to_calendar_id: Id | None = None
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


class DeleteEvent(_EventAction):
    """Deletes an event.

    For a series, `recurrence_scope` selects one occurrence (`this`), an occurrence and all later ones
    (`this_and_future`), or the whole series (`all`). `recurrence_id` is the date of the occurrence. The default scope
    is `this` with a `recurrence_id`. Without one, `this` is the whole series. Changes nothing if the event does not
    exist. Fails if the occurrence does not exist (404).
    """

    operation: Literal["delete"] = "delete"


class Respond(CalendarAction):
    """Sets the response of one attendee to an invitation, by default the user's.

    With `recurrence_id`, a date, the response is to that occurrence of a series only. Another `attendee_email` requires
    the permission `calendar:respond:others`. Changes nothing if the event does not exist. Fails if the attendee is not
    invited (404), or if the event is cancelled (409).
    """

    operation: Literal["respond"] = "respond"
    event_id: Id
    response: Response
    attendee_email: Address | None = None
    comment: Line | None = None
    recurrence_id: Day | None = None


class CreateCalendar(CalendarAction):
    """Creates a calendar. The service generates the `calendar_id` by default. Fails if the id exists (409)."""

    operation: Literal["create_calendar"] = "create_calendar"
    name: Name
    calendar_id: Id | None = None
    color: Name = "#4285f4"
    visible: bool = True
    default_reminders: Annotated[Reminders, NoneAsEmpty] = ()


class UpdateCalendar(CalendarAction):
    """Changes the given fields of a calendar. Fails if the calendar does not exist (404)."""

    operation: Literal["update_calendar"] = "update_calendar"
    calendar_id: Id
    name: Name | None = None
    color: Name | None = None
    visible: bool | None = None
    default_reminders: Reminders | None = None


class DeleteCalendar(CalendarAction):
    """Deletes a calendar and all its events.

    Fails if the calendar does not exist (404) or is the default calendar (409).
    """

    operation: Literal["delete_calendar"] = "delete_calendar"
    calendar_id: Id


class SetDefaultCalendar(CalendarAction):
    """Makes a calendar the default for new events. Fails if the calendar does not exist (404)."""

    operation: Literal["set_default_calendar"] = "set_default_calendar"
    calendar_id: Id
