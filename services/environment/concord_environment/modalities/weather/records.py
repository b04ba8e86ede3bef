"""The rows of the weather."""

from dataclasses import dataclass

from concord_environment.modalities.fields import JsonObject, Moment
from concord_environment.modalities.location.records import Latitude, Longitude


@dataclass(frozen=True, slots=True)
class WeatherReport:
    """A report for a place, in the form of OpenWeather's One Call and in its standard units (K, m/s)."""

    report_id: str
    location: str
    latitude: Latitude
    longitude: Longitude
    timestamp: Moment
    report: JsonObject
    sequence: int = 0


def location_key(latitude: float, longitude: float) -> str:
    """Places within about a kilometre are one: two decimals."""
    return f"{round(latitude, 2) + 0.0:.2f},{round(longitude, 2) + 0.0:.2f}"
