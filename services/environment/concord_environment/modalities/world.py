"""The whole world of a simulated user: the state of every modality, and which operation an action is."""

from collections.abc import Mapping
from typing import Any, Final

from concord_environment.core.tables import Table
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.calendar.state import CalendarState
from concord_environment.modalities.chat.state import ChatState
from concord_environment.modalities.contacts.state import ContactsState
from concord_environment.modalities.email.state import EmailState
from concord_environment.modalities.location.state import LocationState
from concord_environment.modalities.preferences.state import PreferencesState
from concord_environment.modalities.sms.state import SMSState
from concord_environment.modalities.states import UNTOUCHED, Upkeep, upkeep_table
from concord_environment.modalities.weather.state import WeatherState

MODALITIES: Final = ("calendar", "chat", "contacts", "email", "location", "sms", "time", "weather")


class EnvironmentWorld:
    """Every modality's state. A new world is empty but for what everybody has: one calendar."""

    def __init__(self) -> None:
        self.email = EmailState()
        self.sms = SMSState()
        self.chat = ChatState()
        self.calendar = CalendarState()
        self.contacts = ContactsState()
        self.location = LocationState()
        self.weather = WeatherState()
        self.preferences = PreferencesState()
        self._upkeep = upkeep_table()
        self.calendar.furnish()
        self.tables: Mapping[str, Table[Any]] = {table.name: table for table in self._all_tables()}
        """Every table, by name."""

    def _all_tables(self) -> list[Table[Any]]:
        states = (
            self.email,
            self.sms,
            self.chat,
            self.calendar,
            self.contacts,
            self.location,
            self.weather,
            self.preferences,
        )
        return [self._upkeep, *(table for state in states for table in state.tables)]

    def tables_of(self, modality: str) -> dict[str, Table[Any]]:
        """The tables of one modality, by the second part of their name."""
        prefix = f"{modality}."
        return {name.removeprefix(prefix): table for name, table in self.tables.items() if name.startswith(prefix)}

    def upkeep(self, modality: str) -> Upkeep:
        """When a modality was last changed, and by how many actions."""
        return self._upkeep.get(modality) or UNTOUCHED

    def keep_up(self, modality: str, upkeep: Upkeep) -> None:
        """Takes a modality's upkeep over, from a scenario."""
        self._upkeep.write(modality, upkeep)

    def touch(self, modality: str, transaction: Transaction) -> None:
        """Notes one more action on a modality."""
        transaction.put(self._upkeep, modality, self.upkeep(modality).touched(transaction.now))

    def fork(self) -> "EnvironmentWorld":
        """A world with the same rows that shares no writes with this one."""
        twin = EnvironmentWorld()
        twin.take(self.tables)
        return twin

    def take(self, tables: Mapping[str, Table[Any]]) -> None:
        """Takes over every row of other tables, by their names; what was here goes."""
        for name, table in self.tables.items():
            for key, _ in list(table.items()):
                table.write(key, None)
            for key, row in tables[name].items() if name in tables else ():
                table.write(key, row)
