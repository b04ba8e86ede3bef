"""Snapshots: an environment as bytes, and back. Undo does not reach behind one; ids and the chain go on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, ValidationError

from concord_environment.access.keys import Key
from concord_environment.core.engine import Position
from concord_environment.core.events import Event, EventStatus
from concord_environment.core.faults import Invalid
from concord_environment.core.simulation import Simulation
from concord_environment.core.world import Terms
from concord_environment.environment import Environment, EnvironmentSimulation
from concord_environment.modalities.registry import apply, parse
from concord_environment.modalities.world import EnvironmentWorld

VERSION: Final = 1


class _StoredKey(BaseModel):
    key_id: str
    name: str
    permissions: tuple[str, ...]
    created_at: datetime
    secret_hash: str
    created_by: str | None
    revoked_at: datetime | None


class _StoredEvent(BaseModel):
    event_id: str
    sequence: int
    scheduled_time: datetime
    modality: str
    data: dict[str, Any]
    created_at: datetime
    agent_id: str | None
    priority: int
    status: EventStatus
    executed_at: datetime | None
    error_message: str | None
    metadata: dict[str, Any]


class _StoredLifecycle(BaseModel):
    is_running: bool
    is_paused: bool
    auto_advance: bool
    time_scale: float
    runs: int


class _Snapshot(BaseModel):
    version: Literal[1] = VERSION
    seed: int
    lineage: str
    clock: int
    sequence: int
    head: Annotated[str, Field(min_length=64, max_length=64)]
    tables: dict[str, dict[str, Any]]
    events: list[_StoredEvent]
    keys: list[_StoredKey]
    lifecycle: _StoredLifecycle
    scenario_metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Capture:
    """An environment at one instant. Rows never change, so holding them is enough; writing them out can wait."""

    simulation: EnvironmentSimulation
    position: Position
    tables: Mapping[str, Mapping[str, Any]]
    events: tuple[Event, ...]
    keys: tuple[Key, ...]
    lifecycle: _StoredLifecycle
    scenario_metadata: Mapping[str, Any]


def capture(environment: Environment) -> Capture:
    """What a snapshot of the main simulation, its keys and its running takes."""
    simulation, lifecycle = environment.simulation, environment.lifecycle
    return Capture(
        simulation=simulation,
        position=simulation.position,
        tables={name: dict(table.items()) for name, table in simulation.world.tables.items()},
        events=tuple(simulation.events.rows()),
        keys=tuple(environment.keyring.keys),
        lifecycle=_StoredLifecycle(
            is_running=lifecycle.is_running,
            is_paused=lifecycle.is_paused,
            auto_advance=lifecycle.auto_advance,
            time_scale=lifecycle.time_scale,
            runs=lifecycle.runs,
        ),
        scenario_metadata=environment.scenario_metadata,
    )


def render(captured: Capture) -> bytes:
    """The snapshot as bytes. Safe in another thread."""
    simulation = captured.simulation
    adapters = {name: table.adapter for name, table in simulation.world.tables.items()}
    tables = {
        name: {key: adapters[name].dump_python(row, mode="json") for key, row in rows.items()}
        for name, rows in captured.tables.items()
    }
    snapshot = _Snapshot(
        seed=simulation.terms.seed,
        lineage=simulation.terms.lineage,
        clock=captured.position.clock,
        sequence=captured.position.sequence,
        head=captured.position.head,
        tables=tables,
        events=[_stored(event) for event in captured.events],
        keys=[_StoredKey(**asdict(key)) for key in captured.keys],
        lifecycle=captured.lifecycle,
        scenario_metadata=dict(captured.scenario_metadata),
    )
    return snapshot.model_dump_json().encode()


def restore(content: bytes) -> Environment:
    """The environment that a snapshot holds. Invalid for bytes that are none."""
    try:
        snapshot = _Snapshot.model_validate_json(content)
    except ValidationError as error:
        raise Invalid("this is no snapshot of an environment") from error
    world = EnvironmentWorld()
    for name, table in world.tables.items():
        for key, _ in list(table.items()):
            table.write(key, None)
        for key, row in snapshot.tables.get(name, {}).items():
            table.write(key, table.adapter.validate_python(row))
    position = Position(snapshot.clock, snapshot.sequence, snapshot.head)
    events = [_event(stored) for stored in snapshot.events]
    simulation = Simulation(world, apply, position, events, Terms(snapshot.seed, snapshot.lineage))
    keys = [Key(**dict(stored)) for stored in snapshot.keys]
    environment = Environment(snapshot.seed, simulation, keys)
    for name, value in snapshot.lifecycle:
        setattr(environment.lifecycle, name, value)
    environment.scenario_metadata = snapshot.scenario_metadata
    return environment


def _stored(event: Event) -> _StoredEvent:
    fields = {name: getattr(event, name) for name in _StoredEvent.model_fields if name != "data"}
    return _StoredEvent(**fields, data=event.action.as_data())


def _event(stored: _StoredEvent) -> Event:
    fields = {name: value for name, value in stored if name not in ("data", "modality")}
    return Event(**fields, action=parse(stored.modality, stored.data))
