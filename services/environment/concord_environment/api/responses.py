"""Responses that several routes share."""

from datetime import datetime
from uuid import NAMESPACE_OID, uuid5

from fastapi import Response
from pydantic import BaseModel, JsonValue

from concord_environment.core.events import IGNORED, Event, EventStatus
from concord_environment.environment import EnvironmentSimulation
from concord_environment.modalities.modality import ActionResponse, EventFacts
from concord_environment.modalities.registry import MODALITY_BY_NAME, implementation_of


class EventView(BaseModel):
    """An event: its modality, its time and its status. `error_message` says why an event failed or was skipped.

    `data` is the action. Only the response with one event, and lists with `include_data`, contain it.
    """

    event_id: str
    scheduled_time: datetime
    modality: str
    data: dict[str, JsonValue] | None
    status: EventStatus
    created_at: datetime
    executed_at: datetime | None
    agent_id: str | None
    priority: int
    error_message: str | None
    metadata: dict[str, JsonValue]


def event_view(event: Event) -> EventView:
    """An event as a response without its data, and without validation: the fields are valid already."""
    return EventView.model_construct(
        event_id=event.event_id,
        scheduled_time=event.scheduled_time,
        modality=event.modality,
        data=None,
        status=event.status,
        created_at=event.created_at,
        executed_at=event.executed_at,
        agent_id=event.agent_id,
        priority=event.priority,
        error_message=event.error_message,
        metadata=event.metadata,
    )


def whole_event_view(simulation: EnvironmentSimulation, event: Event) -> EventView:
    """An event as a response, with its data in UES's form."""
    modality = MODALITY_BY_NAME[event.modality]
    data = {
        "modality_type": event.modality,
        "timestamp": event.scheduled_time.isoformat(),
        "input_id": str(uuid5(NAMESPACE_OID, event.event_id)),
        **modality.event_data(simulation.world[modality.state], event.action, _facts(simulation, event)),
    }
    return event_view(event).model_copy(update={"data": data})


def action_response(simulation: EnvironmentSimulation, event: Event) -> ActionResponse:
    """The response to an action."""
    when = "" if event.status is EventStatus.EXECUTED else f" at {event.scheduled_time.isoformat()}"
    ignored = ", ".join(event.metadata.get(IGNORED, ()))
    implementation = implementation_of(event.action)
    return implementation.response(
        event_id=event.event_id,
        scheduled_time=event.scheduled_time,
        status=event.status,
        message=f"{event.modality}.{event.action.operation}: {event.status}{when}"
        + (f"; ignored, because there is no such id: {ignored}" if ignored else ""),
        modality=event.modality,
        **implementation.affected(simulation.world, event.action, _facts(simulation, event)),
    )


def _facts(simulation: EnvironmentSimulation, event: Event) -> EventFacts:
    return EventFacts(simulation.first_row_id(event), event.status is EventStatus.EXECUTED)


def unvalidated(answer: BaseModel) -> Response:
    """A response of a model without validation: FastAPI would validate each field again."""
    return Response(answer.model_dump_json(), media_type="application/json")
