"""What can happen to the weather, as it is asked for."""

from typing import ClassVar, Literal

from concord_environment.core.actions import Action
from concord_environment.modalities.fields import JsonObject
from concord_environment.modalities.location.records import Latitude, Longitude


class UpdateWeather(Action):
    """Reports the weather at a place."""

    modality: ClassVar[str] = "weather"
    operation: Literal["update"] = "update"
    latitude: Latitude
    longitude: Longitude
    report: JsonObject
