"""The table of the user's preferences."""

from concord_environment.core.tables import Table
from concord_environment.modalities.preferences.records import TimePreferences
from concord_environment.modalities.states import SELF


class PreferencesState:
    """The one row of preferences."""

    def __init__(self) -> None:
        self.preferences: Table[TimePreferences] = Table("time.preferences", TimePreferences)

    @property
    def tables(self) -> tuple[Table[TimePreferences]]:
        """Its tables."""
        return (self.preferences,)

    @property
    def current(self) -> TimePreferences:
        """The preferences that hold."""
        return self.preferences.get(SELF) or TimePreferences()
