"""What callers see of where the user is and was."""

from datetime import datetime
from typing import Final

from concord_environment.modalities.location.queries import LocationQuery, find_places
from concord_environment.modalities.location.records import Place
from concord_environment.modalities.views import QueryAnswer, StatePage, StateView, Views, finding, heading
from concord_environment.modalities.world import EnvironmentWorld


class LocationBriefView(StateView):
    """Where the user is, and how many earlier places are known."""

    current: Place | None
    history_count: int


class LocationStateView(LocationBriefView):
    """A page of the earlier places too, latest first."""

    history: list[Place]


class LocationAnswer(QueryAnswer):
    """The places found."""

    locations: list[Place]


def _where(world: EnvironmentWorld, now: datetime) -> dict[str, object]:
    history = max(0, len(world.location.places) - 1)
    return {**heading(world, "location", now), "current": world.location.current, "history_count": history}


def _state(world: EnvironmentWorld, now: datetime, page: StatePage) -> LocationStateView:
    earlier = world.location.places.window(page.offset + 1, page.stop + 1, latest_first=True)
    history = [place for place in earlier if page.since is None or place.timestamp >= page.since]
    return LocationStateView.model_validate({**_where(world, now), "history": history})


def _brief(world: EnvironmentWorld, now: datetime) -> LocationBriefView:
    return LocationBriefView.model_validate(_where(world, now))


def _answer(world: EnvironmentWorld, now: datetime, query: LocationQuery) -> LocationAnswer:  # noqa: ARG001 - one signature
    places, total = find_places(world.location, query)
    return LocationAnswer.model_validate({**finding("location", query, len(places), total), "locations": places})


LOCATION_VIEWS: Final = Views(
    "location", _state, LocationStateView, _brief, LocationBriefView, LocationQuery, _answer, LocationAnswer
)
