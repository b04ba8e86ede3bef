"""What can happen to the user's preferences, as it is asked for."""

from typing import ClassVar, Literal

from concord_environment.core.actions import Action
from concord_environment.modalities.fields import Name, Zone
from concord_environment.modalities.preferences.records import DateFormat


class UpdatePreferences(Action):
    """Changes what is given."""

    modality: ClassVar[str] = "time"
    operation: Literal["update"] = "update"
    timezone: Zone | None = None
    format_preference: Literal["12h", "24h"] | None = None
    date_format: DateFormat | None = None
    locale: Name | None = None
    week_start: Literal["sunday", "monday"] | None = None
