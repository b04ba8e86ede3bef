"""The row of the user's preferences."""

from dataclasses import dataclass
from typing import Literal

from concord_environment.modalities.fields import Name, Zone

DateFormat = Literal["MM/DD/YYYY", "DD/MM/YYYY", "YYYY-MM-DD", "YYYY/MM/DD", "DD.MM.YYYY", "DD-MM-YYYY"]


@dataclass(frozen=True, slots=True)
class TimePreferences:
    """How the user likes to see times and dates."""

    timezone: Zone = "UTC"
    format_preference: Literal["12h", "24h"] = "12h"
    date_format: DateFormat | None = None
    locale: Name | None = None
    week_start: Literal["sunday", "monday"] | None = None
