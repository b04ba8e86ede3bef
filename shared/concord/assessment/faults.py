"""The faults that an assessment plants in the network between the seats of its teams, to see what they cost.

A team sees what its network does, and nothing else. The evaluator sees the record of the wire, and never these.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from concord.wire.roster import Id

MAX_FAULTS = 100
MAX_DELAY = 100
MAX_CHARACTERS = 1_000_000

RoundNumber = Annotated[int, Field(ge=1)]


class _Planted(BaseModel):
    """A fault, from its first round to its last; without a last one, to the end of the trial."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    first_round: RoundNumber = 1
    last_round: RoundNumber | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.last_round is not None and self.last_round < self.first_round:
            raise ValueError("`last_round` is before `first_round`")
        return self

    @property
    def seats(self) -> tuple[str, ...]:
        """The seats that it names."""
        raise NotImplementedError

    def is_on(self, number: int) -> bool:
        """Whether it is there in a round."""
        return self.first_round <= number and (self.last_round is None or number <= self.last_round)


class _OnMessages(_Planted):
    """A fault in the messages of a seat: those to one receiver, or to all."""

    sender: Id
    receiver: Id | None = None

    @property
    def seats(self) -> tuple[str, ...]:
        return (self.sender,) if self.receiver is None else (self.sender, self.receiver)

    def concerns(self, sender: str, receiver: str) -> bool:
        """Whether it is in the messages from one seat to another."""
        return sender == self.sender and self.receiver in {None, receiver}


class OnMessages(_OnMessages):
    """Messages are lost, arrive twice, arrive after the next one, or have a digit of a number changed."""

    kind: Literal["drop", "duplicate", "reorder", "garble"]


class Delay(_OnMessages):
    """Messages arrive later by so many rounds; by calls, by so many seconds."""

    kind: Literal["delay"]
    rounds: Annotated[int, Field(ge=1, le=MAX_DELAY)] = 1
    seconds: Annotated[float, Field(gt=0, le=MAX_DELAY)] | None = None


class Truncate(_OnMessages):
    """Of each message, only the first characters arrive."""

    kind: Literal["truncate"]
    characters: Annotated[int, Field(ge=0, le=MAX_CHARACTERS)]


class Swap(_OnMessages):
    """What is sent to one of two receivers arrives at the other."""

    kind: Literal["swap"]
    receiver: Id
    instead: Id

    @property
    def seats(self) -> tuple[str, ...]:
        return (self.sender, self.receiver, self.instead)

    def concerns(self, sender: str, receiver: str) -> bool:
        """Whether it is in the messages from one seat to another."""
        return sender == self.sender and receiver in {self.receiver, self.instead}


class OnSeat(_Planted):
    """Nothing that a seat sends arrives (`silence`), or something else replies in its place: nothing (`null`), or each
    message to its own sender (`echo`)."""

    kind: Literal["silence", "null", "echo"]
    seat: Id

    @property
    def seats(self) -> tuple[str, ...]:
        return (self.seat,)


class Chatter(_OnMessages):
    """In each round, a message that says nothing arrives from a seat."""

    kind: Literal["chatter"]


class Cut(_Planted):
    """Two seats have no connection. A sender is told that its message was not delivered."""

    kind: Literal["cut"]
    edge: tuple[Id, Id]

    @property
    def seats(self) -> tuple[str, ...]:
        return self.edge


NOT_IN_CALLS: Final[Mapping[str, str]] = {
    "reorder": "a caller waits for its answer, so that no message overtakes another",
    "null": "an agent that is called is its own server",
    "echo": "an agent that is called is its own server",
    "chatter": "nothing can call in the name of a seat",
}
"""The kinds that cannot exist between seats that call each other, and why."""


def unsuitable(fault: "PlantedFault", *, by_calls: bool) -> str | None:
    """Why a fault cannot be planted in this exchange of messages; None if it can."""
    seconds = fault.seconds if isinstance(fault, Delay) else None
    if not by_calls:
        return None if seconds is None else "`seconds` delay calls; in rounds, `rounds` do"
    if fault.kind in NOT_IN_CALLS:
        return f"{fault.kind} cannot exist by calls: {NOT_IN_CALLS[fault.kind]}"
    if fault.first_round > 1 or fault.last_round is not None:
        return f"{fault.kind} names a round, and there are none by calls"
    if isinstance(fault, Delay) and seconds is None:
        return "a delay by calls needs `seconds`"
    return None


PlantedFault = Annotated[OnMessages | Delay | Truncate | Swap | OnSeat | Chatter | Cut, Field(discriminator="kind")]
