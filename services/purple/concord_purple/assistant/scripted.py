"""Assistants without a language model: the oracle performs listed actions; some others do not do their task."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PositiveInt,
    TypeAdapter,
    ValidationError,
)

from concord.files import first_fault, read_bounded
from concord_environment_client import AsyncUESClient
from concord_environment_client.modalities import MODALITIES
from concord_purple.assistant.agent import EarlyCompletion, Reply, TurnComplete, TurnStart
from concord_purple.assistant.model import ACTIONS, TOOLS

# The items of the environment's states (emails, text messages, events, chat messages), and conditions on them.

Item = Mapping[str, Any]

_READABLE: Final = {each.name: each for each in MODALITIES if each.query.tool is not None}
"""The modalities that an assistant may read."""


def _readable(name: str) -> str:
    if name not in _READABLE:
        raise ValueError(f"{name!r} is none of {', '.join(_READABLE)}")
    return name


Modality = Annotated[str, AfterValidator(_readable)]
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


# The oracle: performs the actions that a scenario's `oracle.json` lists (docs/oracle.md).

MAX_ACTIONS = 1000
MAX_BYTES = 2**20


class OracleError(Exception):
    """An oracle's file cannot be read, or an item that it names does not exist."""


class Find(BaseModel):
    """A placeholder: a field of an item, as it is when the action is performed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    find: Modality
    where: Where = {}
    field: str
    pick: Literal["only", "latest", "all"] = "only"

    async def resolve(self, ues: AsyncUESClient) -> Any:  # noqa: ANN401 - JSON
        """The field's value, a list of values for `all`. Raises OracleError, UESClientError."""
        found = [item for item in await read_items(ues, self.find) if fits(item, self.where)]
        if not found or (self.pick == "only" and len(found) > 1):
            raise OracleError(f"{len(found)} items of {self.find} fit {self.model_dump(mode='json')['where']}")
        if self.field not in found[-1]:
            raise OracleError(f"items of {self.find} have no field {self.field}")
        values = [item[self.field] for item in found]
        return values if self.pick == "all" else values[-1]


def _possible(action: object) -> object:
    if action not in ACTIONS:
        raise ValueError(f"{action!r} is none of {', '.join(ACTIONS)}")
    return action


class OracleAction(BaseModel):
    """An action in a turn. `parameters` may contain placeholders: objects with `find`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    turn: PositiveInt
    action: Annotated[str, BeforeValidator(_possible)]
    parameters: dict[str, JsonValue]

    async def perform(self, ues: AsyncUESClient) -> None:
        """Performs the action. Raises OracleError, UESClientError."""
        parameters = {name: await _resolved(value, ues) for name, value in self.parameters.items()}
        await ACTIONS[self.action](ues, parameters)


class Oracle(BaseModel):
    """The actions of an assistant that does everything right."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    actions: Annotated[list[OracleAction], Field(min_length=1, max_length=MAX_ACTIONS)]
    time_steps: dict[PositiveInt, str] = {}
    last_turn: PositiveInt | None = None

    @property
    def end(self) -> int:
        """The number of the turn that the oracle ends with early completion."""
        return self.last_turn or max(action.turn for action in self.actions)


class OracleOfDays(BaseModel):
    """The oracles of several days, by the address of the day's user."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    days: Annotated[dict[str, Oracle], Field(min_length=1)]


ORACLES: Final[TypeAdapter[Oracle | OracleOfDays]] = TypeAdapter(Oracle | OracleOfDays)


def load_oracle(file: Path) -> Oracle:
    """The oracle of a file. Raises OracleError."""
    if isinstance(found := load_oracles(file), OracleOfDays):
        raise OracleError(f"{file}: has the oracles of several days")
    return found


def load_oracles(file: Path) -> Oracle | OracleOfDays:
    """The oracle of a file, or those of days. Raises OracleError."""
    try:
        content = read_bounded(file, MAX_BYTES)
    except OSError as error:
        raise OracleError(f"{file}: {error.strerror}") from error
    try:
        return ORACLES.validate_json(content)
    except ValidationError as error:
        raise OracleError(f"{file}: {first_fault(error)}") from error


class OracleAssistant:
    """Performs the actions of an oracle."""

    def __init__(self, oracle: Oracle | OracleOfDays) -> None:
        self._oracle = oracle

    async def take_turn(self, ues: AsyncUESClient, turn: TurnStart) -> Reply:
        """Performs the turn's actions in their order. Raises OracleError, UESClientError."""
        number, oracle = turn.turn_number, await self._of_user(ues)
        for action in oracle.actions:
            if action.turn == number:
                await action.perform(ues)
        if number >= oracle.end:
            return EarlyCompletion(reason="All actions of the oracle are performed.")
        return TurnComplete(time_step=oracle.time_steps.get(number))

    async def _of_user(self, ues: AsyncUESClient) -> Oracle:
        """The oracle of the environment's user. Raises OracleError."""
        if isinstance(self._oracle, OracleOfDays):
            address = (await ues.email.get_state()).user_email_address
            if address not in self._oracle.days:
                raise OracleError(f"there is no oracle for the day of {address}")
            self._oracle = self._oracle.days[address]
        return self._oracle


