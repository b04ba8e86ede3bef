"""Weather reports in the format of OpenWeather's One Call API, and their conversion to other units."""

from collections.abc import Callable
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from concord_environment.modalities.fields import JsonObject
from concord_environment.modalities.location import Latitude, Longitude

Seconds = Annotated[int, Field(ge=0, le=7_258_118_400)]


class _Part(BaseModel):
    """Base class of the parts of a weather report. Fields that the model does not declare stay."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)


class Weather(_Part):
    """The weather at one time, in OpenWeather's standard units (K, m/s, seconds since 1970)."""

    dt: Seconds | None = None
    sunrise: Seconds | None = None
    sunset: Seconds | None = None
    temp: float | None = None
    feels_like: float | None = None
    pressure: float | None = None
    humidity: float | None = None
    dew_point: float | None = None
    uvi: float | None = None
    clouds: float | None = None
    visibility: float | None = None
    wind_speed: float | None = None
    wind_deg: float | None = None
    wind_gust: float | None = None
    weather: Annotated[list[JsonObject], Field(max_length=20)] = Field(default_factory=list)


class HourlyWeather(Weather):
    """The forecast for an hour, with the probability of precipitation."""

    pop: float | None = None
    rain: JsonObject | None = None
    snow: JsonObject | None = None


class Report(_Part):
    """A weather report in the format of OpenWeather's One Call API."""

    lat: Latitude
    lon: Longitude
    timezone: Annotated[str, Field(max_length=64)]
    timezone_offset: Annotated[int, Field(ge=-86_400, le=86_400)] = 0
    current: Weather | None = None
    minutely: Annotated[list[JsonObject] | None, Field(max_length=100)] = None
    hourly: Annotated[list[HourlyWeather] | None, Field(max_length=200)] = None
    daily: Annotated[list[JsonObject] | None, Field(max_length=50)] = None
    alerts: Annotated[list[JsonObject] | None, Field(max_length=100)] = None


Units = Literal["standard", "metric", "imperial"]

_TEMPERATURES: Final = frozenset({"temp", "feels_like", "dew_point", "day", "min", "max", "night", "eve", "morn"})
_SPEEDS: Final = frozenset({"wind_speed", "wind_gust"})


def converted(report: dict[str, JsonValue], units: Units) -> dict[str, JsonValue]:
    """The report in other units: °C and m/s for metric, °F and mph for imperial."""
    if units == "standard":
        return report
    return {key: _convert(key, value, units) for key, value in report.items()}


def _convert(key: str, value: JsonValue, units: Units) -> JsonValue:
    if isinstance(value, dict):
        return {name: _convert(name, item, units) for name, item in value.items()}
    if isinstance(value, list):
        return [_convert(key, item, units) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return round(_conversion(key, units)(float(value)), 2) if key in _TEMPERATURES | _SPEEDS else value


def _conversion(key: str, units: Units) -> Callable[[float], float]:
    if key in _SPEEDS:
        return (lambda speed: speed * 2.23694) if units == "imperial" else (lambda speed: speed)
    if units == "imperial":
        return lambda kelvin: kelvin * 9 / 5 - 459.67
    return lambda kelvin: kelvin - 273.15
