"""The interface between a simulation and the world that it simulates."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from concord_environment.core.actions import Action
from concord_environment.core.tables import Table
from concord_environment.core.transaction import Transaction

MAX_EVENTS_PER_INSTANT: Final = 10_000
"""The limit of events at one instant. It ends actions that cause one another without end."""


class World(Protocol):
    """The tables that a simulation changes."""

    @property
    def tables(self) -> Mapping[str, Table[Any]]:
        """Every table, by name."""


W = TypeVar("W", bound=World)

Rules = Callable[[W, Action, Transaction], None]
"""Executes an action in a world, or raises a Fault."""


@dataclass(frozen=True, slots=True)
class Terms:
    """A simulation's fixed parameters.

    `lineage` identifies the scenario that the simulation was loaded from, so that new ids differ from the scenario's.
    """

    seed: int = 0
    lineage: str = ""
    max_events_per_instant: int = MAX_EVENTS_PER_INSTANT
