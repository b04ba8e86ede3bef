"""All modalities and their operations, by name and by request class."""

from collections.abc import Mapping
from inspect import getdoc
from operator import attrgetter
from typing import Any, Final, get_args

from pydantic import ValidationError

from concord_environment.core.actions import Action
from concord_environment.core.faults import BadRequest, Invalid, NotFound
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.installed import MODALITIES
from concord_environment.modalities.modality import AnyImplementation, AnyModality
from concord_environment.modalities.world import EnvironmentWorld

MODALITY_BY_NAME: Final[dict[str, AnyModality]] = {
    modality.name: modality for modality in sorted(MODALITIES, key=attrgetter("name"))
}
"""All modalities by name, in alphabetical order."""
IMPLEMENTATIONS: Final[tuple[AnyImplementation, ...]] = tuple(
    implementation for modality in MODALITIES for implementation in modality.implementations
)

_NULLABLE: Final[dict[type[Action], frozenset[str]]] = {
    each.request: frozenset(
        name for name, field in each.request.model_fields.items() if type(None) in get_args(field.annotation)
    )
    for each in IMPLEMENTATIONS
}
"""The fields of each request that may be null."""

_BY_REQUEST: Final = {each.request: each for each in IMPLEMENTATIONS}
_BY_NAME: Final = {(each.operation.modality, each.operation.name): each for each in IMPLEMENTATIONS}
# The data of an event may also name an operation by its route, as in "read" for "mark_read".
_BY_ROUTE: Final = {(each.operation.modality, each.operation.route): each for each in IMPLEMENTATIONS}


def implementation_of(action: Action) -> AnyImplementation:
    """The implementation of an action's operation."""
    return _BY_REQUEST[type(action)]


def apply(world: EnvironmentWorld, action: Action, transaction: Transaction) -> None:
    """Executes an action in a world. Raises a Fault if the world does not allow it."""
    implementation_of(action).apply(world, action, transaction)
    world.record_update(action.modality, transaction)


def parse(modality: str, data: Mapping[str, Any]) -> Action:
    """Parses the action in the data of an event, whose `operation` or `action` names the operation.

    In the data of an event that UES dumped, null stands for an absent field. Elsewhere, it does so for fields that
    cannot be null. Raises NotFound for an unknown modality, Invalid for an unknown operation, BadRequest for invalid
    fields.
    """
    if modality not in MODALITY_BY_NAME:
        raise NotFound(f"modality: {modality!r} is not one of {', '.join(MODALITY_BY_NAME)}")
    other = MODALITY_BY_NAME[modality].other_names.get(str(data.get("operation")))
    data = data if other is None else {**data, **other}
    name = data.get("operation") or data.get("action") or MODALITY_BY_NAME[modality].default_operation
    found = _BY_NAME.get((modality, str(name))) or _BY_ROUTE.get((modality, str(name)))
    if found is None:
        names = ", ".join(each.operation.name for each in MODALITY_BY_NAME[modality].implementations)
        raise Invalid(f"data.operation: {name!r} is not one of the operations of {modality}: {names}")
    is_dumped = "input_id" in data
    fields = {
        key: value
        for key, value in data.items()
        if key not in ("operation", "action", "modality_type")
        and (value is not None or (not is_dumped and key in _NULLABLE[found.request]))
    }
    try:
        return found.request.model_validate(fields)  # type: ignore[no-any-return]  # erased in the table
    except ValidationError as error:
        raise BadRequest(f"data.{reasons(error)}") from error


def state_description(modality: AnyModality) -> str:
    """The description of the route and the tool that return the state of a modality."""
    summary = " With `summary`, leaves out long texts." if modality.views.summary is not None else ""
    return (
        f"Returns {modality.description}. `limit`, `offset` and `since` select a part of a long state. With `compact`, "
        f"returns the compact state instead: counts and the latest items.{summary}"
    )


def query_description(modality: AnyModality) -> str:
    """The description of the route and the tool that query a modality."""
    return f"Searches {modality.description}. {getdoc(modality.views.query_type) or ''}"


def inconsistencies(world: EnvironmentWorld) -> list[str]:
    """Descriptions of the broken references in a world."""
    return [
        description
        for modality in MODALITY_BY_NAME.values()
        for description in modality.inconsistencies(world[modality.state])
    ]


def reasons(error: ValidationError) -> str:
    """The messages of the first ten invalid fields, without the values."""
    details = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, field['loc'])) or 'data'}: {field['msg']}" for field in details[:10])
