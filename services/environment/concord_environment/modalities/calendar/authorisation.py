"""Authorisation in the calendar: meetings of other organisers, and responses of other attendees."""

from typing import Final

from concord_environment.core.faults import Forbidden
from concord_environment.modalities.calendar.requests import CreateEvent, Respond, UpdateEvent
from concord_environment.modalities.calendar.state import Attendee, CalendarState
from concord_environment.modalities.email.state import EmailState
from concord_environment.modalities.fields import same_address
from concord_environment.modalities.modality import Caller, States

ORGANISE_FOR_OTHERS: Final = "calendar:create:others"
CHANGE_FOR_OTHERS: Final = "calendar:update:others"
RESPOND_FOR_OTHERS: Final = "calendar:respond:others"

OWN_VIEW: Final = frozenset({"move_to_calendar_id", "color", "reminders", "visibility", "transparency"})
"""The fields that the user may change in another organiser's meeting. They concern the user's own calendar only."""
_TARGET: Final = frozenset({"operation", "event_id", "calendar_id", "recurrence_scope", "recurrence_id"})


def bind_create(world: States, action: CreateEvent, caller: Caller) -> CreateEvent:
    """Makes the user the default organiser of a meeting with attendees.

    Raises Forbidden for another organiser, or for responses of others.
    """
    own = world[EmailState].address
    if action.organizer is not None and not same_address(action.organizer, own):
        _require(caller, ORGANISE_FOR_OTHERS, "organizer: organising for others")
    for attendee in action.attendees:
        if attendee.response != "needs-action" and not same_address(attendee.email, own):
            _require(caller, RESPOND_FOR_OTHERS, f"attendees: responding for {attendee.email}")
    if action.organizer is None and action.attendees:
        return action.model_copy(update={"organizer": own})
    return action


def bind_update(world: States, action: UpdateEvent, caller: Caller) -> UpdateEvent:
    """Keeps the responses of attendees unless the request sets them.

    Raises Forbidden for changes to another organiser's meeting, except for `OWN_VIEW`, and to responses of others.
    """
    own = world[EmailState].address
    event = world[CalendarState].events.get(action.event_id)
    if event is None:
        return action
    if event.organizer is not None and not same_address(event.organizer, own):
        foreign = action.model_fields_set - OWN_VIEW - _TARGET
        if foreign:
            _require(
                caller, CHANGE_FOR_OTHERS, f"{', '.join(sorted(foreign))}: changing a meeting of {event.organizer}"
            )
    if action.organizer is not None and not same_address(action.organizer, own):
        _require(caller, CHANGE_FOR_OTHERS, "organizer: transferring a meeting")
    known = {attendee.email.casefold(): attendee for attendee in event.attendees}
    merged = tuple(_merged(attendee, known.get(attendee.email.casefold())) for attendee in action.attendees or ())
    for attendee in merged:
        before = known.get(attendee.email.casefold())
        previous = before.response if before else "needs-action"
        if attendee.response != previous and not same_address(attendee.email, own):
            _require(caller, RESPOND_FOR_OTHERS, f"attendees: responding for {attendee.email}")
    return action if action.attendees is None else action.model_copy(update={"attendees": merged})


def bind_respond(world: States, action: Respond, caller: Caller) -> Respond:
    """Makes the user the default attendee. Raises Forbidden for another attendee."""
    own = world[EmailState].address
    if action.attendee_email is not None and not same_address(action.attendee_email, own):
        _require(caller, RESPOND_FOR_OTHERS, f"attendee_email: responding for {action.attendee_email}")
    return action.model_copy(update={"attendee_email": action.attendee_email or own})


def _merged(attendee: Attendee, known: Attendee | None) -> Attendee:
    """The attendee with the known response, unless the request sets one."""
    if known is None or "response" in attendee.model_fields_set:
        return attendee
    return attendee.model_copy(update={"response": known.response, "comment": attendee.comment or known.comment})


def _require(caller: Caller, permission: str, act: str) -> None:
    if not caller.may(permission):
        raise Forbidden(f"Permission denied: {act} requires '{permission}'")
