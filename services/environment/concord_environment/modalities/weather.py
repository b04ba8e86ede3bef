"""The modality `weather`: weather reports by place."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal, cast

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    computed_field,
)

from concord_environment.core.actions import Action
from concord_environment.core.clock import to_us
from concord_environment.core.tables import Table
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.documents import ScenarioForm, StateDocument
from concord_environment.modalities.fields import Id, JsonObject, Moment, Name, Page
from concord_environment.modalities.location import Latitude, Longitude
from concord_environment.modalities.modality import (
    Implementation,
    Modality,
    QueryAnswer,
    StatePage,
    States,
    StateView,
    Views,
    view_fields,
)
from concord_environment.modalities.weather_report import Report, Seconds, Units, converted
from concord_environment_client.modalities.weather import WeatherCalls


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

    @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def error(self) -> str | None:
        """Why there is no report, or null if there is one."""
        place = location_key(cast("float", self.query["lat"]), cast("float", self.query["lon"]))
        return None if self.total_count else f"there is no report for {place} at that time"


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


def _find(world: States, now: datetime, query: WeatherQuery) -> tuple[list[Any], int]:  # noqa: ARG001 - one signature
    return find_weather(world[WeatherState], query)


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
    calls=WeatherCalls,
    description="the weather reports by place",
    state=WeatherState,
    implementations=(Implementation(WeatherCalls.update, UpdateWeather, _update),),
    default_operation="update",
    views=Views(
        _state,
        WeatherStateView,
        _brief,
        WeatherBriefView,
        WeatherQuery,
        _find,
        WeatherAnswer,
        _as_text,
    ),
    scenario=ScenarioForm(WeatherDocument, _load, _dump),
)
