"""Looking for weather: at a place, now or over a time, in units, without what is not wanted."""

from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue

from concord_environment.core.clock import to_us
from concord_environment.modalities.fields import Line, Page
from concord_environment.modalities.location.records import Latitude, Longitude
from concord_environment.modalities.weather.records import WeatherReport, location_key
from concord_environment.modalities.weather.state import WeatherState
from concord_environment.modalities.weather.units import Units, converted

Seconds = Annotated[int, Field(ge=0, le=7_258_118_400)]


class WeatherQuery(Page):
    """The weather at a place. With `from` (seconds since 1970) all reports since, up to `to`."""

    model_config = ConfigDict(frozen=True, validate_by_name=True, validate_by_alias=True)

    lat: Latitude
    lon: Longitude
    exclude: Line | None = None
    units: Units = "standard"
    since: Annotated[Seconds | None, Field(alias="from")] = None
    until: Annotated[Seconds | None, Field(alias="to")] = None


def find_weather(state: WeatherState, query: WeatherQuery) -> tuple[list[dict[str, JsonValue]], int]:
    """The page of reports that a query asks for, oldest first, and how many there are in all."""
    location = location_key(query.lat, query.lon)
    if query.since is None:
        current = state.current(location)
        found = [current] if current else []
    else:
        found = [report for report in state.reports.group("location", location) if _within(report, query)]
    parts = set((query.exclude or "").split(","))
    reports = [
        {key: value for key, value in converted(report.report, query.units).items() if key not in parts}
        for report in found
    ]
    return reports[query.first : query.stop], len(reports)


def _within(report: WeatherReport, query: WeatherQuery) -> bool:
    at = to_us(report.timestamp) // 1_000_000
    since, until = query.since or 0, query.until
    return at >= since and (until is None or until < since or at <= until)
