"""`/simulator/time`: reading and moving the simulated clock."""

from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, Field

from concord_environment.api.access import Addressed, Served, permitted
from concord_environment.api.responses import unvalidated
from concord_environment.core.events import Event, EventStatus
from concord_environment.core.simulation import Progress
from concord_environment.environment import Environment, EnvironmentSimulation
from concord_environment.modalities.fields import Moment, TimeScale
from concord_environment.time_advance import advance

MAX_DETAILS: Final = 1_000
"""The maximum number of executed events in a response."""


class TimeState(BaseModel):
    """The simulated clock.

    `mode` is `manual` (calls move time), `auto_advance` (time follows the wall clock) or `paused`. `time_scale` is the
    number of simulated seconds per second of wall-clock time.
    """

    current_time: datetime
    time_scale: float
    is_paused: bool
    auto_advance: bool
    mode: str


class AdvanceRequest(BaseModel):
    """The time to advance, in simulated seconds."""

    seconds: Annotated[float, Field(gt=0, le=3_155_760_000, allow_inf_nan=False)]


class ExecutionDetail(BaseModel):
    """The outcome of an event. `error` says why a failed event failed."""

    event_id: str
    modality: str
    status: EventStatus
    scheduled_time: datetime
    executed_at: datetime | None
    agent_id: str | None
    error: str | None


class Advanced(BaseModel):
    """The outcome of advancing the clock. `time_advanced` is a text such as `1 day, 1:01:01`."""

    previous_time: datetime
    current_time: datetime
    time_advanced: str
    events_executed: int
    events_failed: int
    execution_details: list[ExecutionDetail]


class SetRequest(BaseModel):
    """The new time of the clock, not before the current time."""

    target_time: Moment


class TimeSet(BaseModel):
    """The outcome of setting the clock. No event executes: `executed_events` is 0."""

    previous_time: datetime
    current_time: datetime
    skipped_events: int
    executed_events: int


class Skipped(BaseModel):
    """The outcome of moving the clock to the next event. `next_event_time` is null if no event is pending."""

    previous_time: datetime
    current_time: datetime
    events_executed: int
    events_failed: int
    next_event_time: datetime | None


class PauseState(BaseModel):
    """Whether the clock is paused."""

    message: str
    current_time: datetime
    is_paused: bool


class ScaleRequest(BaseModel):
    """The number of simulated seconds per second of wall-clock time, for `auto_advance`."""

    scale: TimeScale


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
    """Returns the simulated time and the state of the clock."""
    return _state(environment, simulation)


@router.post("/advance", response_model=Advanced, dependencies=[Depends(permitted("time:advance"))])
async def advance_time(request: AdvanceRequest, environment: Served) -> Response:
    """Advances the clock by simulated seconds and executes all events due in (now, now + seconds], each at its time.

    A failed event does not stop the others. The response counts all events and lists the first 1000; `GET /events`
    lists all. Responds with 409 if the simulation is stopped, and with 400 if it is paused.
    """
    return unvalidated(advanced_of(advance(environment, request.seconds)))


@router.post("/set", dependencies=[Depends(permitted("time:set"))])
async def set_time(request: SetRequest, environment: Served, simulation: Addressed) -> TimeSet:
    """Sets the clock to a later time without executing events. Events due by then are skipped.

    Responds with 409 if the simulation is stopped, and with 400 if it is paused or the time is in the past.
    """
    environment.lifecycle.require_moving()
    previous = simulation.now
    skipped = simulation.jump(request.target_time)
    return TimeSet(previous_time=previous, current_time=simulation.now, skipped_events=len(skipped), executed_events=0)


@router.post("/skip-to-next", dependencies=[Depends(permitted("time:skip"))])
async def skip_to_next(environment: Served, simulation: Addressed) -> Skipped:
    """Moves the clock to the time of the next pending event, and executes all events due at that time.

    Responds with 404 if no event is pending, with 409 if the simulation is stopped, and with 400 if it is
    paused.
    """
    environment.lifecycle.require_moving()
    progress = simulation.skip_to_next()
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
    """Pauses the clock. Until `POST /simulator/time/resume`, calls that move time respond with 400."""
    environment.lifecycle.is_paused = True
    return PauseState(message="time is paused", current_time=simulation.now, is_paused=True)


@router.post("/resume", dependencies=[Depends(permitted("time:resume"))])
async def resume_time(environment: Served, simulation: Addressed) -> PauseState:
    """Resumes the clock after a pause."""
    environment.lifecycle.is_paused = False
    return PauseState(message="time can move", current_time=simulation.now, is_paused=False)


@router.post("/set-scale", dependencies=[Depends(permitted("time:scale"))])
async def set_scale(request: ScaleRequest, environment: Served, simulation: Addressed) -> TimeState:
    """Sets the speed of the clock for `auto_advance`."""
    environment.lifecycle.time_scale = request.scale
    return _state(environment, simulation)


def advanced_of(progress: Progress) -> Advanced:
    """An advance as a response."""
    return Advanced(
        previous_time=progress.previous,
        current_time=progress.current,
        time_advanced=str(progress.current - progress.previous),
        events_executed=progress.executed,
        events_failed=progress.failed,
        execution_details=[_detail(event) for event in progress.events[:MAX_DETAILS]],
    )


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
