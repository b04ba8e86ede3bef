"""ISO 8601 durations, as scenarios and messages state them."""

from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator


def _text(value: object) -> object:
    if not isinstance(value, str | timedelta):
        raise ValueError("a duration is ISO 8601 text such as PT30M")
    if isinstance(value, str) and not value.startswith("P"):
        raise ValueError(f"{value!r} is not an ISO 8601 duration such as PT30M")
    return value


def _positive(value: timedelta) -> timedelta:
    if value <= timedelta():
        raise ValueError("the duration must be positive")
    return value


def _not_negative(value: timedelta) -> timedelta:
    if value < timedelta():
        raise ValueError("the duration must not be negative")
    return value


Delay = Annotated[timedelta, BeforeValidator(_text), AfterValidator(_not_negative)]
"""An ISO 8601 duration of zero or more, such as `PT30M`."""

Duration = Annotated[timedelta, BeforeValidator(_text), AfterValidator(_positive)]
"""An ISO 8601 duration above zero, such as `PT30M`."""
