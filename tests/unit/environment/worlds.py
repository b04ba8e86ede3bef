"""Simulations for tests, and actions to perform in them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from concord_environment.core.actions import Action
from concord_environment.core.clock import to_us
from concord_environment.core.engine import Position
from concord_environment.core.events import Submission
from concord_environment.core.simulation import Simulation
from concord_environment.core.tables import Table
from concord_environment.core.world import Terms
from concord_environment.modalities.chat.operations import SendChat
from concord_environment.modalities.email.requests import Delete, MarkRead, ReceiveEmail, SendEmail, Star
from concord_environment.modalities.registry import apply
from concord_environment.modalities.world import EnvironmentWorld

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
USER = "user@example.com"


def new_simulation(*, seed: int = 0, per_instant: int = 10_000) -> Simulation[EnvironmentWorld]:
    """A simulation in which nothing has happened yet."""
    terms = Terms(seed, max_events_per_instant=per_instant)
    return Simulation(EnvironmentWorld(), apply, Position(to_us(START)), terms=terms)


def at(seconds: float) -> datetime:
    """A moment after the start."""
    return START + timedelta(seconds=seconds)


def mail(name: str, sender: str = "bob@example.com", **fields: object) -> ReceiveEmail:
    """An incoming mail whose id is its name."""
    given = {"from_address": sender, "to_addresses": [USER], "message_id": name, "subject": name, **fields}
    return ReceiveEmail.model_validate(given)


def read(name: str) -> MarkRead:
    """Marks a mail as read."""
    return MarkRead(message_id=name)


def star(name: str) -> Star:
    """Stars a mail."""
    return Star(message_id=name)


def delete(name: str) -> Delete:
    """Moves a mail to the trash."""
    return Delete(message_id=name)


def note_to_self(subject: str) -> SendEmail:
    """A mail of the user to the user: sending it causes its receipt."""
    return SendEmail(to_addresses=(USER,), subject=subject)


def say(text: str) -> SendChat:
    """A chat message of the user."""
    return SendChat(role="user", content=text)


def schedule(simulation: Simulation[EnvironmentWorld], *due: tuple[float, Action]) -> Sequence[str]:
    """Schedules actions at seconds after the start; returns the ids of the events."""
    events = simulation.schedule([Submission(action, at(seconds)) for seconds, action in due])
    return [event.event_id for event in events]


def seconds(count: float) -> int:
    """A number of seconds, in the clock's microseconds."""
    return round(count * 1_000_000)


def digests(tables: Mapping[str, Table[Any]]) -> dict[str, list[tuple[str, bytes]]]:
    """The rows of each table as JSON, by key."""
    return {
        name: [(key, table.adapter.dump_json(row)) for key, row in sorted(table.items())]
        for name, table in tables.items()
    }


def copy_of(world: EnvironmentWorld) -> EnvironmentWorld:
    """Another world with the same rows, of which nothing was read yet."""
    copy = EnvironmentWorld()
    for name, table in copy.tables.items():
        for key, _ in list(table.items()):
            table.write(key, None)
        for key, row in world.tables[name].items():
            table.write(key, row)
    return copy
