"""Captures of an environment, and environments restored from stored captures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from concord.trust.urls import PeerUrls
from concord_environment.access.keys import KEYS, Key
from concord_environment.core.engine import Position
from concord_environment.core.events import Event, as_record, from_record
from concord_environment.core.simulation import Simulation
from concord_environment.core.world import Terms
from concord_environment.environment import Environment
from concord_environment.modalities.registry import apply, parse
from concord_environment.modalities.world import EnvironmentWorld
from concord_environment.notices.webhooks import WEBHOOKS, Webhook, Webhooks
from concord_environment.persistence.schema import Delta, Snapshot, StoredEvent, StoredLifecycle


@dataclass(frozen=True, slots=True)
class Capture:
    """An environment at one instant: all of it, or the rows of a write set. None stands for a deleted row.

    Rows are immutable, so a capture holds references only. Another thread can serialise it later.
    """

    world: EnvironmentWorld
    position: Position
    tables: Mapping[str, Mapping[str, Any]]
    events: Mapping[str, Event | None]
    keys: tuple[Key, ...]
    webhooks: Mapping[str, Webhook | None]
    lifecycle: StoredLifecycle
    terms: Terms
    scenario_metadata: Mapping[str, Any]

    def snapshot(self, journal: str, frame: int) -> bytes:
        """A full capture as the JSON of a snapshot. `frame` is the last frame of the journal in the capture."""
        snapshot = Snapshot(
            **self._state(),
            seed=self.terms.seed,
            lineage=self.terms.lineage,
            scenario_metadata=dict(self.scenario_metadata),
            journal=journal,
            frame=frame,
        )
        return snapshot.model_dump_json().encode()

    def delta(self) -> bytes:
        """A capture of changes as the JSON of a delta, without empty lists and objects."""
        state = {
            **self._state(),
            "undone_events": [event_id for event_id, event in self.events.items() if event is None],
            "removed_webhooks": [webhook_id for webhook_id, webhook in self.webhooks.items() if webhook is None],
        }
        delta = Delta(**{name: value for name, value in state.items() if value not in ([], {})})
        return delta.model_dump_json(exclude_unset=True).encode()

    def _state(self) -> dict[str, Any]:
        adapters = {name: table.adapter for name, table in self.world.tables.items()}
        return {
            "clock": self.position.clock,
            "sequence": self.position.sequence,
            "head": self.position.head,
            "tables": {
                name: {
                    key: None if row is None else adapters[name].dump_python(row, mode="json")
                    for key, row in rows.items()
                }
                for name, rows in self.tables.items()
            },
            "events": [
                StoredEvent.model_construct(**as_record(event), sequence=event.sequence)
                for event in self.events.values()
                if event is not None
            ],
            "keys": list(self.keys),
            "webhooks": [webhook for webhook in self.webhooks.values() if webhook is not None],
            "lifecycle": self.lifecycle,
        }


def capture_all(environment: Environment) -> Capture:
    """Captures the main simulation, the keys, the webhooks and the lifecycle."""
    return _capture(
        environment,
        tables={name: table.copy() for name, table in environment.simulation.world.tables.items()},
        events=environment.simulation.events.copy(),
        keys=environment.keys.all(),
        webhooks={webhook.id: webhook for webhook in environment.webhooks.all()},
    )


def capture_changes(environment: Environment, written: Mapping[str, Iterable[str]]) -> Capture:
    """Captures the current rows under the written keys, given by table."""
    simulation, hooks = environment.simulation, {webhook.id: webhook for webhook in environment.webhooks.all()}
    tables = simulation.world.tables
    return _capture(
        environment,
        tables={name: {key: tables[name].get(key) for key in keys} for name, keys in written.items() if name in tables},
        events={key: simulation.events.get(key) for key in written.get(simulation.events.name, ())},
        keys=[environment.keys.get(key_id) for key_id in written.get(KEYS, ())],
        webhooks={webhook_id: hooks.get(webhook_id) for webhook_id in written.get(WEBHOOKS, ())},
    )


def _capture(
    environment: Environment,
    *,
    tables: Mapping[str, Mapping[str, Any]],
    events: Mapping[str, Event | None],
    keys: Iterable[Key],
    webhooks: Mapping[str, Webhook | None],
) -> Capture:
    simulation = environment.simulation
    return Capture(
        world=simulation.world,
        position=simulation.position,
        tables=tables,
        events=events,
        keys=tuple(keys),
        webhooks=webhooks,
        lifecycle=StoredLifecycle.model_validate(environment.lifecycle),
        terms=simulation.terms,
        scenario_metadata=environment.scenario_metadata,
    )


def restore(snapshot: Snapshot) -> Environment:
    """The environment of a snapshot, with an empty undo history. Ids and the hash chain continue."""
    world = EnvironmentWorld()
    for name, table in world.tables.items():
        for key, _ in list(table.items()):
            table.write(key, None)
        for key, row in snapshot.tables.get(name, {}).items():
            table.write(key, table.adapter.validate_python(row))
    position = Position(snapshot.clock, snapshot.sequence, snapshot.head)
    events = [from_record(dict(one), one.sequence, parse(one.modality, one.data)) for one in snapshot.events]
    simulation = Simulation(world, apply, position, events, Terms(snapshot.seed, snapshot.lineage))
    environment = Environment(snapshot.seed, simulation, snapshot.keys)
    environment.webhooks = Webhooks(PeerUrls(()), snapshot.webhooks)
    for name, value in snapshot.lifecycle:
        setattr(environment.lifecycle, name, value)
    environment.scenario_metadata = snapshot.scenario_metadata
    return environment
