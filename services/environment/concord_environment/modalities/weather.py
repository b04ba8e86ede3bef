"""The modality `weather`: weather reports by place."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from concord_environment.core.actions import Action
from concord_environment.core.clock import to_us
from concord_environment.core.tables import Table
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.documents import ScenarioForm, StateDocument
from concord_environment.modalities.fields import Id, JsonObject, Moment, Name, Page
from concord_environment.modalities.location import Latitude, Longitude
from concord_environment.modalities.modality import (
    Modality,
    Operation,
    QueryAnswer,
    StatePage,
    States,
    StateView,
    Views,
    answer_fields,
    view_fields,
)

Seconds = Annotated[int, Field(ge=0, le=7_258_118_400)]


@dataclass(frozen=True, slots=True)
class WeatherReport:
    """A weather report for a place, in the format of OpenWeather's One Call API and its standard units (K, m/s)."""

    report_id: str
    location: str
    latitude: Latitude
    longitude: Longitude
    timestamp: Moment
    report: JsonObject
    sequence: int = 0


def location_key(latitude: float, longitude: float) -> str:
    """The key of a place: the coordinates in degrees, rounded to two decimals (about a kilometre)."""
    return f"{round(latitude, 2) + 0.0:.2f},{round(longitude, 2) + 0.0:.2f}"


MAX_HISTORY: Final = 100
"""The number of reports that the state keeps for each place."""


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


class WeatherState:
    """Reports by place, in the order of time. The last report of a place is its current weather."""

    def __init__(self) -> None:
        self.reports: Table[WeatherReport] = Table(
            "weather.reports",
            WeatherReport,
            order=lambda report: (to_us(report.timestamp), report.sequence),
            indexes={"location": lambda report: (report.location,)},
        )

    @property
    def tables(self) -> tuple[Table[WeatherReport]]:
        """The tables."""
        return (self.reports,)

    def current(self, location: str) -> WeatherReport | None:
        """The latest report for a place, or None."""
        return next(iter(self.reports.group_window("location", location, 0, 1, latest_first=True)), None)


class UpdateWeather(Action):
    """Adds a weather report for a place, given in degrees and rounded to two decimals (about a kilometre).

    `report` has the format of OpenWeather's One Call API, with temperatures in kelvin and speeds in metres per second.
    The state keeps the last 100 reports for each place.
    """

    modality: ClassVar[str] = "weather"
    operation: Literal["update"] = "update"
    latitude: Latitude
    longitude: Longitude
    report: Report


def _update(world: States, action: UpdateWeather, transaction: Transaction) -> None:
    reports, location = world[WeatherState].reports, location_key(action.latitude, action.longitude)
    current = world[WeatherState].current(location)
    report = WeatherReport(
        report_id=transaction.new_id(),
        location=location,
        latitude=action.latitude,
        longitude=action.longitude,
        timestamp=transaction.now,
        report=action.report.model_dump(mode="json"),
        sequence=current.sequence + 1 if current else 0,
    )
    transaction.put(reports, report.report_id, report)
    excess = max(0, reports.group_size("location", location) - MAX_HISTORY)
    for oldest in reports.group_window("location", location, 0, excess):
        transaction.drop(reports, oldest.report_id)


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


Parts = Annotated[tuple[Name, ...], Field(max_length=20)]


def _separated(value: object) -> object:
    return value.split(",") if isinstance(value, str) else value


class WeatherQuery(Page):
    """Finds the weather reports for the place at `lat` and `lon` (degrees, rounded to two decimals).

    Without `from`, the result is the latest report. With `from`, the results are the reports between `from` and `to`,
    inclusive, oldest first. Both are in seconds since 1970, and a `to` before `from` has no effect. `from_time` and
    `to_time` mean the same. `exclude` lists parts of a report to leave null, such as `hourly`. `units` is `standard`
    (K, m/s), `metric` (°C, m/s) or `imperial` (°F, mph). The service has no real weather: `real` has no effect.
    """

    model_config = ConfigDict(frozen=True, validate_by_name=True, validate_by_alias=True)

    lat: Latitude
    lon: Longitude
    exclude: Annotated[Parts | None, BeforeValidator(_separated)] = None
    units: Units = "standard"
    since: Annotated[Seconds | None, Field(validation_alias=AliasChoices("from_time", "from"))] = None
    until: Annotated[Seconds | None, Field(validation_alias=AliasChoices("to_time", "to"))] = None
    real: bool = False


def find_weather(state: WeatherState, query: WeatherQuery) -> tuple[list[dict[str, JsonValue]], int]:
    """The page of reports that match a query, oldest first, and the number of all matches."""
    location = location_key(query.lat, query.lon)
    if query.since is None:
        current = state.current(location)
        found = [current] if current else []
    else:
        found = [report for report in state.reports.group("location", location) if _within(report, query)]
    excluded: dict[str, JsonValue] = dict.fromkeys(query.exclude or ())
    reports = [{**converted(report.report, query.units), **excluded} for report in found]
    return reports[query.first : query.stop], len(reports)


def _within(report: WeatherReport, query: WeatherQuery) -> bool:
    at = to_us(report.timestamp) // 1_000_000
    since, until = query.since or 0, query.until
    return at >= since and (until is None or until < since or at <= until)


