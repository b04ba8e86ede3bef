"""`/simulation`: start, stop, status, reset and clear."""

from datetime import datetime
from typing import Annotated, Final
from uuid import NAMESPACE_URL, uuid5

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from concord_environment.api.access import Addressed, Served, permitted
from concord_environment.core.events import EventStatus
from concord_environment.core.faults import BadRequest
from concord_environment.environment import Environment
from concord_environment.modalities.fields import Moment, TimeScale
from concord_environment.modalities.registry import MODALITY_BY_NAME


class StartRequest(BaseModel):
    """The movement of time.

    With `auto_advance`, time follows the wall clock at `time_scale` simulated seconds per second. Otherwise, calls move
    time.
    """

    auto_advance: bool = False
    time_scale: TimeScale = 1.0


class Started(BaseModel):
    """A started simulation. `time_scale` is null unless time follows the wall clock."""

    simulation_id: str
    status: str
    current_time: datetime
    auto_advance: bool
    time_scale: float | None


class Stopped(BaseModel):
    """A stopped simulation, with the numbers of its events. They are null if the simulation was stopped already."""

    simulation_id: str
    status: str
    final_time: datetime | None
    total_events: int | None
    events_executed: int | None
    events_failed: int | None


class Status(BaseModel):
    """The status of a simulation. `chain_head` is the latest hash of the chain, a digest of the whole run."""

    is_running: bool
    current_time: datetime
    is_paused: bool
    auto_advance: bool
    time_scale: float
    pending_events: int
    executed_events: int
    failed_events: int
    next_event_time: datetime | None
    seed: int
    chain_head: str


class ResetRequest(BaseModel):
    """Where a reset leads. By default the clock stays and all events are pending again, as in UES.

    With `rewind`, the clock and the events are those of the time when the simulation was last loaded, cleared or reset.
    """

    rewind: bool = False


class ResetDone(BaseModel):
    """The outcome of a reset.

    `cleared_events` counts the events that are pending again, `events_undone` those that were executed. With `rewind`,
    `events_undone` is the number of undone steps.
    """

    status: str
    message: str
    cleared_events: int
    events_undone: int
    undo_errors: list[str]


class ClearRequest(BaseModel):
    """The RFC 3339 time of the empty simulation, by default the current simulated time."""

    reset_time_to: Annotated[str | None, Field(max_length=100)] = None


class Cleared(BaseModel):
    """The outcome of clearing the simulation. `time_reset` is the new time, or null if the clock kept its time."""

    status: str
    events_removed: int
    modalities_cleared: int
    time_reset: datetime | None
    current_time: datetime


router = APIRouter(prefix="/simulation", tags=["simulation"])


_MOMENT: Final[TypeAdapter[datetime]] = TypeAdapter(Moment)


def _moment(text: str) -> datetime:
    try:
        return _MOMENT.validate_python(text)
    except ValidationError as error:
        raise BadRequest(f"reset_time_to: {error.errors()[0]['msg']}") from error


def _simulation_id(environment: Environment) -> str:
    return f"sim_{uuid5(NAMESPACE_URL, str(environment.seed)).hex[:16]}"


@router.post("/start", dependencies=[Depends(permitted("simulation:start"))])
async def start(environment: Served, request: StartRequest) -> Started:
    """Starts the simulation: from now on, calls can move time, or time follows the wall clock with `auto_advance`.

    Responds with 409 if the simulation is running.
    """
    environment.lifecycle.start(auto_advance=request.auto_advance, time_scale=request.time_scale)
    return Started(
        simulation_id=_simulation_id(environment),
        status="running",
        current_time=environment.simulation.now,
        auto_advance=request.auto_advance,
        time_scale=request.time_scale if request.auto_advance else None,
    )


@router.post("/stop", dependencies=[Depends(permitted("simulation:stop"))])
async def stop(environment: Served) -> Stopped:
    """Stops the simulation: time no longer moves, and state and events stay. Has no effect on a stopped simulation."""
    was_running, simulation = environment.lifecycle.stop(), environment.simulation
    return Stopped(
        simulation_id=_simulation_id(environment),
        status="stopped",
        final_time=simulation.now if was_running else None,
        total_events=len(simulation.events) if was_running else None,
        events_executed=simulation.count(EventStatus.EXECUTED) if was_running else None,
        events_failed=simulation.count(EventStatus.FAILED) if was_running else None,
    )


@router.get("/status", dependencies=[Depends(permitted("simulation:status"))])
async def status(environment: Served, simulation: Addressed) -> Status:
    """Returns the status of the simulation: clock, numbers of events, seed and head of the hash chain."""
    lifecycle, following = environment.lifecycle, simulation.next_event()
    return Status(
        is_running=lifecycle.is_running,
        current_time=simulation.now,
        is_paused=lifecycle.is_paused,
        auto_advance=lifecycle.auto_advance,
        time_scale=lifecycle.time_scale,
        pending_events=simulation.count(EventStatus.PENDING),
        executed_events=simulation.count(EventStatus.EXECUTED),
        failed_events=simulation.count(EventStatus.FAILED),
        next_event_time=following.scheduled_time if following else None,
        seed=simulation.terms.seed,
        chain_head=simulation.position.head,
    )


@router.post("/reset", dependencies=[Depends(permitted("simulation:reset"))])
async def reset(environment: Served, simulation: Addressed, request: ResetRequest | None = None) -> ResetDone:
    """Resets the state to the time when the simulation was last loaded or cleared. Stops it.

    The clock stays, and every event is pending again, whether it was executed, skipped or cancelled. With `rewind`,
    clock and events are reset too: events that were created since then are gone.
    """
    before = len(simulation.events)
    undone = simulation.rewind() if request and request.rewind else simulation.reset()
    environment.lifecycle.stop()
    return ResetDone(
        status="reset",
        message=f"the state is reset; it is {simulation.now.isoformat()}",
        cleared_events=before,
        events_undone=undone,
        undo_errors=[],
    )


@router.post("/clear", dependencies=[Depends(permitted("simulation:clear"))])
async def clear(environment: Served, request: ClearRequest | None = None) -> Cleared:
    """Stops the simulation, and deletes all events, the state of all modalities, the people and the revoked keys.

    The other keys stay. After this call, the same calls give the same ids and the same hash chain.
    Responds with 400 if `reset_time_to` is not a time.
    """
    before = environment.simulation
    moment = _moment(request.reset_time_to) if request and request.reset_time_to is not None else None
    environment.clear(moment or before.now)
    return Cleared(
        status="cleared",
        events_removed=len(before.events),
        modalities_cleared=len(MODALITY_BY_NAME),
        time_reset=moment,
        current_time=environment.simulation.now,
    )
