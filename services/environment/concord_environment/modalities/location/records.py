"""The rows of where the user is and was."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from concord_environment.modalities.fields import Line, Moment, Name

Latitude = Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False)]
Longitude = Annotated[float, Field(ge=-180, le=180, allow_inf_nan=False)]
Measure = Annotated[float, Field(allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Bearing = Annotated[float, Field(ge=0, le=360, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the user was from a moment on. Altitude and accuracy in metres, speed in m/s, bearing in degrees."""

    place_id: str
    timestamp: Moment
    latitude: Latitude
    longitude: Longitude
    address: Line | None = None
    named_location: Name | None = None
    altitude: Measure | None = None
    accuracy: NotNegative | None = None
    speed: NotNegative | None = None
    bearing: Bearing | None = None
    sequence: int = 0
