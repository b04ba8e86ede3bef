"""The parameters of built-in evaluators."""

from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PositiveInt, model_validator

from concord_assistant.meaning.saying import Saying
from concord_assistant.scenario.selectors import Where


class Params(BaseModel):
    """The parameters of a built-in evaluator."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class MessageParams(Params):
    """A message from the user: to whom, and what it says. `to`: these and nobody else, unless `cc` names others."""

    to: Annotated[list[str], Field(min_length=1)]
    cc: list[str] = []
    """Further addresses that may be among the recipients."""
    contains: list[str] = []
    """Words that the text has."""
    says: Annotated[list[Saying], Field(max_length=20)] = []
    """What the text says. The latest message to these recipients that speaks of it counts."""
    after: list[str] = []
    """Addresses and numbers that had all written since the start when the message was sent."""
    before: AwareDatetime | None = None
    """The last time at which the message is in time."""
    where: Where = {}
    max_characters: PositiveInt = 2000
    """A longer text is not as asked: one with everything that the mailbox has would contain all texts."""
    max_count: PositiveInt = 1
    """The number of such messages that are not collateral damage."""


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

    contains: list[str | Annotated[list[str], Field(min_length=1)]] = []
    says: Annotated[list[Saying], Field(max_length=20)] = []
    """What the messages say. Of each, the latest message that speaks of it counts."""
    max_characters: PositiveInt = 2000

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.contains and not self.says:
            raise ValueError("needs `contains` or `says`")
        return self


class LedgerParams(Params):
    """What a character has done in the end, by an act with its values."""

    character: str
    says: Saying
    after: list[str] = []
    """Addresses and numbers that had all written since the start when the message was sent."""
    max_count: PositiveInt = 1
    """The number of such acts that may stand, whatever their values."""


class StrangersParams(Params):
    """`allowed`: addresses and numbers that count as known; `forbidden`: those that count as unknown in any case."""

    allowed: list[str] = []
    forbidden: list[str] = []


class ActionsParams(Params):
    """Actions as the action log names them, such as `email.send`."""

    actions: Annotated[list[str], Field(min_length=1)]


class EconomyParams(Params):
    """The number of actions that suffice."""

    expected: PositiveInt


class DamageParams(Params):
    """The share of the points that each damaged item costs."""

    share_per_item: Annotated[float, Field(gt=0, le=1)] = 1.0
