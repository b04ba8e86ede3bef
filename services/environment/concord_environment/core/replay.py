"""Replays: the calls of a run repeated from the origin, optionally with ties in another order."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from itertools import groupby
from typing import Any

from concord_environment.core.events import Event, EventStatus
from concord_environment.core.faults import Fault
from concord_environment.core.simulation import Simulation
from concord_environment.core.steps import StepKind
from concord_environment.core.tables import Table
from concord_environment.core.world import W


@dataclass(frozen=True, slots=True)
class Reordering:
    """Events of one due time and priority that a replay executed in another order."""

    scheduled_time: datetime
    priority: int
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay compared with its run: both heads, the reordered ties and the tables that differ."""

    head: str
    replayed_head: str
    steps: int
    reordered: tuple[Reordering, ...]
    differing_tables: tuple[str, ...]
    refused_calls: int

    @property
    def matches(self) -> bool:
        """Whether the two hash chains are equal."""
        return self.head == self.replayed_head


def replay(simulation: Simulation[W], tie_seed: int | None = None) -> Replay:
    """Repeats every call since the origin on a fork. With a tie seed, ties come in another order."""
    again = simulation.restarted(replace(simulation.terms, tie_seed=tie_seed))
    refused = 0
    for name, args, kwargs in simulation.calls:
        try:
            getattr(again, name)(*args, **kwargs)
        except Fault:
            # With shuffled ties, a call can name a row that does not exist at that time.
            refused += 1
    before, after = digests(simulation.tables), digests(again.tables)
    return Replay(
        head=simulation.position.head,
        replayed_head=again.position.head,
        steps=len(again.history.steps),
        reordered=tuple(_reorderings(_executed(simulation), _executed(again))),
        differing_tables=tuple(sorted(name for name in before if before[name] != after[name])),
        refused_calls=refused,
    )


def digests(tables: Mapping[str, Table[Any]]) -> dict[str, str]:
    """A SHA-256 over the rows of each table, by key."""
    found = {}
    for name, table in tables.items():
        digest = sha256()
        for key, row in sorted(table.items()):
            digest.update(key.encode() + b"\n" + table.adapter.dump_json(row) + b"\n")
        found[name] = digest.hexdigest()
    return found


def _executed(simulation: Simulation[W]) -> list[Event]:
    done = (StepKind.EXECUTED, StepKind.FAILED)
    ids = [event_id for step in simulation.history.steps if step.kind in done for event_id in step.event_ids]
    found = (simulation.events.get(event_id) for event_id in ids)
    return [event for event in found if event is not None and event.status is not EventStatus.PENDING]


def _tie(event: Event) -> tuple[datetime, int]:
    return event.scheduled_time, event.priority


def _reorderings(before: list[Event], after: list[Event]) -> list[Reordering]:
    ties = {tie: tuple(event.event_id for event in events) for tie, events in groupby(after, _tie)}
    reorderings = []
    for tie, events in groupby(before, _tie):
        old = tuple(event.event_id for event in events)
        new = ties.get(tie, ())
        if old != new and sorted(old) == sorted(new):
            reorderings.append(Reordering(*tie, old, new))
    return reorderings
