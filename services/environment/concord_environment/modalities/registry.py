"""Every operation of every modality, and how an event's data becomes an action."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from concord_environment.core.actions import Action
from concord_environment.core.faults import Invalid
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.calendar.operations import CALENDAR_OPERATIONS
from concord_environment.modalities.chat.operations import CHAT_OPERATIONS
from concord_environment.modalities.contacts.operations import CONTACTS_OPERATIONS
from concord_environment.modalities.email.operations import EMAIL_OPERATIONS
from concord_environment.modalities.location.operations import LOCATION_OPERATIONS
from concord_environment.modalities.operation import AnyOperation
from concord_environment.modalities.preferences.operations import PREFERENCES_OPERATIONS
from concord_environment.modalities.sms.operations import SMS_OPERATIONS
from concord_environment.modalities.weather.operations import WEATHER_OPERATIONS
from concord_environment.modalities.world import MODALITIES, EnvironmentWorld

OPERATIONS: Final[tuple[AnyOperation, ...]] = (
    *EMAIL_OPERATIONS,
    *SMS_OPERATIONS,
    *CHAT_OPERATIONS,
    *CALENDAR_OPERATIONS,
    *CONTACTS_OPERATIONS,
    *LOCATION_OPERATIONS,
    *WEATHER_OPERATIONS,
    *PREFERENCES_OPERATIONS,
)

_BY_REQUEST: Final = {operation.request: operation for operation in OPERATIONS}
_BY_NAME: Final = {(operation.modality, operation.name): operation for operation in OPERATIONS}
# Clients also call an operation by its route ("read"), and events without one mean the only one there is.
_BY_ROUTE: Final = {(operation.modality, operation.route): operation for operation in OPERATIONS}
_DEFAULTS: Final = {"location": "update", "weather": "update", "time": "update", "chat": "send_message"}


def operation_of(action: Action) -> AnyOperation:
    """The operation that an action is one of."""
    return _BY_REQUEST[type(action)]


def apply(world: EnvironmentWorld, action: Action, transaction: Transaction) -> None:
    """The rules of the environment: carries an action out in a world, or raises a Fault."""
    operation_of(action).apply(world, action, transaction)
    world.touch(action.modality, transaction)


def parse(modality: str, data: Mapping[str, Any]) -> Action:
    """The action that an event's data describes; `operation` (or `action`) says which. Invalid, with the reason."""
    if modality not in MODALITIES:
        raise Invalid(f"modality: there is none called {modality!r}, but {', '.join(MODALITIES)}")
    name = data.get("operation") or data.get("action") or _DEFAULTS.get(modality)
    operation = _BY_NAME.get((modality, str(name))) or _BY_ROUTE.get((modality, str(name)))
    if operation is None:
        known = ", ".join(each.name for each in OPERATIONS if each.modality == modality)
        raise Invalid(f"data.operation: {modality} has no {name!r}, but {known}")
    fields = {key: value for key, value in data.items() if key not in ("operation", "action", "modality_type")}
    try:
        return operation.request.model_validate(fields)  # type: ignore[no-any-return]  # erased in the table
    except ValidationError as error:
        raise Invalid(reasons(error)) from error


def reasons(error: ValidationError) -> str:
    """What was wrong, field by field, without what was sent."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, one['loc'])) or 'data'}: {one['msg']}" for one in found[:10])
