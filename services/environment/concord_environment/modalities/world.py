"""The whole world of a simulated user: the state of every modality."""

from collections.abc import Mapping
from typing import Any, TypeVar

from concord_environment.core.tables import Table
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.installed import MODALITIES
from concord_environment.modalities.modality import UNTOUCHED, State, Upkeep

S = TypeVar("S", bound=State)


class EnvironmentWorld:
    """Every modality's state, by its class: `world[EmailState]`. A new world is empty but for one calendar."""

    def __init__(self) -> None:
        self._states: dict[type[Any], Any] = {modality.state: modality.state() for modality in MODALITIES}
        # The chain of hashes covers the time of an update by the clock.
        self._upkeep = Table("upkeep", Upkeep, digest=lambda upkeep: b"%d" % upkeep.update_count)
        tables = (table for state in self._states.values() for table in state.tables)
        self.tables: Mapping[str, Table[Any]] = {table.name: table for table in (self._upkeep, *tables)}
        """Every table, by name."""

    def __getitem__(self, state: type[S], /) -> S:
        found: S = self._states[state]
        return found

    def upkeep(self, modality: str) -> Upkeep:
        """When a modality was last changed, and by how many actions."""
        return self._upkeep.get(modality) or UNTOUCHED

    def set_upkeep(self, modality: str, upkeep: Upkeep) -> None:
        """Takes a modality's upkeep from a scenario."""
        self._upkeep.write(modality, upkeep)

    def touch(self, modality: str, transaction: Transaction) -> None:
        """Notes one more action on a modality."""
        transaction.put(self._upkeep, modality, self.upkeep(modality).touched(transaction.now))

    def fork(self) -> "EnvironmentWorld":
        """A world with the same rows that shares no writes with this one."""
        twin = EnvironmentWorld()
        for name, table in twin.tables.items():
            for key, _ in list(table.items()):
                table.write(key, None)
            for key, row in self.tables[name].items():
                table.write(key, row)
        return twin