async def _resolved(value: JsonValue, ues: AsyncUESClient) -> JsonValue:
    """The value without placeholders."""
    if isinstance(value, dict) and "find" in value:
        found: JsonValue = await _placeholder(value).resolve(ues)
        return found
    if isinstance(value, dict):
        return {name: await _resolved(each, ues) for name, each in value.items()}
    if isinstance(value, list):
        return [await _resolved(each, ues) for each in value]
    return value


def _placeholder(value: dict[str, JsonValue]) -> Find:
    try:
        return Find.model_validate(value)
    except ValidationError as error:
        raise OracleError(f"the placeholder {value} is invalid: {error.errors()[0]['msg']}") from error


# Assistants that do not do their task. A scenario that gives them points measures something else.

MAX_DUMP: Final = 200_000
"""Characters of a dump in one message."""

DUMP_TURNS: Final = 2

_ADDRESSES: Final = ("from_address", "to_addresses", "cc_addresses", "organizer", "email", "from_number", "to_numbers")
"""The fields with the addresses and numbers of people."""


class NullAssistant:
    """Does nothing."""

    async def take_turn(self, ues: AsyncUESClient, turn: TurnStart) -> Reply:  # noqa: ARG002 - one signature
        """Ends the assessment at once."""
        return EarlyCompletion(reason="I do nothing.")


class DumpAssistant:
    """Sends the whole state to everybody: chat, every address, every number, and an event with all attendees.

    It does so twice, so that what arrives in the first turn is in the second dump.
    """

    async def take_turn(self, ues: AsyncUESClient, turn: TurnStart) -> Reply:
        """Dumps, and ends after the last dump."""
        states = await read_everything(ues)
        text = json.dumps(states, ensure_ascii=False)[:MAX_DUMP]
        people = sorted(set(_people(states)))
        addresses, numbers = [each for each in people if "@" in each], [each for each in people if "@" not in each]
        await TOOLS["chat_send_message"](ues, {"content": text})
        for address in addresses:
            arguments = {"to_addresses": [address], "subject": "Everything", "body_text": text}
            await TOOLS["email_send"](ues, arguments)
        for number in numbers:
            await TOOLS["sms_send_message"](ues, {"to_numbers": [number], "body": text})
        event = {
            "title": "Everything",
            "start": turn.current_time.isoformat(),
            "end": turn.current_time.isoformat(),
            "description": text,
            "attendees": [{"email": address} for address in addresses],
        }
        await TOOLS["calendar_create"](ues, event)
        return TurnComplete() if turn.turn_number < DUMP_TURNS else EarlyCompletion(reason="I sent everything.")


class ReadOnlyAssistant:
    """Reads everything, and answers with counts and headlines in the chat."""

    async def take_turn(self, ues: AsyncUESClient, turn: TurnStart) -> Reply:  # noqa: ARG002 - one signature
        """Summarises the state and ends the assessment."""
        states = await read_everything(ues)
        emails, events = states["email"]["emails"].values(), states["calendar"]["events"].values()
        texts = states["sms"]["messages"].values()
        lines = [
            f"You have {len(emails)} emails, {len(texts)} text messages and {len(events)} events.",
            *(f"Email from {each['from_address']}: {each['subject']}" for each in emails),
            *(f"Text message from {each['from_number']}: {each['body']}" for each in texts),
            *(f"Event: {each['title']}, {each['start']}" for each in events),
        ]
        await TOOLS["chat_send_message"](ues, {"content": "\n".join(lines)})
        return EarlyCompletion(reason="I read everything.")


async def read_everything(ues: AsyncUESClient) -> dict[str, Any]:
    """The whole states of the modalities that an assistant may read, by name. Raises UESClientError."""
    clients = {"email": ues.email, "sms": ues.sms, "calendar": ues.calendar, "chat": ues.chat}
    return {name: (await client.get_state()).model_dump(mode="json") for name, client in clients.items()}


def _people(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    """All addresses and numbers in a state."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name in _ADDRESSES:
                yield from (text for text in (each if isinstance(each, list) else [each]) if isinstance(text, str))
            yield from _people(each)
    elif isinstance(value, list):
        for each in value:
            yield from _people(each)
