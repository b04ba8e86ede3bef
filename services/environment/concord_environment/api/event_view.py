"""An event as callers see it."""

from datetime import datetime

from pydantic import BaseModel, JsonValue

from concord_environment.core.events import Event, EventStatus


class EventView(BaseModel):
    """An event."""

    event_id: str
    scheduled_time: datetime
    modality: str
    data: dict[str, JsonValue]
    status: EventStatus
    created_at: datetime
    executed_at: datetime | None
    agent_id: str | None
    priority: int
    error_message: str | None
    metadata: dict[str, JsonValue]


def event_view(event: Event) -> EventView:
    """The view of an event. It is built from what was validated before."""
    return EventView.model_construct(
        event_id=event.event_id,
        scheduled_time=event.scheduled_time,
        modality=event.modality,
        data=event.action.as_data(),
        status=event.status,
        created_at=event.created_at,
        executed_at=event.executed_at,
        agent_id=event.agent_id,
        priority=event.priority,
        error_message=event.error_message,
        metadata=event.metadata,
    )


class ModalityActionResponse(BaseModel):
    """What became of an action: `executed`, or `pending` until time moves."""

    event_id: str
    scheduled_time: datetime
    status: EventStatus
    message: str
    modality: str


def action_response(event: Event) -> ModalityActionResponse:
    """The answer to an action."""
    when = "" if event.status is EventStatus.EXECUTED else f" at {event.scheduled_time.isoformat()}"
    return ModalityActionResponse(
        event_id=event.event_id,
        scheduled_time=event.scheduled_time,
        status=event.status,
        message=f"{event.modality}.{event.action.operation}: {event.status}{when}",
        modality=event.modality,
    )
