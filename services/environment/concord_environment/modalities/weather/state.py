"""The table of the weather."""

from typing import Final

from concord_environment.core.clock import to_us
from concord_environment.core.tables import Table
from concord_environment.modalities.weather.records import WeatherReport

MAX_HISTORY: Final = 100
"""How many reports are kept for a place."""


class WeatherState:
    """Reports in order, by place; the last of a place is its weather."""

    def __init__(self) -> None:
        self.reports: Table[WeatherReport] = Table(
            "weather.reports",
            WeatherReport,
            order=lambda report: (to_us(report.timestamp), report.sequence),
            indexes={"location": lambda report: (report.location,)},
        )

    @property
    def tables(self) -> tuple[Table[WeatherReport]]:
        """Its tables."""
        return (self.reports,)

    def current(self, location: str) -> WeatherReport | None:
        """The latest report for a place."""
        return next(iter(self.reports.group_window("location", location, 0, 1, latest_first=True)), None)
