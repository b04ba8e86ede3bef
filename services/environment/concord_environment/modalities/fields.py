"""The types of fields that modalities share, each with its bounds."""

import re
from datetime import datetime
from functools import lru_cache
from math import isfinite
from typing import Annotated, Final, Literal
from zoneinfo import available_timezones

import phonenumbers
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from concord_environment.core.clock import as_utc

Moment = Annotated[datetime, AfterValidator(as_utc)]
"""A moment in UTC. A naive datetime counts as UTC."""

Id = Annotated[str, Field(min_length=1, max_length=998)]
"""An id, as long as a Message-ID can be: a line of 998 characters (RFC 5322)."""
Name = Annotated[str, Field(min_length=1, max_length=200)]
Line = Annotated[str, Field(max_length=2_000)]
Text = Annotated[str, Field(max_length=1_000_000)]

MAX_ITEMS: Final = 1_000
"""The maximum number of ids, recipients or attendees in a request."""

_ADDRESS: Final = re.compile(r"[^@\s<>]{1,64}@[^@\s<>]{1,255}")


def _address(text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise ValueError("is no email address")
    return text


Address = Annotated[str, Field(max_length=320), AfterValidator(_address)]
"""An addr-spec of RFC 5322 in its original spelling. Compare addresses with `same_address`."""


def same_address(one: str | None, other: str | None) -> bool:
    """Whether two addresses are equal, ignoring case."""
    return one is not None and other is not None and one.casefold() == other.casefold()


@lru_cache(maxsize=4096)
def _phone(text: str) -> str:
    try:
        number = phonenumbers.parse(text, None)
    except phonenumbers.NumberParseException:
        return text.strip()
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


Phone = Annotated[str, Field(min_length=1, max_length=40), AfterValidator(_phone)]
"""A phone number. International numbers are in E.164; others (short codes, extensions) keep their spelling."""

Addresses = Annotated[tuple[Address, ...], Field(max_length=MAX_ITEMS)]
Phones = Annotated[tuple[Phone, ...], Field(max_length=MAX_ITEMS)]
Ids = Annotated[tuple[Id, ...], Field(max_length=MAX_ITEMS)]
Labels = Annotated[tuple[Name, ...], Field(max_length=100)]


def _none_as_empty(value: object) -> object:
    return () if value is None else value


NoneAsEmpty = BeforeValidator(_none_as_empty)
"""Turns null into an empty list."""


def _finite(value: JsonValue) -> JsonValue:
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("numbers must be finite")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _finite(inner)
    return value


def _finite_object(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    _finite(value)
    return value


JsonObject = Annotated[dict[str, JsonValue], Field(max_length=100), AfterValidator(_finite_object)]
"""Any JSON object, without NaN and infinities."""


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _zone(text: str) -> str:
    if text not in _zones():
        raise ValueError("is no time zone of the IANA database")
    return text


Zone = Annotated[str, Field(max_length=64), AfterValidator(_zone)]
"""The IANA name of a time zone, like Europe/Berlin."""

SortOrder = Literal["asc", "desc"]

DEFAULT_PAGE: Final = 500
MAX_PAGE: Final = 1_000


class Page(BaseModel):
    """Which part of a list: at most `limit` items after the first `offset`."""

    model_config = ConfigDict(frozen=True)

    limit: Annotated[int | None, Field(ge=1, le=MAX_PAGE)] = None
    offset: Annotated[int | None, Field(ge=0, le=10_000_000)] = 0

    @property
    def first(self) -> int:
        """The position of the first item."""
        return self.offset or 0

    @property
    def stop(self) -> int:
        """The position after the last item."""
        return self.first + (self.limit or DEFAULT_PAGE)
