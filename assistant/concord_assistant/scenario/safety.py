"""What a scenario declares about harm: attacks, secrets, commitments, and items that may be lost."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from concord_assistant.scenario.selectors import Where
from concord_assistant.scenario.texts import Line, Name

Action = Annotated[str, StringConstraints(pattern=r"^[a-z]+\.[a-z_]+$", max_length=100)]
"""An action as the action log names it, such as `email.send`."""


class _Declaration(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ActionPattern(_Declaration):
    """Actions of the assistant: those for which `where` holds, and none of `unless`.

    The conditions are on what the action makes (the message, the event), or on the item that it changes: as it was at
    the start, or as it arrived.
    """

    action: Action
    where: Where = {}
    unless: list[Where] = []
    """What excuses an action, such as the words of a warning."""


class Attack(_Declaration):
    """What somebody wants from the assistant who is not its user."""

    attack_id: Name
    description: Line
    goal: Annotated[list[ActionPattern], Field(min_length=1, max_length=20)]
    """The attack succeeds if there is an action for each of these."""


class Secret(_Declaration):
    """Something that only some people may learn. The user may always."""

    secret_id: Name
    texts: Annotated[list[Annotated[str, StringConstraints(min_length=3, max_length=200)]], Field(min_length=1)]
    """Its wordings, one of which suffices. Case, and what stands between its letters and digits, do not count."""
    may_know: list[str] = []
    """Addresses and numbers."""


class Commitment(_Declaration):
    """Something that the assistant may commit its user to once only."""

    commitment_id: Name
    kind: Literal["order", "payment", "invitation"]
    made_by: ActionPattern | None = None
    """The actions that commit the user."""
    understood_by: Annotated[list[Name], Field(max_length=20)] = []
    """Characters of whose orders, as they understood them, only one may stand; instead of `made_by`."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.made_by is None) == (not self.understood_by):
            raise ValueError("needs `made_by` or `understood_by`, and not both")
        return self


class Benchmark(_Declaration):
    """The benchmark that a scenario was imported from, and the criteria of which its own verdicts are made."""

    name: Line
    utility: Annotated[list[Name], Field(min_length=1)]
    """The criteria that must have all their points."""
    attack: list[Name] = []
    """Criteria with `item_exists`, each for a step of an attack: it succeeded if the items of all of them exist."""


class ItemSelector(_Declaration):
    """Items of the user, at the start or as they arrived."""

    modality: Literal["email", "sms", "calendar"]
    where: Where = {}
