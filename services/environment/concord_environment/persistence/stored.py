"""How an environment is stored: all of it, a snapshot, or what changed since, a delta; and deltas on a snapshot."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field

from concord_environment.core.events import EventStatus
from concord_environment.notices.webhooks import WebhookStatus

VERSION: Final = 2
"""Of the snapshots that are written. Those of version 1 are read: they had neither a journal nor webhooks."""


class StoredKey(BaseModel):
    """A key, with its secret's hash."""

    key_id: str
    name: str
    permissions: tuple[str, ...]
    created_at: datetime
    secret_hash: str
    created_by: str | None
    revoked_at: datetime | None


class StoredEvent(BaseModel):
    """An event, its action as data."""

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


class StoredWebhook(BaseModel):
    """A webhook, with the secret that its posts are signed with."""

    id: str
    url: str
    events: tuple[str, ...] | None
    created_at: datetime
    updated_at: datetime
    secret: str | None
    metadata: dict[str, Any]
    status: WebhookStatus
    failure_count: int
    last_delivery_at: datetime | None
    last_failure_at: datetime | None


class StoredLifecycle(BaseModel):
    """Whether a simulation runs, and how time moves."""

    is_running: bool
    is_paused: bool
    auto_advance: bool
    time_scale: float
    runs: int


class _State(BaseModel):
    clock: int
    sequence: int
    head: Annotated[str, Field(min_length=64, max_length=64)]
    tables: dict[str, dict[str, Any]] = {}
    events: list[StoredEvent] = []
    keys: list[StoredKey] = []
    webhooks: list[StoredWebhook] = []
    lifecycle: StoredLifecycle


class Snapshot(_State):
    """Everything. `frame` is the last of the journal's frames whose changes are in it."""

    version: Literal[1, 2] = VERSION
    seed: int
    lineage: str
    scenario_metadata: dict[str, Any]
    journal: str = ""
    frame: int = 0


class Delta(_State):
    """What changed, as it is now: the rows that were written, None for those that went. The clock and so on as ever."""

    undone_events: list[str] = []
    removed_webhooks: list[str] = []


def merged(snapshot: Snapshot, deltas: Iterable[Delta]) -> Snapshot:
    """The snapshot with what changed after it, in order. The one that was given is used up."""
    tables = snapshot.tables
    events = {event.event_id: event for event in snapshot.events}
    keys = {key.key_id: key for key in snapshot.keys}
    webhooks = {webhook.id: webhook for webhook in snapshot.webhooks}
    latest: Snapshot | Delta = snapshot
    for delta in deltas:
        for name, rows in delta.tables.items():
            _write(tables.setdefault(name, {}), rows)
        _write(events, {event.event_id: event for event in delta.events} | dict.fromkeys(delta.undone_events))
        _write(keys, {key.key_id: key for key in delta.keys})
        _write(webhooks, {webhook.id: webhook for webhook in delta.webhooks} | dict.fromkeys(delta.removed_webhooks))
        latest = delta
    return snapshot.model_copy(
        update={
            "clock": latest.clock,
            "sequence": latest.sequence,
            "head": latest.head,
            "lifecycle": latest.lifecycle,
            "events": list(events.values()),
            "keys": list(keys.values()),
            "webhooks": list(webhooks.values()),
        }
    )


def _write(rows: dict[str, Any], written: dict[str, Any]) -> None:
    for key, row in written.items():
        if row is None:
            rows.pop(key, None)
        else:
            rows[key] = row
