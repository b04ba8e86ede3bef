"""What each action on the location does."""

from typing import Final

from concord_environment.core.transaction import Transaction
from concord_environment.modalities.location.records import Place
from concord_environment.modalities.location.requests import UpdateLocation
from concord_environment.modalities.location.state import MAX_HISTORY
from concord_environment.modalities.operation import AnyOperation, Operation
from concord_environment.modalities.world import EnvironmentWorld


def _update(world: EnvironmentWorld, action: UpdateLocation, transaction: Transaction) -> None:
    places, current = world.location.places, world.location.current
    sequence = current.sequence + 1 if current else 0
    given = action.model_dump(exclude={"operation"})
    place = Place(place_id=transaction.new_id(), timestamp=transaction.now, sequence=sequence, **given)
    transaction.put(places, place.place_id, place)
    for forgotten in places.window(0, max(0, len(places) - MAX_HISTORY - 1)):
        transaction.drop(places, forgotten.place_id)


LOCATION_OPERATIONS: Final[tuple[AnyOperation, ...]] = (
    Operation(UpdateLocation, _update, "update", "location:update", "location.updated"),
)
