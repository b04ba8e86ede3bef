"""The parameters of built-in evaluators."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from concord_assistant.scenario.selectors import Where


class Params(BaseModel):
    """The parameters of a built-in evaluator."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ItemParams(Params):
    """Items in the final state."""

    modality: Literal["email", "sms", "calendar", "chat", "contacts"]
    where: Where
    min_count: Annotated[int, Field(ge=0)] = 1
    max_count: Annotated[int, Field(ge=0)] | None = None
    new: bool = False
    """Whether only items count that are not in the initial state."""


class ChatParams(Params):
    """What the assistant has to tell its user, in a message of at most `max_characters`.

    A list in `contains` is one fact in several wordings, one of which suffices.
    """

    contains: Annotated[list[str | Annotated[list[str], Field(min_length=1)]], Field(min_length=1)]
    max_characters: PositiveInt = 2000
