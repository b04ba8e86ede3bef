"""Invitations by RFC 5546: how responses change a meeting, and how changes of a meeting reset responses."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from concord_environment.core.faults import Conflict, NotFound
from concord_environment.modalities.calendar.state import CalendarEvent, Response
from concord_environment.modalities.fields import same_address

MATERIAL: Final = ("start", "end", "all_day", "timezone", "recurrence", "recurrence_exceptions", "status")
"""The fields that attendees agree to (RFC 5546 §2.1.4). A change of such a field resets their responses."""


def revised(event: CalendarEvent, changes: Mapping[str, Any], now: datetime) -> CalendarEvent:
    """Applies changes to an event. A new start without a new end keeps the duration.

    A material change increments SEQUENCE and resets every response except the organiser's to needs-action.
    """
    given = dict(changes)
    if "start" in given and "end" not in given:
        given["end"] = given["start"] + (event.end - event.start)
    after = replace(event, **given, updated_at=now)
    if all(getattr(event, name) == getattr(after, name) for name in MATERIAL):
        return after
    attendees = tuple(
        attendee
        if same_address(attendee.email, after.organizer)
        else attendee.model_copy(update={"response": "needs-action", "comment": None})
        for attendee in after.attendees
    )
    return replace(after, sequence=event.sequence + 1, attendees=attendees)


def with_response(
    event: CalendarEvent, email: str, response: Response, comment: str | None, now: datetime
) -> CalendarEvent:
    """Sets the response of an attendee (RFC 5546 §3.2.3).

    Raises Conflict if the event is cancelled, and NotFound if the attendee is not invited.
    """
    if event.status == "cancelled":
        raise Conflict("the event is cancelled")
    if not any(same_address(attendee.email, email) for attendee in event.attendees):
        raise NotFound(f"{email} is not invited to this event")
    attendees = tuple(
        attendee.model_copy(update={"response": response, "comment": comment})
        if same_address(attendee.email, email)
        else attendee
        for attendee in event.attendees
    )
    return replace(event, attendees=attendees, updated_at=now)
