"""`/events`: reading and scheduling events."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field, JsonValue

from concord_environment.access.keys import Key
from concord_environment.api.access import Addressed, Served, permitted
from concord_environment.api.responses import EventView, event_view, whole_event_view
from concord_environment.core.events import DEFAULT_PRIORITY, MAX_PRIORITY, Event, EventStatus, Submission
from concord_environment.core.faults import BadRequest, NotFound
from concord_environment.environment import Environment, EnvironmentSimulation
from concord_environment.modalities.fields import EventPriority, JsonObject, Moment
from concord_environment.modalities.registry import MODALITY_BY_NAME, parse

MAX_BATCH = 1_000

Data = Annotated[dict[str, JsonValue], Field(max_length=200)]


class ImmediateRequest(BaseModel):
    """An action to execute as soon as time moves.

    `data` has the fields of the modality's request, and its `operation`. Among events due at one time, a higher
    `priority` executes first. The `agent_id` of the event is the caller's key.
    """

    modality: Annotated[str, Field(max_length=50)]
    data: Data
    priority: EventPriority = MAX_PRIORITY
    metadata: JsonObject = Field(default_factory=dict)


class EventRequest(ImmediateRequest):
    """An action to execute at a simulated time, `scheduled_time`, with the fields of an immediate request."""

    scheduled_time: Moment
    priority: EventPriority = DEFAULT_PRIORITY


class EventList(BaseModel):
    """A page of events in the order of execution. `total` counts the matches; the other counts are of all events."""

    events: list[EventView]
    total: int
    pending: int
    executed: int
    failed: int
    skipped: int


class EventSummary(BaseModel):
    """The numbers of events. `next_event_time` is null if no event is pending."""

    total: int
    pending: int
    executed: int
    failed: int
    skipped: int
    cancelled: int
    by_modality: dict[str, int]
    next_event_time: datetime | None


class Cancellation(BaseModel):
    """A cancelled event."""

    cancelled: bool
    event_id: str


router = APIRouter(prefix="/events", tags=["events"])


@router.get("", dependencies=[Depends(permitted("events:list"))])
async def list_events(
    simulation: Addressed,
    status: Annotated[str | None, Query(max_length=20, json_schema_extra={"enum": list(EventStatus)})] = None,
    start_time: Annotated[Moment | None, Query()] = None,
    end_time: Annotated[Moment | None, Query()] = None,
    modality: Annotated[str | None, Query(max_length=50)] = None,
    agent_id: Annotated[str | None, Query(max_length=100)] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_BATCH)] = 100,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    include_data: Annotated[bool, Query(description="Adds the data of each event.")] = False,
) -> EventList:
    """Returns the events that match all given filters, in the order of execution: by default 100, at most 1000.

    `start_time` and `end_time` bound the scheduled time, inclusive. Responds with 400 for an unknown status.
    """
    wanted = _status(status)
    found = (
        event
        for event in _candidates(simulation, wanted)
        if wanted in (None, event.status)
        and (start_time is None or event.scheduled_time >= start_time)
        and (end_time is None or event.scheduled_time <= end_time)
        and modality in (None, event.modality)
        and agent_id in (None, event.agent_id)
    )
    page, total = _page(found, offset, limit)
    return EventList(
        events=[whole_event_view(simulation, event) if include_data else event_view(event) for event in page],
        total=total,
        pending=simulation.count(EventStatus.PENDING),
        executed=simulation.count(EventStatus.EXECUTED),
        failed=simulation.count(EventStatus.FAILED),
        skipped=simulation.count(EventStatus.SKIPPED),
    )


def _status(text: str | None) -> EventStatus | None:
    if text is None:
        return None
    try:
        return EventStatus(text)
    except ValueError as error:
        raise BadRequest(f"status: must be one of {', '.join(EventStatus)}") from error


def _candidates(simulation: EnvironmentSimulation, status: EventStatus | None) -> Iterator[Event]:
    if status is EventStatus.PENDING:
        return iter(simulation.pending())
    return simulation.events.rows()


def _page(found: Iterator[Event], offset: int, limit: int) -> tuple[list[Event], int]:
    before = sum(1 for _ in islice(found, offset))
    page = list(islice(found, limit))
    return page, before + len(page) + sum(1 for _ in found)


@router.post("")
async def create_event(
    request: EventRequest,
    environment: Served,
    caller: Annotated[Key, Depends(permitted("events:create"))],
) -> EventView:
    """Schedules an action for a simulated time. It executes when the clock reaches that time.

    Requires the permission of the operation too. Responds with 403 without it, with 409 if the time is in the past,
    with 404 for an unknown modality, with 422 for an unknown operation, and with 400 for an invalid field of `data`. A
    failure at execution time is recorded in the event.
    """
    return event_view(environment.schedule([submission_of(environment, caller, request)])[0])


@router.post("/immediate")
async def create_immediate_event(
    request: ImmediateRequest,
    environment: Served,
    caller: Annotated[Key, Depends(permitted("events:execute"))],
) -> EventView:
    """Schedules an action for the next move of time, before other events of that time. The routes of the modalities
    execute actions at once.

    Requires the permission of the operation too. Responds with errors as `POST /events` does.
    """
    submission = environment.submission(
        caller,
        parse(request.modality, request.data),
        due=environment.simulation.now,
        priority=request.priority,
        metadata=request.metadata,
    )
    return event_view(environment.schedule([submission])[0])


def submission_of(environment: Environment, caller: Key, request: EventRequest) -> Submission:
    """The action of a request, bound to the caller. Raises a Fault."""
    return environment.submission(
        caller,
        parse(request.modality, request.data),
        due=request.scheduled_time,
        priority=request.priority,
        metadata=request.metadata,
    )


@router.get("/next", dependencies=[Depends(permitted("events:read"))])
async def next_event(simulation: Addressed) -> EventView:
    """Returns the pending event that executes next. Responds with 404 if no event is pending."""
    event = simulation.next_event()
    if event is None:
        raise NotFound("no event is pending")
    return event_view(event)


@router.get("/summary", dependencies=[Depends(permitted("events:summary"))])
async def summarise(simulation: Addressed) -> EventSummary:
    """Returns the numbers of events by status and by modality."""
    following = simulation.next_event()
    return EventSummary(
        total=len(simulation.events),
        pending=simulation.count(EventStatus.PENDING),
        executed=simulation.count(EventStatus.EXECUTED),
        failed=simulation.count(EventStatus.FAILED),
        skipped=simulation.count(EventStatus.SKIPPED),
        cancelled=simulation.count(EventStatus.CANCELLED),
        by_modality={name: count for name in MODALITY_BY_NAME if (count := simulation.count(modality=name))},
        next_event_time=following.scheduled_time if following else None,
    )


@router.get("/{event_id}", dependencies=[Depends(permitted("events:read"))])
async def read_event(event_id: str, simulation: Addressed) -> EventView:
    """Returns an event with its data. Responds with 404 if it does not exist."""
    event = simulation.events.get(event_id)
    if event is None:
        raise NotFound(f"there is no event {event_id}")
    return whole_event_view(simulation, event)


@router.delete("/{event_id}", dependencies=[Depends(permitted("events:delete"))])
async def cancel_event(event_id: str, simulation: Addressed) -> Cancellation:
    """Cancels a pending event. Responds with 404 if it does not exist, and with 400 if it is not pending."""
    simulation.cancel(event_id)
    return Cancellation(cancelled=True, event_id=event_id)
