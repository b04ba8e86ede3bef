"""`/simulation`: undo and redo, and the hash chain."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from concord_environment.api.access import Addressed, Served, permitted
from concord_environment.core.clock import from_us
from concord_environment.core.steps import Step, StepKind
from concord_environment.environment import EnvironmentSimulation
from concord_environment.modalities.modality import AnyModality
from concord_environment.modalities.registry import MODALITY_BY_NAME

MAX_STEPS: Final = 1_000
"""The maximum number of steps in a response."""


class CountRequest(BaseModel):
    """The number of steps to undo or redo."""

    count: Annotated[int, Field(ge=1, le=100_000)] = 1


class StepView(BaseModel):
    """A step: events were scheduled, executed, failed, skipped or cancelled. `hash` is its link in the hash chain."""

    kind: StepKind
    event_ids: list[str]
    at: datetime
    hash: str


class UndoneEvent(BaseModel):
    """An event of an undone or redone step.

    `action` is what an undo of an executed event does to its row, such as `remove_message`, and null otherwise.
    """

    event_id: str
    modality: str
    action: str | None


class Undone(BaseModel):
    """The undone steps and their events, latest first: the count of all steps, and up to 1000 of them.

    `message` says why none was undone.
    """

    undone_count: int
    undone_events: list[UndoneEvent]
    undone: list[StepView]
    current_time: datetime
    can_undo: bool
    can_redo: bool
    message: str | None


class Redone(BaseModel):
    """The redone steps and their events, earliest first: the count of all steps, and up to 1000 of them.

    `message` says why none was redone.
    """

    redone_count: int
    redone_events: list[UndoneEvent]
    redone: list[StepView]
    current_time: datetime
    can_undo: bool
    can_redo: bool
    message: str | None


router = APIRouter(prefix="/simulation", tags=["simulation"])


@router.post("/undo", dependencies=[Depends(permitted("simulation:undo"))])
async def undo(environment: Served, simulation: Addressed, request: CountRequest | None = None) -> Undone:
    """Undoes the latest steps, by default one, or fewer if there are fewer.

    State and clock return to the moment before the steps, and executed events are pending again. Responds with 409 if
    the simulation is stopped.
    """
    environment.lifecycle.require_running()
    count = request.count if request else 1
    links = _links(simulation, -min(count, MAX_STEPS), None)
    steps = simulation.undo(count)
    back, forth = _can(simulation)
    return Undone(
        undone_count=len(steps),
        undone_events=_events(simulation, steps),
        undone=links[::-1],
        current_time=simulation.now,
        can_undo=back,
        can_redo=forth,
        message=None if steps else "Nothing to undo",
    )


@router.post("/redo", dependencies=[Depends(permitted("simulation:redo"))])
async def redo(environment: Served, simulation: Addressed, request: CountRequest | None = None) -> Redone:
    """Redoes undone steps, by default one, or fewer if there are fewer.

    Responds with 409 if the simulation is stopped.
    """
    environment.lifecycle.require_running()
    steps = simulation.redo(request.count if request else 1)
    first = len(simulation.history.steps) - len(steps)
    back, forth = _can(simulation)
    return Redone(
        redone_count=len(steps),
        redone_events=_events(simulation, steps),
        redone=_links(simulation, first, first + MAX_STEPS),
        current_time=simulation.now,
        can_undo=back,
        can_redo=forth,
        message=None if steps else "Nothing to redo",
    )


class Chain(BaseModel):
    """A page of the hash chain, oldest link first. Two runs of the same calls have the same chain."""

    head: str
    total: int
    links: list[StepView]


@router.get("/chain", dependencies=[Depends(permitted("simulation:chain"))])
async def chain(
    simulation: Addressed,
    limit: Annotated[int, Query(ge=1, le=MAX_STEPS)] = 100,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> Chain:
    """Returns the steps since the simulation was last loaded, with their SHA-256 hashes.

    Returns by default 100 steps, at most 1000.
    """
    total = len(simulation.history.steps)
    return Chain(head=simulation.position.head, total=total, links=_links(simulation, offset, offset + limit))


def _can(simulation: EnvironmentSimulation) -> tuple[bool, bool]:
    return bool(simulation.history.steps), bool(simulation.history.undone)


def _events(simulation: EnvironmentSimulation, steps: Sequence[Step]) -> list[UndoneEvent]:
    return [view for step in steps[:MAX_STEPS] for view in _events_of(simulation, step)]


def _events_of(simulation: EnvironmentSimulation, step: Step) -> Iterator[UndoneEvent]:
    events = {change.key: change.after for change in step.changes if change.table is simulation.events}
    for event_id in step.event_ids:
        modality = MODALITY_BY_NAME[events[event_id].modality]
        yield UndoneEvent(event_id=event_id, modality=modality.name, action=_undo_action(simulation, step, modality))


def _undo_action(simulation: EnvironmentSimulation, step: Step, modality: AnyModality) -> str | None:
    state = simulation.world[modality.state]
    changed = (change for change in step.changes if change.table is state.tables[0])
    change = next(changed, None) if step.kind is StepKind.EXECUTED else None
    return None if change is None else modality.undo_action(state, change)


def _links(simulation: EnvironmentSimulation, start: int, stop: int | None) -> list[StepView]:
    history = simulation.history
    return [
        StepView(kind=step.kind, event_ids=list(step.event_ids), at=from_us(step.at), hash=head)
        for step, head in zip(history.steps[start:stop], history.heads()[start:stop], strict=True)
    ]
