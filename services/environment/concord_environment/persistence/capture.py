"""Captures: an environment, or what changed in it, held at one instant and written out later."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from concord_environment.access.keys import KEYS, Key
from concord_environment.core.engine import Position
from concord_environment.core.events import Event
from concord_environment.core.world import Terms
from concord_environment.environment import Environment
from concord_environment.modalities.world import EnvironmentWorld
from concord_environment.notices.webhooks import WEBHOOKS, Webhook
from concord_environment.persistence.stored import (
    Delta,
    Snapshot,
    StoredEvent,
    StoredKey,
    StoredLifecycle,
    StoredWebhook,
)


@dataclass(frozen=True, slots=True)
class Capture:
    """An environment at one instant, or of it what was written since another; None is what went.

    Rows never change, so holding them is enough: writing them out can wait, and is safe in another thread.
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
        """All of it as the bytes of a snapshot, from which a journal goes on after one of its frames."""
        snapshot = Snapshot(
            **self._stored(),
            seed=self.terms.seed,
            lineage=self.terms.lineage,
            scenario_metadata=dict(self.scenario_metadata),
            journal=journal,
            frame=frame,
        )
        return snapshot.model_dump_json().encode()

    def delta(self) -> bytes:
        """What was written as the bytes of a delta."""
        undone = [event_id for event_id, event in self.events.items() if event is None]
        removed = [webhook_id for webhook_id, webhook in self.webhooks.items() if webhook is None]
        delta = Delta(**self._stored(), undone_events=undone, removed_webhooks=removed)
        return delta.model_dump_json(exclude_defaults=True).encode()

    def _stored(self) -> dict[str, Any]:
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
            "events": [_stored_event(event) for event in self.events.values() if event is not None],
            "keys": [StoredKey(**asdict(key)) for key in self.keys],
            "webhooks": [StoredWebhook(**asdict(webhook)) for webhook in self.webhooks.values() if webhook is not None],
            "lifecycle": self.lifecycle,
        }


def capture(environment: Environment) -> Capture:
    """Everything: the main simulation, the keys, the webhooks."""
    return _capture(
        environment,
        tables={name: table.copy() for name, table in environment.simulation.world.tables.items()},
        events=environment.simulation.events.copy(),
        keys=environment.keyring.keys,
        webhooks={webhook.id: webhook for webhook in environment.webhooks.all()},
    )


def capture_touched(environment: Environment, touched: Mapping[str, Iterable[str]]) -> Capture:
    """What stands now under the keys that were touched, by table."""
    simulation, hooks = environment.simulation, {webhook.id: webhook for webhook in environment.webhooks.all()}
    tables = simulation.world.tables
    return _capture(
        environment,
        tables={name: {key: tables[name].get(key) for key in keys} for name, keys in touched.items() if name in tables},
        events={key: simulation.events.get(key) for key in touched.get(simulation.events.name, ())},
        keys=[environment.keyring.get(key_id) for key_id in touched.get(KEYS, ())],
        webhooks={webhook_id: hooks.get(webhook_id) for webhook_id in touched.get(WEBHOOKS, ())},
    )


def stored_lifecycle(environment: Environment) -> StoredLifecycle:
    """Whether the environment's simulation runs, and how time moves."""
    lifecycle = environment.lifecycle
    return StoredLifecycle(
        is_running=lifecycle.is_running,
        is_paused=lifecycle.is_paused,
        auto_advance=lifecycle.auto_advance,
        time_scale=lifecycle.time_scale,
        runs=lifecycle.runs,
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
        lifecycle=stored_lifecycle(environment),
        terms=simulation.terms,
        scenario_metadata=environment.scenario_metadata,
    )


def _stored_event(event: Event) -> StoredEvent:
    fields = {name: getattr(event, name) for name in StoredEvent.model_fields if name != "data"}
    return StoredEvent(**fields, data=event.action.as_data())
