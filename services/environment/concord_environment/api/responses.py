"""Responses that several routes share."""

from datetime import datetime

from fastapi import Response
from pydantic import BaseModel

from concord_environment.core.events import Event, EventRecord, EventStatus, as_record


class EventView(EventRecord):
    """An event: an action with its time and status. `error_message` says why a failed event failed."""


def event_view(event: Event) -> EventView:
    """An event as a response, without validation: the fields are valid already."""
    return EventView.model_construct(**as_record(event))


class ModalityActionResponse(BaseModel):
    """The event of an action. Its status is `executed`, or `pending` until time moves."""

    event_id: str
    scheduled_time: datetime
    status: EventStatus
    message: str
    modality: str


def action_response(event: Event) -> ModalityActionResponse:
    """The response to an action."""
    when = "" if event.status is EventStatus.EXECUTED else f" at {event.scheduled_time.isoformat()}"
    return ModalityActionResponse(
        event_id=event.event_id,
        scheduled_time=event.scheduled_time,
        status=event.status,
        message=f"{event.modality}.{event.action.operation}: {event.status}{when}",
        modality=event.modality,
    )


def unvalidated(answer: BaseModel) -> Response:
    """A response without validation: the fields are valid already, and FastAPI would validate each one again."""
    return Response(answer.model_dump_json(), media_type="application/json")
