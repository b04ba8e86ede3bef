"""RFC 5545 iCalendar files (.ics)."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any, Final, cast
from zoneinfo import ZoneInfo

from icalendar import Calendar as ICalendar
from icalendar import Event as IEvent
from icalendar import vCalAddress, vRecur
from pydantic import TypeAdapter, ValidationError

from concord.version import VERSION
from concord_environment.core.clock import as_utc
from concord_environment.core.faults import Invalid
from concord_environment.modalities.calendar.recurrence import check, occurrence_on, rrule_of
from concord_environment.modalities.calendar.state import Attendee, CalendarEvent, RecurrenceRule
from concord_environment.modalities.registry import reasons

MAX_EVENTS: Final = 20_000
_EVENT: Final[TypeAdapter[CalendarEvent]] = TypeAdapter(CalendarEvent)


def to_ics(events: Iterable[CalendarEvent]) -> bytes:
    """Events as an iCalendar file. A changed occurrence has the UID of its series and a RECURRENCE-ID."""
    calendar = ICalendar()
    calendar.add("prodid", f"-//Concord//environment {VERSION}//EN")
    calendar.add("version", "2.0")
    known = {event.event_id: event for event in events}
    for event in known.values():
        calendar.add_component(_component(event, known.get(event.parent_event_id or "")))
    calendar.add_missing_timezones()
    return bytes(calendar.to_ical())


def _component(event: CalendarEvent, series: CalendarEvent | None) -> IEvent:
    zone = ZoneInfo(event.timezone)
    one = IEvent()
    one.add("uid", event.parent_event_id or event.event_id)
    one.add("dtstamp", event.updated_at)
    one.add("created", event.created_at)
    one.add("last-modified", event.updated_at)
    one.add("dtstart", _when(event.start, zone, event.all_day))
    one.add("dtend", _when(event.end, zone, event.all_day))
    one.add("summary", event.title)
    one.add("status", event.status.upper())
    one.add("sequence", event.sequence)
    one.add("transp", event.transparency.upper())
    for name, text in (
        ("description", event.description),
        ("location", event.location),
        ("url", event.conference_link),
    ):
        if text:
            one.add(name, text)
    if event.organizer:
        one.add("organizer", vCalAddress(f"mailto:{event.organizer}"))
    for attendee in event.attendees:
        one.add("attendee", _address(attendee), encode=False)
    if event.recurrence is not None:
        one.add("rrule", vRecur.from_ical(rrule_of(event.recurrence, zone)))
    for day in event.recurrence_exceptions:
        if (occurrence := occurrence_on(_unbroken(event), day)) is not None:
            one.add("exdate", _when(occurrence.start, zone, event.all_day))
    if series is not None and event.recurrence_id is not None:
        occurrence = occurrence_on(series, event.recurrence_id)
        if occurrence is not None:
            one.add("recurrence-id", _when(occurrence.start, ZoneInfo(series.timezone), series.all_day))
    return one


def _unbroken(event: CalendarEvent) -> CalendarEvent:
    return replace(event, recurrence_exceptions=())


def _when(moment: datetime, zone: ZoneInfo, all_day: bool) -> date | datetime:
    local = moment.astimezone(zone)
    return local.date() if all_day else moment if zone.key == "UTC" else local


def _address(attendee: Attendee) -> vCalAddress:
    address = vCalAddress(f"mailto:{attendee.email}")
    if attendee.display_name:
        address.params["CN"] = attendee.display_name
    address.params["ROLE"] = "OPT-PARTICIPANT" if attendee.optional else "REQ-PARTICIPANT"
    address.params["PARTSTAT"] = attendee.response.upper()
    return address


def from_ics(content: bytes, *, calendar_id: str, timezone: str, now: datetime) -> list[CalendarEvent]:
    """The events of an iCalendar file, for one calendar. Floating times are in `timezone`. Raises Invalid."""
    try:
        calendar = ICalendar.from_ical(content)
        components = [one for one in calendar.walk("VEVENT") if isinstance(one, IEvent)]
    except (ValueError, IndexError, KeyError) as error:
        raise Invalid("the body is not an iCalendar file") from error
    if not components or len(components) > MAX_EVENTS:
        raise Invalid(f"the iCalendar file must have between 1 and {MAX_EVENTS} events")
    return [_read(one, calendar_id, timezone, now) for one in components]


def _read(one: IEvent, calendar_id: str, timezone: str, now: datetime) -> CalendarEvent:
    uid = str(one.get("uid", "")) or None
    try:
        fields = dict(_fields(one, timezone, now))
        if uid is None:
            raise Invalid("an event has no UID")
        changed = fields.get("recurrence_id") is not None
        event = _EVENT.validate_python(
            {
                **fields,
                "event_id": f"{uid}/{fields['recurrence_id']}" if changed else uid,
                "parent_event_id": uid if changed else None,
                "calendar_id": calendar_id,
            }
        )
    except ValidationError as error:
        raise Invalid(f"event {uid}: {reasons(error)}") from error
    except (AttributeError, TypeError, ValueError) as error:
        raise Invalid(f"event {uid}: malformed") from error
    check(event)
    return event


def _fields(one: IEvent, timezone: str, now: datetime) -> Iterator[tuple[str, Any]]:
    begin = _value(one, "dtstart")
    all_day = not isinstance(begin, datetime)
    zone = _zone(begin, timezone)
    length = _value(one, "duration") if "duration" in one else timedelta(days=1 if all_day else 0)
    end = _value(one, "dtend") if "dtend" in one else begin + length
    yield from (("start", _moment(begin, zone)), ("end", _moment(end, zone)), ("all_day", all_day))
    yield from (("timezone", zone.key), ("title", str(one.get("summary", "")) or "(no title)"))
    yield "created_at", _moment(_value(one, "created"), zone) if "created" in one else now
    yield "updated_at", _moment(_value(one, "dtstamp"), zone) if "dtstamp" in one else now
    yield "status", str(one.get("status", "CONFIRMED")).lower()
    yield "sequence", int(str(one.get("sequence", 0)))
    yield "transparency", str(one.get("transp", "OPAQUE")).lower()
    for name, header in (("description", "description"), ("location", "location"), ("conference_link", "url")):
        yield name, str(one[header]) if header in one else None
    yield "organizer", _mailbox(one["organizer"]) if "organizer" in one else None
    yield "attendees", tuple(_attendee(address) for address in _many(one.get("attendee")))
    if "rrule" in one:
        rule = _many(one["rrule"])[0]
        frequency = str(rule["FREQ"][0]).lower()
        yield "recurrence", RecurrenceRule.model_validate({"frequency": frequency, "rrule": rule.to_ical().decode()})
    days = [moment.dt for exdate in _many(one.get("exdate")) for moment in exdate.dts]
    yield "recurrence_exceptions", tuple(sorted({_day(moment, zone) for moment in days}))
    yield "recurrence_id", _day(_value(one, "recurrence-id"), zone) if "recurrence-id" in one else None


def _value(one: IEvent, name: str) -> Any:  # noqa: ANN401 - a date, a datetime or a duration, by the property
    return cast("Any", one[name]).dt


def _many(value: Any) -> list[Any]:  # noqa: ANN401 - a property or several
    return [] if value is None else value if isinstance(value, list) else [value]


def _zone(begin: date | datetime, timezone: str) -> ZoneInfo:
    if isinstance(begin, datetime) and begin.tzinfo is not None:
        key = getattr(begin.tzinfo, "key", None) or ("UTC" if begin.utcoffset() == timedelta(0) else None)
        if key is not None:
            return ZoneInfo(key)
    return ZoneInfo(timezone)


def _moment(value: date | datetime, zone: ZoneInfo) -> datetime:
    moment = value if isinstance(value, datetime) else datetime.combine(value, time())
    return as_utc(moment if moment.tzinfo else moment.replace(tzinfo=zone))


def _day(value: date | datetime, zone: ZoneInfo) -> str:
    if not isinstance(value, datetime):
        return value.isoformat()
    return (value.astimezone(zone) if value.tzinfo else value).date().isoformat()


def _mailbox(address: object) -> str:
    return str(address).removeprefix("mailto:").removeprefix("MAILTO:")


def _attendee(address: vCalAddress) -> Attendee:
    partstat = str(address.params.get("PARTSTAT", "NEEDS-ACTION")).lower()
    known = partstat if partstat in ("accepted", "declined", "tentative") else "needs-action"
    optional = str(address.params.get("ROLE", "")).upper() == "OPT-PARTICIPANT"
    name = str(address.params["CN"])[:200] if "CN" in address.params else None
    fields = {"email": _mailbox(address), "display_name": name, "optional": optional, "response": known}
    return Attendee.model_validate(fields)
