"""The calendar's rows and tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from concord_environment.core.clock import EPOCH, to_us
from concord_environment.core.order import SortKey
from concord_environment.core.tables import Table
from concord_environment.modalities.calendar.client_form import attachment_fields, rule_fields
from concord_environment.modalities.calendar.rrule import checked_rrule
from concord_environment.modalities.fields import MAX_ITEMS, Address, Id, Line, Moment, Name, Text, Zone
from concord_environment.modalities.modality import ONLY_KEY

Response = Literal["accepted", "declined", "tentative", "needs-action"]
"""PARTSTAT of RFC 5545."""
EventState = Literal["confirmed", "tentative", "cancelled"]
Visibility = Literal["public", "private", "confidential", "default"]
Transparency = Literal["opaque", "transparent"]
DayOfWeek = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def _as_date(text: str) -> str:
    return date.fromisoformat(text[:10]).isoformat()


Day = Annotated[
    str,
    Field(
        min_length=10,
        max_length=40,
        description="The date of an occurrence in the time zone of the event, such as 2026-03-16.",
    ),
    AfterValidator(_as_date),
]
"""A date such as 2026-03-16 in the time zone of the event. A timestamp means its date."""


class Attendee(BaseModel):
    """An attendee of an event, and the attendee's response."""

    model_config = ConfigDict(frozen=True)

    email: Address
    display_name: Name | None = None
    optional: bool = False
    response: Response = "needs-action"
    comment: Line | None = None

    @model_validator(mode="before")
    @classmethod
    def _bare_address(cls, value: Any) -> Any:  # noqa: ANN401 - whatever was sent
        return {"email": value} if isinstance(value, str) else value


