"""The schema of stored environments: snapshots, deltas, and the roll-forward of a snapshot with deltas."""

from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from concord_environment.access.keys import Key
from concord_environment.core.events import EventRecord
from concord_environment.core.faults import Invalid
from concord_environment.notices.webhooks import Webhook

VERSION: Final = 2
"""The version of new snapshots. Version 1, without a journal and without webhooks, can still be read."""


class StoredEvent(EventRecord):
    """An event with its sequence number."""

    sequence: int


class StoredLifecycle(BaseModel):
    """The stored attributes of a `Lifecycle`."""

    model_config = ConfigDict(from_attributes=True)

    is_running: bool
    is_paused: bool
    auto_advance: bool
    time_scale: float


class _State(BaseModel):
    clock: int
    sequence: int
    head: Annotated[str, Field(min_length=64, max_length=64)]
    tables: dict[str, dict[str, Any]] = {}
    events: list[StoredEvent] = []
    keys: list[Key] = []
    webhooks: list[Webhook] = []
    lifecycle: StoredLifecycle


class Snapshot(_State):
    """A whole environment. `frame` is the number of the last journal frame whose changes the snapshot contains."""

    version: Literal[1, 2] = VERSION
    seed: int
    lineage: str
    scenario_metadata: dict[str, Any]
    journal: str = ""
    frame: int = 0


def read_snapshot(content: bytes) -> Snapshot:
    """The snapshot in a file's content. Raises Invalid."""
    try:
        return Snapshot.model_validate_json(content)
    except ValidationError as error:
        raise Invalid("this is not a snapshot of an environment") from error


class Delta(_State):
    """The new state of everything that changed, as the content of a journal frame. A deleted row is None.

    Clock, sequence, head and lifecycle are always present.
    """

    undone_events: list[str] = []
    removed_webhooks: list[str] = []


def roll_forward(snapshot: Snapshot, deltas: Iterable[Delta]) -> Snapshot:
    """The snapshot with the deltas applied in order. Changes the tables of the given snapshot."""
    tables = snapshot.tables
    events = {event.event_id: event for event in snapshot.events}
    keys = {key.key_id: key for key in snapshot.keys}
    webhooks = {webhook.id: webhook for webhook in snapshot.webhooks}
    latest: Snapshot | Delta = snapshot
    for delta in deltas:
        for name, rows in delta.tables.items():
            _apply(tables.setdefault(name, {}), rows)
        _apply(events, {event.event_id: event for event in delta.events} | dict.fromkeys(delta.undone_events))
        _apply(keys, {key.key_id: key for key in delta.keys})
        _apply(webhooks, {webhook.id: webhook for webhook in delta.webhooks} | dict.fromkeys(delta.removed_webhooks))
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


def _apply(rows: dict[str, Any], written: dict[str, Any]) -> None:
    for key, row in written.items():
        if row is None:
            rows.pop(key, None)
        else:
            rows[key] = row
