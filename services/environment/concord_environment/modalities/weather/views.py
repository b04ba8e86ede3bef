"""What callers see of the weather."""

from datetime import datetime
from typing import Final

from pydantic import BaseModel, JsonValue

from concord_environment.modalities.views import QueryAnswer, StatePage, StateView, Views, finding, heading
from concord_environment.modalities.weather.queries import WeatherQuery, find_weather
from concord_environment.modalities.weather.records import WeatherReport
from concord_environment.modalities.world import EnvironmentWorld


class WeatherAtPlace(BaseModel):
    """The weather at one place, and how many reports there were."""

    latitude: float
    longitude: float
    last_updated: datetime
    update_count: int
    current_report: dict[str, JsonValue]


class WeatherBriefView(StateView):
    """The present conditions at every place."""

    locations: dict[str, WeatherAtPlace]
    location_count: int


class WeatherStateView(WeatherBriefView):
    """The latest reports, whole."""


class WeatherAnswer(QueryAnswer):
    """The reports found."""

    reports: list[dict[str, JsonValue]]


def _places(world: EnvironmentWorld, first: int, stop: int) -> dict[str, WeatherReport]:
    names = world.weather.reports.words("location")[first:stop]
    return {name: report for name in names if (report := world.weather.current(name)) is not None}


def _at_place(world: EnvironmentWorld, report: WeatherReport, *, whole: bool) -> WeatherAtPlace:
    now = {"current": report.report.get("current")}
    return WeatherAtPlace(
        latitude=report.latitude,
        longitude=report.longitude,
        last_updated=report.timestamp,
        update_count=world.weather.reports.group_size("location", report.location),
        current_report=report.report if whole else now,
    )


def _state(world: EnvironmentWorld, now: datetime, page: StatePage) -> WeatherStateView:
    places = _places(world, page.offset, page.stop)
    return WeatherStateView(
        **heading(world, "weather", now),
        locations={name: _at_place(world, report, whole=True) for name, report in places.items()},
        location_count=len(world.weather.reports.words("location")),
    )


def _brief(world: EnvironmentWorld, now: datetime) -> WeatherBriefView:
    places = _places(world, 0, 20)
    return WeatherBriefView(
        **heading(world, "weather", now),
        locations={name: _at_place(world, report, whole=False) for name, report in places.items()},
        location_count=len(world.weather.reports.words("location")),
    )


def _answer(world: EnvironmentWorld, now: datetime, query: WeatherQuery) -> WeatherAnswer:  # noqa: ARG001 - one signature
    reports, total = find_weather(world.weather, query)
    return WeatherAnswer(**finding("weather", query, len(reports), total), reports=reports)


WEATHER_VIEWS: Final = Views(
    "weather", _state, WeatherStateView, _brief, WeatherBriefView, WeatherQuery, _answer, WeatherAnswer
)
