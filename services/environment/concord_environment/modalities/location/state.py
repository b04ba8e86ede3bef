"""The table of where the user is and was."""

from typing import Final

from concord_environment.core.clock import to_us
from concord_environment.core.tables import Table
from concord_environment.modalities.location.records import Place

MAX_HISTORY: Final = 100
"""How many earlier places are kept."""


class LocationState:
    """Places in the order in which the user was there; the last is where the user is."""

    def __init__(self) -> None:
        self.places: Table[Place] = Table(
            "location.places", Place, order=lambda place: (to_us(place.timestamp), place.sequence)
        )

    @property
    def tables(self) -> tuple[Table[Place]]:
        """Its tables."""
        return (self.places,)

    @property
    def current(self) -> Place | None:
        """Where the user is."""
        return next(iter(self.places.window(0, 1, latest_first=True)), None)
