"""What each action on the preferences does."""

from dataclasses import replace
from typing import Final

from concord_environment.core.transaction import Transaction
from concord_environment.modalities.operation import AnyOperation, Operation
from concord_environment.modalities.preferences.requests import UpdatePreferences
from concord_environment.modalities.states import SELF
from concord_environment.modalities.world import EnvironmentWorld


def _update(world: EnvironmentWorld, action: UpdatePreferences, transaction: Transaction) -> None:
    state = world.preferences
    changes = action.model_dump(exclude={"operation"}, exclude_none=True)
    transaction.put(state.preferences, SELF, replace(state.current, **changes))


PREFERENCES_OPERATIONS: Final[tuple[AnyOperation, ...]] = (
    Operation(UpdatePreferences, _update, "update", "time:preferences", "time.preferences"),
)
