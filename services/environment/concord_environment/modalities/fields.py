"""Field types with bounds and descriptions, shared by the modalities."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import lru_cache, partial
from math import isfinite
from typing import Annotated, Any, Final, Literal
from zoneinfo import available_timezones

import phonenumbers
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from concord_environment.core.clock import as_utc
from concord_environment.core.events import MAX_PRIORITY

Moment = Annotated[
    datetime, AfterValidator(as_utc), Field(description="An RFC 3339 time. Without an offset, it is in UTC.")
]
"""A time, converted to UTC. A naive datetime is in UTC already."""

Id = Annotated[str, Field(min_length=1, max_length=998)]
"""An id of up to 998 characters, the length limit of a Message-ID line (RFC 5322)."""
Name = Annotated[str, Field(min_length=1, max_length=200)]
Line = Annotated[str, Field(max_length=2_000)]
Text = Annotated[str, Field(max_length=1_000_000)]

MAX_ITEMS: Final = 1_000
"""The maximum number of ids, recipients or attendees in a request."""

_ADDRESS: Final = re.compile(r"[^@\s<>]{1,64}@[^@\s<>]{1,255}")


def _checked_address(text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise ValueError("not an email address")
    return text


Address = Annotated[
    str,
    Field(max_length=320, description="An email address without a display name."),
    AfterValidator(_checked_address),
]
"""An addr-spec of RFC 5322 in its original spelling. Compare addresses with `same_address`."""


def same_address(first: str | None, second: str | None) -> bool:
    """Whether two addresses are equal, ignoring case. None equals nothing."""
    return first is not None and second is not None and first.casefold() == second.casefold()


Phone = Annotated[str, Field(min_length=1, max_length=40, description="A phone number, in any spelling.")]
"""A phone number in its original spelling. Compare numbers with `same_phone`, or by their `phone_key`."""

_BETWEEN_DIGITS: Final = re.compile(r"[\s().\-/]+")


@lru_cache(maxsize=4096)
def phone_key(number: str) -> str:
    """A phone number in a form that all its spellings share: E.164 for an international number.

    Other numbers, such as short codes, are without the signs between their digits.
    """
    try:
        parsed = phonenumbers.parse(number, None)
    except phonenumbers.NumberParseException:
        return _BETWEEN_DIGITS.sub("", number).casefold()
    return phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)


def same_phone(first: str, second: str) -> bool:
    """Whether two phone numbers are equal, whatever their spelling."""
    return first == second or phone_key(first) == phone_key(second)


def distinct_phones(numbers: Iterable[str]) -> list[str]:
    """Phone numbers by their keys, each in the first of its spellings."""
    spellings: dict[str, str] = {}
    for number in numbers:
        spellings.setdefault(phone_key(number), number)
    return [spellings[key] for key in sorted(spellings)]


Addresses = Annotated[tuple[Address, ...], Field(max_length=MAX_ITEMS)]
Phones = Annotated[tuple[Phone, ...], Field(max_length=MAX_ITEMS)]
Ids = Annotated[tuple[Id, ...], Field(max_length=MAX_ITEMS)]
Labels = Annotated[tuple[Name, ...], Field(max_length=100)]


def _none_as_empty(value: object) -> object:
    return () if value is None else value


NoneAsEmpty = BeforeValidator(_none_as_empty)
"""Accepts null for an empty list."""


def _require_finite(value: JsonValue) -> None:
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("numbers must be finite")
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _require_finite(item)


def _finite_object(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    _require_finite(value)
    return value


JsonObject = Annotated[dict[str, JsonValue], Field(max_length=100), AfterValidator(_finite_object)]
"""A JSON object with up to 100 fields, without NaN and infinities."""


@lru_cache(maxsize=1)
def _zone_names() -> frozenset[str]:
    return frozenset(available_timezones())


def _checked_zone(text: str) -> str:
    if text not in _zone_names():
        raise ValueError("not a time zone of the IANA database")
    return text


Zone = Annotated[
    str,
    Field(max_length=64, description="The IANA name of a time zone, such as Europe/Berlin."),
    AfterValidator(_checked_zone),
]
"""The IANA name of a time zone, such as Europe/Berlin."""

TimeScale = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]
"""Simulated seconds per second of wall-clock time."""

EventPriority = Annotated[int, Field(ge=0, le=MAX_PRIORITY)]
"""Of events due at one time, those with a higher priority execute first."""

SortOrder = Literal["asc", "desc"]

MAX_PAGE: Final = 10_000_000


class Page(BaseModel):
    """A part of a list: up to `limit` items after the first `offset` items. Without a `limit`, all of them."""

    model_config = ConfigDict(frozen=True)

    limit: Annotated[
        int | None, Field(ge=1, le=MAX_PAGE, description="The maximum number of results. By default, all.")
    ] = None
    offset: Annotated[int | None, Field(ge=0, le=MAX_PAGE, description="The number of results to skip.")] = 0

    @property
    def first(self) -> int:
        """The position of the first item."""
        return self.offset or 0

    @property
    def stop(self) -> int:
        """The position after the last item, which may be beyond the end of the list."""
        return self.first + (self.limit or sys.maxsize)


Filters = Mapping[str, Callable[[Any, Any], bool]]
"""For each field of a query that filters, whether a row matches a value of the field."""


def given_filters(query: BaseModel, filters: Filters) -> dict[str, Callable[[Any], bool]]:
    """The tests of a row that the given fields of a query make, by field."""
    given = {name: getattr(query, name) for name in filters}
    return {name: partial(filters[name], value) for name, value in given.items() if value is not None}


def contains(text: str, part: str) -> bool:
    """Whether a text contains a part, in any case."""
    return part.casefold() in text.casefold()
