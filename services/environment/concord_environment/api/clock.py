"""`/simulator/time`: reading and moving the clock."""

from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, Field

from concord_environment.api.access import Addressed, Served, permitted
from concord_environment.api.responses import unvalidated
from concord_environment.core.events import Event, EventStatus
from concord_environment.environment import Environment, EnvironmentSimulation
from concord_environment.modalities.fields import Moment
from concord_environment.time_advance import advance

MAX_DETAILS: Final = 1_000
"""The maximum number of executed events in a response."""


class TimeState(BaseModel):
    """The clock. `mode` is `manual`, `auto_advance` or `paused`."""

    current_time: datetime
    time_scale: float
    is_paused: bool
    auto_advance: bool
    mode: str


class AdvanceRequest(BaseModel):
    """How far to advance, in seconds."""

    seconds: Annotated[float, Field(gt=0, le=3_155_760_000, allow_inf_nan=False)]


class ExecutionDetail(BaseModel):
    """What became of one event."""

    event_id: str
    modality: str
    status: EventStatus
    scheduled_time: datetime
    executed_at: datetime | None
    agent_id: str | None
    error: str | None


class Advanced(BaseModel):
    """What advancing did."""

    previous_time: datetime
    current_time: datetime
    time_advanced: float
    events_executed: int
    events_failed: int
    execution_details: list[ExecutionDetail]


class SetRequest(BaseModel):
    """Where to set the clock, later than it is."""

    target_time: Moment


class TimeSet(BaseModel):
    """What setting the clock did: nothing is executed, what was due is skipped."""

    previous_time: datetime
    current_time: datetime
    skipped_events: int
    executed_events: int


class Skipped(BaseModel):
    """What going to the next event did."""

    previous_time: datetime
    current_time: datetime
    events_executed: int
    events_failed: int
    next_event_time: datetime | None


class PauseState(BaseModel):
    """Whether time is paused."""

    message: str
    current_time: datetime
    is_paused: bool


class ScaleRequest(BaseModel):
    """How many simulated seconds a second takes while time advances by itself."""

    scale: Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


router = APIRouter(prefix="/simulator/time", tags=["time"])


def _state(environment: Environment, simulation: EnvironmentSimulation) -> TimeState:
    lifecycle = environment.lifecycle
    return TimeState(
        current_time=simulation.now,
        time_scale=lifecycle.time_scale,
        is_paused=lifecycle.is_paused,
        auto_advance=lifecycle.auto_advance,
        mode=lifecycle.mode,
    )


@router.get("", dependencies=[Depends(permitted("time:read"))])
async def read_time(environment: Served, simulation: Addressed) -> TimeState:
    """What time it is."""
    return _state(environment, simulation)


@router.post("/advance", response_model=Advanced, dependencies=[Depends(permitted("time:advance"))])
async def advance_time(request: AdvanceRequest, environment: Served, simulation: Addressed) -> Response:
    """Executes everything that is due in (now, now + seconds], each at its due time.

    Of the events, the first 1000 are told of one by one; `GET /events` has them all.
    """
    progress = advance(environment, simulation, request.seconds)
    advanced = Advanced(
        previous_time=progress.previous,
        current_time=progress.current,
        time_advanced=(progress.current - progress.previous).total_seconds(),
        events_executed=progress.executed,
        events_failed=progress.failed,
        execution_details=[_detail(event) for event in progress.events[:MAX_DETAILS]],
    )
    return unvalidated(advanced)


@router.post("/set", dependencies=[Depends(permitted("time:set"))])
async def set_time(request: SetRequest, environment: Served, simulation: Addressed) -> TimeSet:
    """Sets the clock without executing anything: what was due by then is skipped. Not into the past (409)."""
    environment.lifecycle.require_moving()
    previous = simulation.now
    skipped = simulation.jump(request.target_time)
    environment.publish(skipped, simulation)
    environment.announce("time.set", current_time=simulation.now.isoformat(), previous_time=previous.isoformat())
    return TimeSet(previous_time=previous, current_time=simulation.now, skipped_events=len(skipped), executed_events=0)


@router.post("/skip-to-next", dependencies=[Depends(permitted("time:skip"))])
async def skip_to_next(environment: Served, simulation: Addressed) -> Skipped:
    """Goes to when the next event is due and executes what is due then; 404 where nothing is pending."""
    environment.lifecycle.require_moving()
    progress = simulation.skip_to_next()
    environment.publish(progress.events, simulation)
    environment.announce(
        "time.skipped",
        current_time=progress.current.isoformat(),
        previous_time=progress.previous.isoformat(),
        events_executed=progress.executed,
    )
    following = simulation.next_event()
    return Skipped(
        previous_time=progress.previous,
        current_time=progress.current,
        events_executed=progress.executed,
        events_failed=progress.failed,
        next_event_time=following.scheduled_time if following else None,
    )


@router.post("/pause", dependencies=[Depends(permitted("time:pause"))])
async def pause_time(environment: Served, simulation: Addressed) -> PauseState:
    """Keeps time where it is."""
    environment.lifecycle.is_paused = True
    environment.announce("time.paused", current_time=simulation.now.isoformat())
    return PauseState(message="time is paused", current_time=simulation.now, is_paused=True)


@router.post("/resume", dependencies=[Depends(permitted("time:resume"))])
async def resume_time(environment: Served, simulation: Addressed) -> PauseState:
    """Lets time move again."""
    environment.lifecycle.is_paused = False
    environment.announce("time.resumed", current_time=simulation.now.isoformat())
    return PauseState(message="time can move", current_time=simulation.now, is_paused=False)


@router.post("/set-scale", dependencies=[Depends(permitted("time:scale"))])
async def set_scale(request: ScaleRequest, environment: Served, simulation: Addressed) -> TimeState:
    """Sets how fast time advances by itself."""
    before = environment.lifecycle.time_scale
    environment.lifecycle.time_scale = request.scale
    environment.announce("time.scale_changed", time_scale=request.scale, previous_scale=before)
    return _state(environment, simulation)


def _detail(event: Event) -> ExecutionDetail:
    return ExecutionDetail.model_construct(
        event_id=event.event_id,
        modality=event.modality,
        status=event.status,
        scheduled_time=event.scheduled_time,
        executed_at=event.executed_at,
        agent_id=event.agent_id,
        error=event.error_message,
    )