class WeatherAtPlace(BaseModel):
    """The current weather at a place, the number of reports for it, and the number of earlier ones."""

    latitude: float
    longitude: float
    first_seen: datetime
    last_updated: datetime
    update_count: int
    history_count: int
    current_report: dict[str, JsonValue]


class WeatherBriefView(StateView):
    """The current weather at the first 20 places, without forecasts."""

    locations: dict[str, WeatherAtPlace]
    location_count: int


class WeatherStateView(WeatherBriefView):
    """The places, each with its latest report."""


class WeatherAnswer(QueryAnswer):
    """The weather reports that match a query. `error` says that there is none."""

    reports: list[dict[str, JsonValue]]
    error: str | None


def _places(world: States, first: int, stop: int) -> dict[str, WeatherReport]:
    locations = world[WeatherState].reports.index_values("location")[first:stop]
    return {location: report for location in locations if (report := world[WeatherState].current(location)) is not None}


def _at_place(world: States, report: WeatherReport, *, whole: bool) -> WeatherAtPlace:
    without_forecast = {"current": report.report.get("current")}
    reports = world[WeatherState].reports
    first = reports.group_window("location", report.location, 0, 1)[0]
    count = reports.group_size("location", report.location)
    return WeatherAtPlace(
        latitude=report.latitude,
        longitude=report.longitude,
        first_seen=first.timestamp,
        last_updated=report.timestamp,
        update_count=count,
        history_count=count - 1,
        current_report=report.report if whole else without_forecast,
    )


def _state(world: States, now: datetime, page: StatePage) -> WeatherStateView:
    places = _places(world, page.first, page.stop)
    return WeatherStateView(
        **view_fields(world, "weather", now),
        locations={name: _at_place(world, report, whole=True) for name, report in places.items()},
        location_count=len(world[WeatherState].reports.index_values("location")),
    )


def _brief(world: States, now: datetime) -> WeatherBriefView:
    places = _places(world, 0, 20)
    return WeatherBriefView(
        **view_fields(world, "weather", now),
        locations={name: _at_place(world, report, whole=False) for name, report in places.items()},
        location_count=len(world[WeatherState].reports.index_values("location")),
    )


def _answer(world: States, now: datetime, query: WeatherQuery) -> WeatherAnswer:  # noqa: ARG001 - one signature
    reports, total = find_weather(world[WeatherState], query)
    error = None if total else f"there is no report for {location_key(query.lat, query.lon)} at that time"
    return WeatherAnswer(**answer_fields("weather", query, len(reports), total), reports=reports, error=error)


def _as_text(brief: WeatherBriefView) -> Iterable[str]:
    yield f"WEATHER: {brief.location_count} places"


class ReportDocument(BaseModel):
    """An earlier weather report for a place."""

    timestamp: Moment
    report: JsonObject


class WeatherPlaceDocument(BaseModel):
    """The latest weather report for a place, and the earlier ones, oldest first."""

    latitude: Latitude
    longitude: Longitude
    current_report: JsonObject
    last_updated: Moment
    report_history: list[ReportDocument] = Field(default_factory=list)


def _dropped(key: str | None) -> None:
    """Keeps a secret out of the state and of exports."""


class WeatherDocument(StateDocument):
    """The weather reports by place.

    The service always keeps 100 reports for each place. It never asks OpenWeather, and drops the key of a document.
    """

    locations: dict[Id, WeatherPlaceDocument] = Field(default_factory=dict)
    max_history_per_location: Annotated[int, Field(ge=0)] = MAX_HISTORY
    openweather_api_key: Annotated[Name | None, AfterValidator(_dropped)] = None


def _load(state: WeatherState, document: WeatherDocument) -> None:
    for name, place in document.locations.items():
        latest = ReportDocument(timestamp=place.last_updated, report=place.current_report)
        for sequence, document_report in enumerate([*place.report_history, latest]):
            report = WeatherReport(
                report_id=f"{name}-{sequence}",
                location=name,
                latitude=place.latitude,
                longitude=place.longitude,
                timestamp=document_report.timestamp,
                report=document_report.report,
                sequence=sequence,
            )
            state.reports.write(report.report_id, report)


def _dump(state: WeatherState) -> dict[str, Any]:
    locations = {}
    for name in state.reports.index_values("location"):
        *earlier, current = state.reports.group("location", name)
        locations[name] = {
            "latitude": current.latitude,
            "longitude": current.longitude,
            "current_report": current.report,
            "last_updated": current.timestamp,
            "report_history": [{"timestamp": report.timestamp, "report": report.report} for report in earlier],
        }
    return {"locations": locations}


MODALITY: Final = Modality(
    name="weather",
    description="the weather reports by place",
    state=WeatherState,
    operations=(Operation(UpdateWeather, _update, "update", "weather:update", "weather.updated"),),
    default_operation="update",
    views=Views(_state, WeatherStateView, _brief, WeatherBriefView, WeatherQuery, _answer, WeatherAnswer, _as_text),
    scenario=ScenarioForm(WeatherDocument, _load, _dump),
)
