"""The world of a simulated user: the states of all modalities."""

from collections.abc import Mapping
from typing import Any, TypeVar

from concord_environment.core.tables import Table
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.installed import MODALITIES
from concord_environment.modalities.modality import NO_UPDATES, State, Updates

S = TypeVar("S", bound=State)


class EnvironmentWorld:
    """The states of all modalities, by class: `world[EmailState]`. A new world has one calendar and no other rows."""

    def __init__(self) -> None:
        self._states: dict[type[Any], Any] = {modality.state: modality.state() for modality in MODALITIES}
        # The digest omits the time: the hash chain includes the clock of each step.
        self._updates = Table("upkeep", Updates, digest=lambda updates: b"%d" % updates.update_count)
        tables = (table for state in self._states.values() for table in state.tables)
        self.tables: Mapping[str, Table[Any]] = {table.name: table for table in (self._updates, *tables)}
        """All tables by name."""

    def __getitem__(self, state: type[S], /) -> S:
        return self._states[state]  # type: ignore[no-any-return]  # each state is under its class

    def updates(self, modality: str) -> Updates:
        """The update count and time of a modality."""
        return self._updates.get(modality) or NO_UPDATES

    def set_updates(self, modality: str, updates: Updates) -> None:
        """Sets the update count and time of a modality, as a scenario file gives them."""
        self._updates.write(modality, updates)

    def record_update(self, modality: str, transaction: Transaction) -> None:
        """Increments the update count of a modality."""
        transaction.put(self._updates, modality, self.updates(modality).after_one_more(transaction.now))
