"""Import and export of mbox and .eml files below `/email`, and of .ics files below `/calendar`."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel

from concord_environment.api.access import Addressed, Served, permitted
from concord_environment.core.faults import Conflict, NotFound
from concord_environment.environment import Environment, EnvironmentSimulation
from concord_environment.formats.eml import from_eml, to_eml
from concord_environment.formats.mbox import from_mbox, to_mbox
from concord_environment.modalities.calendar.state import CalendarState
from concord_environment.modalities.email.operations import import_emails
from concord_environment.modalities.email.state import EmailState

router = APIRouter(tags=["files"])

_exports = [Depends(permitted("scenario:export"))]
_imports = [Depends(permitted("scenario:import"))]


def _file(kind: str) -> dict[int | str, dict[str, object]]:
    return {200: {"content": {kind: {"schema": {"type": "string", "format": "binary"}}}}}


def _body(kind: str) -> dict[str, object]:
    content = {kind: {"schema": {"type": "string", "format": "binary"}}}
    return {"requestBody": {"required": True, "content": content}}


# The library for calendar files is imported by the functions that need it: most environments see no such file.
ICS: Final = "text/calendar"
EML: Final = "message/rfc822"
MBOX: Final = "application/mbox"


class FilesRead(BaseModel):
    """The number of imported emails or events."""

    imported: int


@router.get("/email/export/mbox", response_class=Response, responses=_file(MBOX), dependencies=_exports)
async def export_mbox(simulation: Addressed) -> Response:
    """Exports all emails as an mbox file (RFC 4155), without the content of attachments."""
    return Response(to_mbox(simulation.world[EmailState].emails.rows()), media_type=MBOX)


@router.get("/email/export/eml", response_class=Response, responses=_file(EML), dependencies=_exports)
async def export_eml(simulation: Addressed, message_id: Annotated[str, Query(max_length=998)]) -> Response:
    """Exports an email as an .eml file (RFC 5322), without the content of attachments.

    Responds with 404 if the email does not exist.
    """
    email = simulation.world[EmailState].emails.get(message_id)
    if email is None:
        raise NotFound(f"there is no email {message_id}")
    return Response(to_eml(email), media_type=EML)


@router.post("/email/import/mbox", openapi_extra=_body(MBOX), dependencies=_imports)
async def import_mbox(request: Request, environment: Served, simulation: Addressed) -> FilesRead:
    """Imports the emails of an mbox file (RFC 4155) into the mailbox, at their dates and in threads.

    Imports all emails or none. Responds with 409 if the simulation is running or a Message-ID exists, and with 422 for
    a malformed file.
    """
    _require_stopped(environment)
    user = simulation.world[EmailState].address
    emails = list(from_mbox(await request.body(), user=user, fallback=simulation.now))
    return await _filed(request, simulation, import_emails(simulation.world[EmailState], emails))


@router.post("/email/import/eml", openapi_extra=_body(EML), dependencies=_imports)
async def import_eml(request: Request, environment: Served, simulation: Addressed) -> FilesRead:
    """Imports an .eml file (RFC 5322) into the mailbox, at its date and in its thread.

    Responds with 409 if the simulation is running or the Message-ID exists, and with 422 for a malformed file.
    """
    _require_stopped(environment)
    email = from_eml(await request.body(), user=simulation.world[EmailState].address, fallback=simulation.now)
    return await _filed(request, simulation, import_emails(simulation.world[EmailState], [email]))


@router.get("/calendar/export/ics", response_class=Response, responses=_file(ICS), dependencies=_exports)
async def export_ics(simulation: Addressed) -> Response:
    """Exports the events of all calendars as an iCalendar file (RFC 5545)."""
    from concord_environment.formats.ics import to_ics

    return Response(to_ics(simulation.world[CalendarState].events.rows()), media_type=ICS)


@router.post("/calendar/import/ics", openapi_extra=_body(ICS), dependencies=_imports)
async def import_ics(
    request: Request,
    environment: Served,
    simulation: Addressed,
    calendar_id: Annotated[str | None, Query(max_length=200)] = None,
) -> FilesRead:
    """Imports the events of an iCalendar file (RFC 5545) into a calendar, by default the default calendar.

    Imports all events or none. Floating times are in the user's time zone. Responds with 404 if the calendar does not
    exist, with 409 if the simulation is running or a UID exists, and with 422 for a malformed file.
    """
    from concord_environment.formats.ics import from_ics

    _require_stopped(environment)
    state = simulation.world[CalendarState]
    into = calendar_id or state.current_settings.default_calendar_id
    if into not in state.calendars:
        raise NotFound(f"there is no calendar {into}")
    zone = state.current_settings.user_timezone
    events = from_ics(await request.body(), calendar_id=into, timezone=zone, now=simulation.now)
    taken = [event.event_id for event in events if event.event_id in state.events]
    if taken:
        raise Conflict(f"event {taken[0]} already exists")
    for event in events:
        state.events.write(event.event_id, event)
    return await _filed(request, simulation, len(events))


def _require_stopped(environment: Environment) -> None:
    environment.lifecycle.require_stopped("stop the simulation before importing a file")


async def _filed(request: Request, simulation: EnvironmentSimulation, count: int) -> FilesRead:
    """Makes imported rows part of the initial state: no action wrote them, and a reset keeps them."""
    simulation.set_origin(await request.body())
    return FilesRead(imported=count)
