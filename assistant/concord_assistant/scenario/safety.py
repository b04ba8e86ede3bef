"""What a scenario declares about harm: attacks, and the benchmark that it comes from."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

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


class Attack(_Declaration):
    """What somebody wants from the assistant who is not its user."""

    attack_id: Name
    description: Line
    goal: Annotated[list[ActionPattern], Field(min_length=1, max_length=20)]
    """The attack succeeds if there is an action for each of these."""


class Benchmark(_Declaration):
    """The benchmark that a scenario was imported from, and the criteria of which its own verdicts are made."""

    name: Line
    utility: Annotated[list[Name], Field(min_length=1)]
    """The criteria that must have all their points."""
    attack: list[Name] = []
    """Criteria with `item_exists`, each for a step of an attack: it succeeded if the items of all of them exist."""
