"""What somebody understands a text to do: an act with the values in its roles, whatever they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from concord_assistant.meaning.saying import Saying, values_of


@dataclass(frozen=True, slots=True)
class Understood:
    """An act as it was understood. `unclear`: it may be meant, but not how; `nothing`: it is not meant."""

    outcome: Literal["done", "unclear", "nothing"]
    values: Mapping[str, tuple[str, ...]]
    """By role, the values in one spelling. Several only if several may be done at once."""


NOTHING = Understood("nothing", {})


def understood(text: str, example: Saying, *, many: bool = False) -> Understood:
    """What a text does. `example` has the act, and for each role a value of the kind that is understood.

    "Please send 4,000 tyres" is understood as 4000 from the example "40 tyres". `many`: several values are several
    acts, instead of a contradiction.
    """
    reading = values_of(text, example)
    if reading.act == "wrong":
        return NOTHING
    if reading.act == "not_understood" or reading.taken_back:
        return Understood("unclear" if reading.named else "nothing", {})
    unclear = reading.open or any(not found or (len(found) > 1 and not many) for found in reading.values.values())
    return Understood("unclear", {}) if unclear else Understood("done", reading.values)
