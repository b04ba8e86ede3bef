"""The modality `location`: the user's current place and the places before it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, model_serializer

from concord_environment.core.actions import Action
from concord_environment.core.clock import to_us
from concord_environment.core.tables import Table
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.documents import ScenarioForm, StateDocument
from concord_environment.modalities.fields import Line, Moment, Name, Page, SortOrder
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
from concord_environment_client.modalities.location import LocationCalls

Latitude = Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False)]
Longitude = Annotated[float, Field(ge=-180, le=180, allow_inf_nan=False)]
Measure = Annotated[float, Field(allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Bearing = Annotated[float, Field(ge=0, le=360, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class Place:
    """A place of the user from `timestamp` on.

    Latitude, longitude and bearing are in degrees, altitude and accuracy in metres, and speed is in metres per second.
    """

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


MAX_HISTORY: Final = 100
"""The number of earlier places that the state keeps."""


class LocationState:
    """Places in the order of the user's visits. The last place is the current one."""

    def __init__(self) -> None:
        self.places: Table[Place] = Table(
            "location.places", Place, order=lambda place: (to_us(place.timestamp), place.sequence)
        )

    @property
    def tables(self) -> tuple[Table[Place]]:
        """The tables."""
        return (self.places,)

    @property
    def current(self) -> Place | None:
        """The current place, or None."""
        return next(iter(self.places.window(0, 1, latest_first=True)), None)


class UpdateLocation(Action):
    """Moves the user to a place.

    Latitude, longitude and bearing are in degrees, altitude and accuracy in metres, and speed is in metres per second.
    The state keeps the last 100 earlier places.
    """

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


def _update(world: States, action: UpdateLocation, transaction: Transaction) -> None:
    places, current = world[LocationState].places, world[LocationState].current
    sequence = current.sequence + 1 if current else 0
    given = action.model_dump(exclude={"operation"})
    place = Place(place_id=transaction.new_id(), timestamp=transaction.now, sequence=sequence, **given)
    transaction.put(places, place.place_id, place)
    for oldest in places.window(0, max(0, len(places) - MAX_HISTORY - 1)):
        transaction.drop(places, oldest.place_id)


class LocationQuery(Page):
    """Finds places of the user that match all given filters, latest first by default.

    `since` and `until` are inclusive. `named_location` has to match exactly. Without `include_current`, the current
    place does not match.
    """

    since: Moment | None = None
    until: Moment | None = None
    named_location: Name | None = None
    include_current: bool = True
    sort_by: Literal["timestamp", "named_location", "address"] = "timestamp"
    sort_order: SortOrder = "desc"


def find_places(state: LocationState, query: LocationQuery) -> tuple[list[Place], int]:
    """The page of places that match a query, and the number of all matches."""
    current = state.current
    found = [
        place
        for place in state.places.rows()
        if (query.since is None or place.timestamp >= query.since)
        and (query.until is None or place.timestamp <= query.until)
        and query.named_location in (None, place.named_location)
        and (query.include_current or place is not current)
    ]
    if query.sort_by != "timestamp":
        found.sort(key=lambda place: getattr(place, query.sort_by) or "")
    if query.sort_order == "desc":
        found.reverse()
    return found[query.first : query.stop], len(found)


class PlaceView(BaseModel):
    """A place in the units of `Place`. Unknown fields are absent."""

    place_id: str | None = None
    timestamp: datetime | None = None
    latitude: float | None = None
    longitude: float | None = None
    address: str | None = None
    named_location: str | None = None
    altitude: float | None = None
    accuracy: float | None = None
    speed: float | None = None
    bearing: float | None = None
    is_current: bool | None = None

    @model_serializer(mode="wrap")
    def _without_unknown(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in dump(self).items() if value is not None}


class LocationBriefView(StateView):
    """The current place, empty if it is unknown, and the number of earlier places."""

    current: PlaceView
    history_count: int


class LocationStateView(LocationBriefView):
    """The current place, and the earlier places, latest first."""

    history: list[PlaceView]


