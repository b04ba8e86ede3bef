"""The whole world of a simulated user: the state of every modality."""

from collections.abc import Mapping
from typing import Any, TypeVar

from concord_environment.core.tables import Table
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.installed import MODALITIES
from concord_environment.modalities.modality import NO_UPDATES, State, Updates

S = TypeVar("S", bound=State)


class EnvironmentWorld:
    """Every modality's state, by its class: `world[EmailState]`. A new world is empty but for one calendar."""

    def __init__(self) -> None:
        self._states: dict[type[Any], Any] = {modality.state: modality.state() for modality in MODALITIES}
        # The chain of hashes covers the time of an update by the clock.
        self._updates = Table("upkeep", Updates, digest=lambda updates: b"%d" % updates.update_count)
        tables = (table for state in self._states.values() for table in state.tables)
        self.tables: Mapping[str, Table[Any]] = {table.name: table for table in (self._updates, *tables)}
        """Every table, by name."""

    def __getitem__(self, state: type[S], /) -> S:
        found: S = self._states[state]
        return found

    def updates(self, modality: str) -> Updates:
        """When a modality was last changed, and by how many actions."""
        return self._updates.get(modality) or NO_UPDATES

    def set_updates(self, modality: str, updates: Updates) -> None:
        """Takes a modality's updates from a scenario."""
        self._updates.write(modality, updates)

    def record_update(self, modality: str, transaction: Transaction) -> None:
        """Notes one more action on a modality."""
        transaction.put(self._updates, modality, self.updates(modality).after_one_more(transaction.now))

    def fork(self) -> "EnvironmentWorld":
        """A world with the same rows that shares no writes with this one."""
        twin = EnvironmentWorld()
        for name, table in twin.tables.items():
            for key, _ in list(table.items()):
                table.write(key, None)
            for key, row in self.tables[name].items():
                table.write(key, row)
        return twin
