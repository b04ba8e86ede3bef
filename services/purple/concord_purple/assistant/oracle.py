"""The oracle: performs the actions that a scenario's `oracle.json` lists (docs/oracle.md)."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, PositiveInt, ValidationError

from concord.files import read_bounded
from concord_environment_client import AsyncUESClient
from concord_purple.assistant.items import Modality, Where, fits, read_items
from concord_purple.assistant.messages import EarlyCompletion, Reply, TurnComplete, TurnStart
from concord_purple.assistant.tools import ACTIONS

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


def _known(action: object) -> object:
    if action not in ACTIONS:
        raise ValueError(f"{action!r} is none of {', '.join(ACTIONS)}")
    return action


class OracleAction(BaseModel):
    """An action in a turn. `parameters` may contain placeholders: objects with `find`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    turn: PositiveInt
    action: Annotated[str, BeforeValidator(_known)]
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


def load_oracle(file: Path) -> Oracle:
    """The oracle of a file. Raises OracleError."""
    try:
        content = read_bounded(file, MAX_BYTES)
    except OSError as error:
        raise OracleError(f"{file}: {error.strerror}") from error
    try:
        return Oracle.model_validate_json(content)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise OracleError(f"{file}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}") from error


class OracleAssistant:
    """Performs the actions of an oracle."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    async def take_turn(self, ues: AsyncUESClient, turn: TurnStart) -> Reply:
        """Performs the turn's actions in their order. Raises OracleError, UESClientError."""
        number = turn.turn_number
        for action in self._oracle.actions:
            if action.turn == number:
                await action.perform(ues)
        if number >= self._oracle.end:
            return EarlyCompletion(reason="All actions of the oracle are performed.")
        return TurnComplete(time_step=self._oracle.time_steps.get(number))


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
