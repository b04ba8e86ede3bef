"""What holds for all modalities together: their operations, and how an event's data becomes an action."""

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

BY_NAME: Final[dict[str, AnyModality]] = {one.name: one for one in sorted(MODALITIES, key=attrgetter("name"))}
"""Every modality by its name, in the order of the names."""
OPERATIONS: Final[tuple[AnyOperation, ...]] = tuple(one for modality in MODALITIES for one in modality.operations)

_BY_REQUEST: Final = {operation.request: operation for operation in OPERATIONS}
_BY_NAME: Final = {(operation.modality, operation.name): operation for operation in OPERATIONS}
# Clients also call an operation by its route ("read").
_BY_ROUTE: Final = {(operation.modality, operation.route): operation for operation in OPERATIONS}


def operation_of(action: Action) -> AnyOperation:
    """The operation that an action is one of."""
    return _BY_REQUEST[type(action)]


def apply(world: EnvironmentWorld, action: Action, transaction: Transaction) -> None:
    """The rules of the environment: carries an action out in a world, or raises a Fault."""
    operation_of(action).apply(world, action, transaction)
    world.record_update(action.modality, transaction)


def parse(modality: str, data: Mapping[str, Any]) -> Action:
    """The action that an event's data describes; `operation` (or `action`) says which. Invalid, with the reason."""
    if modality not in BY_NAME:
        raise Invalid(f"modality: there is none called {modality!r}, but {', '.join(BY_NAME)}")
    name = data.get("operation") or data.get("action") or BY_NAME[modality].default_operation
    operation = _BY_NAME.get((modality, str(name))) or _BY_ROUTE.get((modality, str(name)))
    if operation is None:
        known = ", ".join(each.name for each in BY_NAME[modality].operations)
        raise Invalid(f"data.operation: {modality} has no {name!r}, but {known}")
    fields = {key: value for key, value in data.items() if key not in ("operation", "action", "modality_type")}
    try:
        return operation.request.model_validate(fields)  # type: ignore[no-any-return]  # erased in the table
    except ValidationError as error:
        raise Invalid(reasons(error)) from error


def inconsistencies(world: EnvironmentWorld) -> list[str]:
    """The references in a world that lead nowhere, in words."""
    return [found for modality in BY_NAME.values() for found in modality.inconsistencies(world[modality.state])]


def reasons(error: ValidationError) -> str:
    """What was wrong, field by field, without what was sent."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, one['loc'])) or 'data'}: {one['msg']}" for one in found[:10])
