"""Import and export of standard files: mbox and .eml below `/email`, .ics below `/calendar`."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel

from concord_environment.api.access import Addressed, Served, permitted
from concord_environment.core.faults import Conflict, NotFound
from concord_environment.environment import Environment, EnvironmentSimulation
from concord_environment.formats.eml import from_eml, to_eml
from concord_environment.formats.ics import from_ics, to_ics
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


ICS: Final = "text/calendar"
EML: Final = "message/rfc822"
MBOX: Final = "application/mbox"


class FilesRead(BaseModel):
    """How much a file brought in."""

    imported: int


@router.get("/email/export/mbox", response_class=Response, responses=_file(MBOX), dependencies=_exports)
async def export_mbox(simulation: Addressed) -> Response:
    """The mailbox as an mbox file."""
    return Response(to_mbox(simulation.world[EmailState].emails.rows()), media_type=MBOX)


@router.get("/email/export/eml", response_class=Response, responses=_file(EML), dependencies=_exports)
async def export_eml(simulation: Addressed, message_id: Annotated[str, Query(max_length=998)]) -> Response:
    """One mail as an RFC 5322 message."""
    email = simulation.world[EmailState].emails.get(message_id)
    if email is None:
        raise NotFound(f"there is no mail {message_id}")
    return Response(to_eml(email), media_type=EML)


@router.post("/email/import/mbox", openapi_extra=_body(MBOX), dependencies=_imports)
async def import_mbox(request: Request, environment: Served, simulation: Addressed) -> FilesRead:
    """Puts the mails of an mbox file into the mailbox, in threads, at their dates. 409 while the simulation runs."""
    _require_stopped(environment)
    user = simulation.world[EmailState].address
    emails = list(from_mbox(await request.body(), user=user, fallback=simulation.now))
    return await _filed(request, environment, simulation, import_emails(simulation.world[EmailState], emails))


@router.post("/email/import/eml", openapi_extra=_body(EML), dependencies=_imports)
async def import_eml(request: Request, environment: Served, simulation: Addressed) -> FilesRead:
    """Puts one mail into the mailbox, at its date. 409 while the simulation runs."""
    _require_stopped(environment)
    email = from_eml(await request.body(), user=simulation.world[EmailState].address, fallback=simulation.now)
    return await _filed(request, environment, simulation, import_emails(simulation.world[EmailState], [email]))


@router.get("/calendar/export/ics", response_class=Response, responses=_file(ICS), dependencies=_exports)
async def export_ics(simulation: Addressed) -> Response:
    """The calendars as an iCalendar file."""
    return Response(to_ics(simulation.world[CalendarState].events.rows()), media_type=ICS)


@router.post("/calendar/import/ics", openapi_extra=_body(ICS), dependencies=_imports)
async def import_ics(
    request: Request,
    environment: Served,
    simulation: Addressed,
    calendar_id: Annotated[str | None, Query(max_length=200)] = None,
) -> FilesRead:
    """Puts the events of an iCalendar file into a calendar. 409 while the simulation runs."""
    _require_stopped(environment)
    state = simulation.world[CalendarState]
    into = calendar_id or state.current_settings.default_calendar_id
    if into not in state.calendars:
        raise NotFound(f"there is no calendar {into}")
    zone = state.current_settings.user_timezone
    events = from_ics(await request.body(), calendar_id=into, timezone=zone, now=simulation.now)
    taken = [event.event_id for event in events if event.event_id in state.events]
    if taken:
        raise Conflict(f"an event {taken[0]} is there already")
    for event in events:
        state.events.write(event.event_id, event)
    return await _filed(request, environment, simulation, len(events))


def _require_stopped(environment: Environment) -> None:
    environment.lifecycle.require_stopped("stop the simulation before loading a file")


async def _filed(
    request: Request, environment: Environment, simulation: EnvironmentSimulation, count: int
) -> FilesRead:
    """Makes imported rows part of the origin: no action wrote them, and a reset keeps them."""
    simulation.set_origin(await request.body())
    environment.announce("simulation.loaded")
    return FilesRead(imported=count)
