"""Looking for places: by name and date; paged."""

from concord_environment.modalities.fields import Moment, Name, Page, SortOrder
from concord_environment.modalities.location.records import Place
from concord_environment.modalities.location.state import LocationState


class LocationQuery(Page):
    """Every filter that is given has to hold."""

    since: Moment | None = None
    until: Moment | None = None
    named_location: Name | None = None
    sort_order: SortOrder = "desc"


def find_places(state: LocationState, query: LocationQuery) -> tuple[list[Place], int]:
    """The page of places that a query asks for, and how many there are in all."""
    found = [
        place
        for place in state.places.rows()
        if (query.since is None or place.timestamp >= query.since)
        and (query.until is None or place.timestamp <= query.until)
        and query.named_location in (None, place.named_location)
    ]
    if query.sort_order == "desc":
        found.reverse()
    return found[query.first : query.stop], len(found)
