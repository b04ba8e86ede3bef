"""The items of the environment's states (emails, text messages, events, chat messages), and conditions on them."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict

from concord_environment_client import AsyncUESClient

Modality = Literal["email", "sms", "calendar", "chat"]
Item = Mapping[str, Any]

_TIMES: Final[Mapping[Modality, str]] = {
    "email": "received_at",
    "sms": "sent_at",
    "calendar": "start",
    "chat": "timestamp",
}

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
    match modality:
        case "email":
            found: list[Any] = list((await ues.email.get_state()).emails.values())
        case "sms":
            found = list((await ues.sms.get_state()).messages.values())
        case "calendar":
            found = list((await ues.calendar.get_state()).events.values())
        case "chat":
            found = list((await ues.chat.get_state()).messages)
    items = [each.model_dump(mode="json") for each in found]
    kept = [item for item in items if not (item.get("deleted_at") or item.get("is_deleted"))]
    return sorted(kept, key=lambda item: str(item[_TIMES[modality]]))


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
