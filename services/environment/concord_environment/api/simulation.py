"""`/simulation`: start, stop, status, reset and clear."""

from datetime import datetime
from typing import Annotated
from uuid import NAMESPACE_URL, uuid5

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from concord_environment.api.access import Addressed, Served, permitted
from concord_environment.core.events import EventStatus
from concord_environment.environment import Environment, new_simulation
from concord_environment.modalities.fields import Moment
from concord_environment.modalities.registry import MODALITY_BY_NAME


class StartRequest(BaseModel):
    """The movement of time.

    With `auto_advance`, time follows the wall clock at `time_scale` simulated seconds per second. Otherwise, calls move
    time.
    """

    auto_advance: bool = False
    time_scale: Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)] = 1.0


class Started(BaseModel):
    """A started simulation."""

    simulation_id: str
    status: str
    current_time: datetime
    auto_advance: bool
    time_scale: float


class Stopped(BaseModel):
    """A stopped simulation, with the numbers of its events."""

    simulation_id: str
    status: str
    final_time: datetime
    total_events: int
    events_executed: int
    events_failed: int


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


class ResetDone(BaseModel):
    """The outcome of a reset. `events_undone` is the number of undone steps."""

    status: str
    message: str
    cleared_events: int
    events_undone: int
    undo_errors: list[str]


class ClearRequest(BaseModel):
    """The time of the empty simulation, by default the current simulated time."""

    reset_time_to: Moment | None = None


class Cleared(BaseModel):
    """The outcome of clearing the simulation."""

    status: str
    events_removed: int
    modalities_cleared: int
    time_reset: bool
    current_time: datetime


router = APIRouter(prefix="/simulation", tags=["simulation"])


def _simulation_id(environment: Environment) -> str:
    return f"sim_{uuid5(NAMESPACE_URL, f'{environment.seed} {environment.lifecycle.runs}').hex[:16]}"


@router.post("/start", dependencies=[Depends(permitted("simulation:start"))])
async def start(environment: Served, request: StartRequest | None = None) -> Started:
    """Starts the simulation: from now on, calls can move time, or time follows the wall clock with `auto_advance`.

    Responds with 409 if the simulation is running.
    """
    asked = request or StartRequest()
    environment.lifecycle.start(auto_advance=asked.auto_advance, time_scale=asked.time_scale)
    started = Started(
        simulation_id=_simulation_id(environment),
        status="running",
        current_time=environment.simulation.now,
        auto_advance=asked.auto_advance,
        time_scale=asked.time_scale,
    )
    environment.announce("simulation.started", **started.model_dump(mode="json"))
    return started


@router.post("/stop", dependencies=[Depends(permitted("simulation:stop"))])
async def stop(environment: Served) -> Stopped:
    """Stops the simulation: time no longer moves, and state and events stay.

    Responds with 409 if the simulation is not running.
    """
    environment.lifecycle.stop()
    simulation = environment.simulation
    environment.announce("simulation.stopped", simulation_id=_simulation_id(environment))
    return Stopped(
        simulation_id=_simulation_id(environment),
        status="stopped",
        final_time=simulation.now,
        total_events=len(simulation.events),
        events_executed=simulation.count(EventStatus.EXECUTED),
        events_failed=simulation.count(EventStatus.FAILED),
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
async def reset(environment: Served, simulation: Addressed) -> ResetDone:
    """Resets state, events and clock to the time when the simulation was last loaded or cleared. Releases all holds."""
    undone = simulation.reset()
    environment.lifecycle.release_all()
    environment.announce("simulation.reset")
    return ResetDone(
        status="reset",
        message=f"reset to {simulation.now.isoformat()}",
        cleared_events=0,
        events_undone=undone,
        undo_errors=[],
    )


@router.post("/clear", dependencies=[Depends(permitted("simulation:clear"))])
async def clear(environment: Served, request: ClearRequest | None = None) -> Cleared:
    """Deletes all events, the state of all modalities, holds and branches. Keys and webhooks stay."""
    before = environment.simulation
    moment = request.reset_time_to if request else None
    environment.replace(new_simulation(environment.seed, moment or before.now))
    environment.scenario_metadata = {}
    environment.announce("simulation.cleared")
    return Cleared(
        status="cleared",
        events_removed=len(before.events),
        modalities_cleared=len(MODALITY_BY_NAME),
        time_reset=moment is not None,
        current_time=environment.simulation.now,
    )
