"""The operations of all modalities, by request and by name."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final

from pydantic import ValidationError

from concord_environment.core.actions import Action
from concord_environment.core.faults import Invalid
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.installed import MODALITIES
from concord_environment.modalities.modality import AnyModality, AnyOperation
from concord_environment.modalities.world import EnvironmentWorld

MODALITY_BY_NAME: Final[dict[str, AnyModality]] = {one.name: one for one in sorted(MODALITIES, key=attrgetter("name"))}
"""Every modality, by name and in alphabetical order."""
OPERATIONS: Final[tuple[AnyOperation, ...]] = tuple(one for modality in MODALITIES for one in modality.operations)

_OPERATION_BY_REQUEST: Final = {operation.request: operation for operation in OPERATIONS}
_OPERATION_BY_NAME: Final = {(operation.modality, operation.name): operation for operation in OPERATIONS}
# Clients also call an operation by its route ("read").
_OPERATION_BY_ROUTE: Final = {(operation.modality, operation.route): operation for operation in OPERATIONS}


def operation_of(action: Action) -> AnyOperation:
    """The operation of an action."""
    return _OPERATION_BY_REQUEST[type(action)]


def apply(world: EnvironmentWorld, action: Action, transaction: Transaction) -> None:
    """Executes an action in a world, or raises a Fault."""
    operation_of(action).apply(world, action, transaction)
    world.record_update(action.modality, transaction)


def parse(modality: str, data: Mapping[str, Any]) -> Action:
    """The action that an event's data describes. `operation` or `action` names its operation. Raises Invalid."""
    if modality not in MODALITY_BY_NAME:
        raise Invalid(f"modality: there is none called {modality!r}, but {', '.join(MODALITY_BY_NAME)}")
    name = data.get("operation") or data.get("action") or MODALITY_BY_NAME[modality].default_operation
    operation = _OPERATION_BY_NAME.get((modality, str(name))) or _OPERATION_BY_ROUTE.get((modality, str(name)))
    if operation is None:
        known = ", ".join(each.name for each in MODALITY_BY_NAME[modality].operations)
        raise Invalid(f"data.operation: {modality} has no {name!r}, but {known}")
    fields = {key: value for key, value in data.items() if key not in ("operation", "action", "modality_type")}
    try:
        return operation.request.model_validate(fields)  # type: ignore[no-any-return]  # erased in the table
    except ValidationError as error:
        raise Invalid(reasons(error)) from error


def inconsistencies(world: EnvironmentWorld) -> list[str]:
    """Descriptions of the broken references in a world."""
    return [
        found for modality in MODALITY_BY_NAME.values() for found in modality.inconsistencies(world[modality.state])
    ]


def reasons(error: ValidationError) -> str:
    """The error's messages, field by field and without the values."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, one['loc'])) or 'data'}: {one['msg']}" for one in found[:10])
