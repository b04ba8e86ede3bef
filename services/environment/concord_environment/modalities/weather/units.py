"""Weather reports in other units than the standard ones (kelvin, metres a second)."""

from collections.abc import Callable
from typing import Final, Literal

from pydantic import JsonValue

Units = Literal["standard", "metric", "imperial"]

_TEMPERATURES: Final = frozenset({"temp", "feels_like", "dew_point", "day", "min", "max", "night", "eve", "morn"})
_SPEEDS: Final = frozenset({"wind_speed", "wind_gust"})


def converted(report: dict[str, JsonValue], units: Units) -> dict[str, JsonValue]:
    """The report in `units`: °C and m/s are metric, °F and mph imperial."""
    if units == "standard":
        return report
    return {key: _convert(key, value, units) for key, value in report.items()}


def _convert(key: str, value: JsonValue, units: Units) -> JsonValue:
    if isinstance(value, dict):
        return {inner: _convert(inner, part, units) for inner, part in value.items()}
    if isinstance(value, list):
        return [_convert(key, part, units) for part in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return round(_rule(key, units)(float(value)), 2) if key in _TEMPERATURES | _SPEEDS else value


def _rule(key: str, units: Units) -> Callable[[float], float]:
    if key in _SPEEDS:
        return (lambda speed: speed * 2.23694) if units == "imperial" else (lambda speed: speed)
    if units == "imperial":
        return lambda kelvin: kelvin * 9 / 5 - 459.67
    return lambda kelvin: kelvin - 273.15
