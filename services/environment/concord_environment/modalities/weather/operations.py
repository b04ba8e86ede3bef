"""What each action on the weather does."""

from typing import Final

from concord_environment.core.transaction import Transaction
from concord_environment.modalities.operation import AnyOperation, Operation
from concord_environment.modalities.weather.records import WeatherReport, location_key
from concord_environment.modalities.weather.requests import UpdateWeather
from concord_environment.modalities.weather.state import MAX_HISTORY
from concord_environment.modalities.world import EnvironmentWorld


def _update(world: EnvironmentWorld, action: UpdateWeather, transaction: Transaction) -> None:
    reports, location = world.weather.reports, location_key(action.latitude, action.longitude)
    current = world.weather.current(location)
    report = WeatherReport(
        report_id=transaction.new_id(),
        location=location,
        latitude=action.latitude,
        longitude=action.longitude,
        timestamp=transaction.now,
        report=action.report,
        sequence=current.sequence + 1 if current else 0,
    )
    transaction.put(reports, report.report_id, report)
    excess = max(0, reports.group_size("location", location) - MAX_HISTORY)
    for forgotten in reports.group_window("location", location, 0, excess):
        transaction.drop(reports, forgotten.report_id)


WEATHER_OPERATIONS: Final[tuple[AnyOperation, ...]] = (
    Operation(UpdateWeather, _update, "update", "weather:update", "weather.updated"),
)
