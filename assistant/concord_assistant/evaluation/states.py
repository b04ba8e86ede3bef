"""The items of the environment's states, as the declarations of the modalities describe them."""

from collections.abc import Mapping
from typing import Any, Final

from concord_environment_client.modalities import MODALITIES
from concord_environment_client.operations import Items, ModalityCalls

Item = Mapping[str, Any]

COLLECTIONS: Final[Mapping[str, Items]] = {each.name: each.items[0] for each in MODALITIES if each.items}
"""The main collection of each modality that has items."""

SENDING: Final = tuple(each.name for each in MODALITIES if each.user_address is not None)
"""The modalities in which people write to each other."""

_BY_NAME: Final[Mapping[str, type[ModalityCalls[Any]]]] = {each.name: each for each in MODALITIES}


def items_of(state: Mapping[str, Any], modality: str) -> list[Item]:
    """The items of the main collection of a modality. Empty if the state lacks the modality."""
    items = (state.get(modality) or {}).get(COLLECTIONS[modality].collection) or {}
    return list(items.values()) if isinstance(items, Mapping) else list(items)


def user_address(state: Mapping[str, Any], modality: str) -> str | None:
    """The address or number with which the user sends, or None if the state lacks it."""
    field = _BY_NAME[modality].user_address
    address = None if field is None else (state.get(modality) or {}).get(field)
    return str(address) if address else None
