"""What a simulation is of: a world of tables, and the rules by which actions change it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, Self, TypeVar

from concord_environment.core.actions import Action
from concord_environment.core.tables import Table
from concord_environment.core.transaction import Transaction

MAX_EVENTS_PER_INSTANT: Final = 10_000
"""Actions that cause actions at the same instant must come to an end."""


class World(Protocol):
    """What a simulation changes: tables, and what each action does to them."""

    @property
    def tables(self) -> Mapping[str, Table[Any]]:
        """Every table, by name."""

    def fork(self) -> Self:
        """A world with the same rows that shares no writes with this one."""


W = TypeVar("W", bound=World)

Rules = Callable[[W, Action, Transaction], None]
"""Carries an action out in a world, or raises a Fault."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for all of a simulation's life.

    `lineage` is what it was loaded from: new ids must differ from those that came with it. With `tie_seed`, events of
    one due time and priority come in an order that the seed decides, to show what leans on the order of ties.
    """

    seed: int = 0
    lineage: str = ""
    tie_seed: int | None = None
    max_events_per_instant: int = MAX_EVENTS_PER_INSTANT