class LocationAnswer(QueryAnswer):
    """The places that match a query."""

    locations: list[PlaceView]


def _view(place: Place, *, is_current: bool | None = None) -> PlaceView:
    fields = {name: getattr(place, name, None) for name in PlaceView.model_fields}
    return PlaceView.model_validate({**fields, "is_current": is_current})


def _brief_fields(world: States, now: datetime) -> dict[str, object]:
    current, earlier = world[LocationState].current, max(0, len(world[LocationState].places) - 1)
    view = PlaceView() if current is None else _view(current)
    return {**view_fields(world, "location", now), "current": view, "history_count": earlier}


def _state(world: States, now: datetime, page: StatePage) -> LocationStateView:
    stop = min(page.stop, MAX_HISTORY) + 1
    earlier = world[LocationState].places.window(page.first + 1, stop, latest_first=True)
    history = [_view(place) for place in earlier if page.since is None or place.timestamp >= page.since]
    return LocationStateView.model_validate({**_brief_fields(world, now), "history": history})


def _brief(world: States, now: datetime) -> LocationBriefView:
    return LocationBriefView.model_validate(_brief_fields(world, now))


def _find(world: States, now: datetime, query: LocationQuery) -> tuple[list[PlaceView], int]:  # noqa: ARG001 - one signature
    places, total = find_places(world[LocationState], query)
    current = world[LocationState].current
    return [_view(place, is_current=place is current) for place in places], total


def _as_text(brief: LocationBriefView) -> Iterable[str]:
    place = brief.current
    if place.latitude is not None:
        name = place.named_location or place.address or "unnamed place"
        yield f"LOCATION: {name} ({place.latitude}, {place.longitude})"


class PlaceDocument(BaseModel):
    """A place of the user from `timestamp` on, in the units of `Place`."""

    timestamp: Moment
    latitude: Latitude
    longitude: Longitude
    address: Line | None = None
    named_location: Name | None = None
    altitude: Measure | None = None
    accuracy: NotNegative | None = None
    speed: NotNegative | None = None
    bearing: Bearing | None = None


class LocationDocument(StateDocument):
    """The user's current place, and the earlier places, oldest first."""

    current_latitude: Latitude | None = None
    current_longitude: Longitude | None = None
    current_address: Line | None = None
    current_named_location: Name | None = None
    current_altitude: Measure | None = None
    current_accuracy: NotNegative | None = None
    current_speed: NotNegative | None = None
    current_bearing: Bearing | None = None
    location_history: list[PlaceDocument] = Field(default_factory=list)
    max_history_size: Annotated[int, Field(ge=0)] = MAX_HISTORY
    """UES's limit of the history. The service always keeps 100 earlier places."""


_PLACE: Final = tuple(PlaceDocument.model_fields)


def _load(state: LocationState, document: LocationDocument) -> None:
    places = list(document.location_history)
    current = {name: getattr(document, f"current_{name}") for name in _PLACE if name != "timestamp"}
    if current["latitude"] is not None and current["longitude"] is not None:
        places.append(PlaceDocument(timestamp=document.last_updated, **current))
    for sequence, place in enumerate(places):
        row = Place(place_id=f"place-{sequence}", sequence=sequence, **place.model_dump())
        state.places.write(row.place_id, row)


def _dump(state: LocationState) -> dict[str, Any]:
    places = [{name: getattr(place, name) for name in _PLACE} for place in state.places.rows()]
    current = {f"current_{name}": part for name, part in places[-1].items() if name != "timestamp"} if places else {}
    return {**current, "location_history": places[:-1]}


MODALITY: Final = Modality(
    calls=LocationCalls,
    description="the user's current place and the places before it",
    state=LocationState,
    implementations=(Implementation(LocationCalls.update, UpdateLocation, _update),),
    default_operation="update",
    views=Views(
        _state,
        LocationStateView,
        _brief,
        LocationBriefView,
        LocationQuery,
        _find,
        LocationAnswer,
        _as_text,
    ),
    scenario=ScenarioForm(LocationDocument, _load, _dump),
)
