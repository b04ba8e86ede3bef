"""The items of the environment's states (emails, text messages, events, chat messages), and conditions on them."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict

from concord_environment_client import AsyncUESClient
from concord_environment_client.modalities import MODALITIES

Item = Mapping[str, Any]

_READABLE: Final = {each.name: each for each in MODALITIES if each.query.tool is not None}
"""The modalities that an assistant may read."""


def _known(name: str) -> str:
    if name not in _READABLE:
        raise ValueError(f"{name!r} is none of {', '.join(_READABLE)}")
    return name


Modality = Annotated[str, AfterValidator(_known)]
"""The name of a modality that an assistant may read."""

_ADDRESS: Final = "email"
"""The field that stands for an attendee."""


class Contains(BaseModel):
    """A text that the value contains."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    contains: str


Where = dict[str, Contains | str | bool | int | float | None]
"""By field, the value, or a text that the value contains. Upper case and white space do not count."""


async def read_items(ues: AsyncUESClient, modality: Modality) -> list[Item]:
    """The items of a modality, oldest first. Deleted ones are not among them. Raises UESClientError."""
    declared = _READABLE[modality]
    collection = declared.items[0]
    state = (await ues.send(declared.get_state.request({}))).model_dump(mode="json")
    found = state[collection.collection]
    items = list(found.values() if isinstance(found, dict) else found)
    kept = [item for item in items if not (item.get("deleted_at") or item.get("is_deleted"))]
    return sorted(kept, key=lambda item: str(item[collection.time]))


def fits(item: Item, where: Where) -> bool:
    """Whether all conditions hold. A condition on a list holds if it holds for one element."""
    return all(any(_holds(each, wanted) for each in _elements(item.get(name))) for name, wanted in where.items())


def _elements(value: Any) -> list[Any]:  # noqa: ANN401 - JSON
    if not isinstance(value, list):
        return [value]
    return [each.get(_ADDRESS) if isinstance(each, dict) else each for each in value]


def _holds(value: object, wanted: object) -> bool:
    if isinstance(wanted, Contains):
        return _plain(wanted.contains) in _plain(value)
    if isinstance(value, str) and isinstance(wanted, str):
        return _plain(value) == _plain(wanted)
    return value == wanted


def _plain(value: object) -> str:
    return "" if value is None else " ".join(str(value).split()).casefold()
