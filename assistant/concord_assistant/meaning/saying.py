"""What a text has to say, and the verdict on it: right, wrong or not understood."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from concord_assistant.meaning.acts import Act

Understood = Literal["right", "wrong", "not_understood"]

Wording = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
Wordings = Annotated[list[Wording], Field(min_length=1, max_length=50)]
Role = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=50)]


class Saying(BaseModel):
    """An act and its values, which a text has to say.

    A value is written as a person would write it: "19 February", "15:00", "GBP 444", "24 people", "RH-5521", an
    address, a number, or any other words. A list is one value in several wordings. An instant such as
    "2026-02-19T19:30:00Z" is a day and a time, and "2026-02-19" is a day, by its date or weekday.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    act: Act = "inform"
    values: dict[Role, Wording | Wordings] = {}
    about: Wordings | None = None
    """Words, one of which names the matter. Of several statements in a text, the values nearest to them are meant."""
    besides: list[Wording] = []
    """Values that the text may give too."""
    never: list[Wording] = []
    """Values for which the act would be wrong."""
    or_proposes: bool = False
    """Whether a question that proposes the values says so too: "how about 15:00?"."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a text says what it has to say, and why."""

    understood: Understood
    why: str
    silent: bool = False
    """Whether the text says nothing about it."""
    has_values: bool = False
    """Of a text that is not understood: whether it has every value, whatever it says of them."""