class RecurrenceRule(BaseModel):
    """The recurrence of a series.

    `end_type` `until` requires an `end_date`, and `count` requires a `count`. `rrule` is for rules that the other
    fields cannot express: an RFC 5545 RRULE (DAILY, WEEKLY, MONTHLY or YEARLY), which replaces all other fields. The
    fields of UES's client, such as `by_day`, `until` and a `frequency` in capitals, are accepted too.
    """

    model_config = ConfigDict(frozen=True)

    frequency: Literal["daily", "weekly", "monthly", "yearly"]
    interval: Annotated[int, Field(ge=1, le=1_000)] = 1
    days_of_week: Annotated[tuple[DayOfWeek, ...] | None, Field(max_length=7)] = None
    day_of_month: Annotated[int | None, Field(ge=1, le=31)] = None
    month_of_year: Annotated[int | None, Field(ge=1, le=12)] = None
    end_type: Literal["never", "until", "count"] = "never"
    end_date: date | None = None
    count: Annotated[int | None, Field(ge=1, le=10_000)] = None
    rrule: Annotated[str | None, Field(max_length=500), AfterValidator(checked_rrule)] = None

    @model_validator(mode="before")
    @classmethod
    def _of_either_form(cls, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        return rule_fields(value)

    @model_validator(mode="after")
    def _has_end(self) -> Self:
        if self.end_type == "until" and self.end_date is None:
            raise ValueError("end_type 'until' requires an end_date")
        if self.end_type == "count" and self.count is None:
            raise ValueError("end_type 'count' requires a count")
        return self


def _method_as_type(value: object) -> object:
    if isinstance(value, Mapping) and "method" in value and "type" not in value:
        return {**value, "type": value["method"]}
    return value


class _Reminder(BaseModel):
    """A reminder, `minutes_before` the start of an event."""

    model_config = ConfigDict(frozen=True)

    minutes_before: Annotated[int, Field(ge=0, le=1_000_000)] = 10
    type: Literal["notification", "email", "both"] = "notification"


Reminder = Annotated[_Reminder, BeforeValidator(_method_as_type)]
"""The time and type of a reminder. Older scenario files call the type `method`."""
Reminders = Annotated[tuple[Reminder, ...], Field(max_length=20)]


class CalendarAttachment(BaseModel):
    """The description of a file attached to an event, without the content. `size` is in bytes."""

    model_config = ConfigDict(frozen=True)

    filename: Name
    size: Annotated[int, Field(ge=0)] = 0
    mime_type: Name = "application/octet-stream"
    url: Line | None = None
    attachment_id: Id | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_either_form(cls, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        return attachment_fields(value)


Attendees = Annotated[tuple[Attendee, ...], Field(max_length=MAX_ITEMS)]


@dataclass(frozen=True, slots=True)
class CalendarEvent:
    """An event, a series (with `recurrence`), or a changed occurrence of a series (with `recurrence_id`).

    The `parent_event_id` of a changed occurrence is the id of the series. `sequence` is SEQUENCE of RFC 5545: the
    number of the organiser's material changes.
    """

    event_id: Id
    calendar_id: Id
    title: Line
    start: Moment
    end: Moment
    created_at: Moment
    updated_at: Moment
    all_day: bool = False
    timezone: Zone = "UTC"
    description: Text | None = None
    location: Line | None = None
    status: EventState = "confirmed"
    organizer: Address | None = None
    attendees: Attendees = ()
    recurrence: RecurrenceRule | None = None
    recurrence_exceptions: Annotated[tuple[Day, ...], Field(max_length=MAX_ITEMS)] = ()
    recurrence_id: Day | None = None
    parent_event_id: Id | None = None
    reminders: Reminders = ()
    color: Name | None = None
    visibility: Visibility = "default"
    transparency: Transparency = "opaque"
    attachments: tuple[CalendarAttachment, ...] = ()
    conference_link: Line | None = None
    deleted_at: Moment | None = None
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class Calendar:
    """One of the user's calendars."""

    calendar_id: Id
    name: Name
    created_at: Moment
    updated_at: Moment
    color: Name = "#4285f4"
    visible: bool = True
    default_reminders: Reminders = ()


@dataclass(frozen=True, slots=True)
class CalendarSettings:
    """The default calendar and the default time zone of new events."""

    default_calendar_id: Id = "primary"
    user_timezone: Zone = "UTC"


PRIMARY: Final = "primary"


def _sort_key(event: CalendarEvent) -> SortKey:
    return (to_us(event.start),)


EVER: Final = "ever"
"""The index value of series and of events that span many months."""

_MONTHS: Final = 12
"""The number of months up to which an event is indexed by month."""


def months(start: datetime, end: datetime, at_most: int = _MONTHS) -> tuple[str, ...] | None:
    """The months (UTC) from `start` to `end`, inclusive. None if there are more than `at_most`."""
    numbers = range(start.year * 12 + start.month, end.year * 12 + end.month + 1)
    return tuple(map(str, numbers)) if len(numbers) <= at_most else None


def _months(event: CalendarEvent) -> tuple[str, ...]:
    in_months = None if event.recurrence is not None else months(event.start, event.end)
    return in_months or (EVER,)


def _parent(event: CalendarEvent) -> tuple[str, ...]:
    return () if event.parent_event_id is None else (event.parent_event_id,)


class CalendarState:
    """Events in the order of their start, each in one calendar. A new state has one empty calendar."""

    def __init__(self) -> None:
        self.events: Table[CalendarEvent] = Table(
            "calendar.events",
            CalendarEvent,
            order=_sort_key,
            indexes={"calendar": lambda event: (event.calendar_id,), "month": _months},
            lookups={"parent": _parent},
        )
        self.calendars: Table[Calendar] = Table("calendar.calendars", Calendar)
        self.settings: Table[CalendarSettings] = Table("calendar.settings", CalendarSettings)
        self.calendars.write(PRIMARY, Calendar(PRIMARY, "Personal", EPOCH, EPOCH))

    @property
    def tables(self) -> tuple[Table[CalendarEvent], Table[Calendar], Table[CalendarSettings]]:
        """The tables."""
        return self.events, self.calendars, self.settings

    def near(self, start: datetime, end: datetime) -> Iterable[CalendarEvent]:
        """All events that may overlap [start, end), and some others."""
        values = months(start, end)
        if values is None:
            return self.events.rows()
        candidates = (event for value in (*values, EVER) for event in self.events.group("month", value))
        return {event.event_id: event for event in candidates}.values()

    @property
    def current_settings(self) -> CalendarSettings:
        """The current settings."""
        return self.settings.get(ONLY_KEY) or CalendarSettings()

    def changed_occurrences(self, series: CalendarEvent) -> dict[str, CalendarEvent]:
        """The individually changed occurrences of a series, by day."""
        changed = self.events.found("parent", series.event_id)
        return {event.recurrence_id: event for event in changed if event.recurrence_id is not None}
