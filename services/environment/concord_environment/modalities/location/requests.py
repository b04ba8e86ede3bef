"""What can happen to where the user is, as it is asked for."""

from typing import ClassVar, Literal

from concord_environment.core.actions import Action
from concord_environment.modalities.fields import Line, Name
from concord_environment.modalities.location.records import Bearing, Latitude, Longitude, Measure, NotNegative


class UpdateLocation(Action):
    """Says where the user is now."""

    modality: ClassVar[str] = "location"
    operation: Literal["update"] = "update"
    latitude: Latitude
    longitude: Longitude
    address: Line | None = None
    named_location: Name | None = None
    altitude: Measure | None = None
    accuracy: NotNegative | None = None
    speed: NotNegative | None = None
    bearing: Bearing | None = None
