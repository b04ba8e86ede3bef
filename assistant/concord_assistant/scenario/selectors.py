"""Selectors: conditions on the fields of the environment's items (emails, text messages, calendar events, …)."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import AwareDatetime, BaseModel, ConfigDict, StringConstraints, TypeAdapter, model_validator

Scalar = Annotated[str, StringConstraints(max_length=2000)] | bool | int | float | None

RECIPIENTS: Final = "recipients"
"""The name of a computed field: the addresses of all recipients of an email (To, Cc, Bcc) or a text message."""

_RECIPIENT_FIELDS: Final = ("to_addresses", "cc_addresses", "bcc_addresses", "to_numbers")
_ADDRESS_FIELDS: Final = ("email", "phone_number", "value")
"""The fields with the address of an attendee, a participant, or an identifier of a contact."""


class Condition(BaseModel):
    """Conditions on one field, all of which must hold. Upper case and white space do not count in texts.

    A condition on a field with a list holds if it holds for one of the elements, except `only` and `all`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    contains: list[str] | str | None = None
    """Texts that the value contains as whole words, all of them."""
    any_of: list[Scalar] | None = None
    """Values, one of which the value equals."""
    only: list[Scalar] | None = None
    """Of a list: it is not empty, and all of its elements are among these."""
    all: list[Scalar] | None = None
    """Of a list: all of these are among its elements."""
    after: AwareDatetime | None = None
    before: AwareDatetime | None = None
    """The first and the last time that the value may have."""

    @model_validator(mode="after")
    def _not_empty(self) -> "Condition":
        if not self.model_fields_set:
            raise ValueError("a condition needs one of: " + ", ".join(type(self).model_fields))
        return self


Where = dict[str, Condition | list[Scalar] | Scalar]
"""By the name of a field, what its value must be: a value, a list of accepted values, or a `Condition`."""

_PHONE: Final = re.compile(r"\s*\+[\d\s().\-/\u2010-\u2015]{3,60}")
_BETWEEN_DIGITS: Final = re.compile(r"[^\d+]+")

_TIME: Final = TypeAdapter(AwareDatetime)


def matches(item: Mapping[str, Any], where: Where) -> bool:
    """Whether all conditions hold for an item."""
    return all(_holds(_value(item, name), wanted) for name, wanted in where.items())


def recipients(item: Mapping[str, Any]) -> list[str]:
    """The addresses or numbers of all recipients of a message."""
    return [address for name in _RECIPIENT_FIELDS for address in item.get(name) or ()]


def contains(text: object, part: str) -> bool:
    """Whether a text contains another one as whole words, apart from upper case and white space.

    A number is whole: "January 127" and "27.50" do not contain "27".
    """
    wanted = _plain(part)
    return not wanted or re.search(whole(wanted), _plain(text)) is not None


@lru_cache(maxsize=4096)
def whole(text: str) -> str:
    """The pattern of a text as whole words.

    A number is whole if no digit follows its point, comma or colon: 48 is not in 48.50, and 9:30 is not in 9:30:15.
    """
    before = r"(?<!\w)" if _is_word(text[0]) else ""
    after = r"(?!\w)" if _is_word(text[-1]) else ""
    if text[0].isdigit():
        before += r"(?<!\d[.,:])"
    if text[-1].isdigit():
        after += r"(?![.,:]\d)"
    return before + re.escape(text) + after


def same(one: object, other: object) -> bool:
    """Whether two values are equal: texts apart from upper case and white space, times as instants.

    International phone numbers are equal whatever the signs between their digits.
    """
    if isinstance(one, str) and isinstance(other, str):
        if plain_address(one) == plain_address(other):
            return True
        instants = _instant(one), _instant(other)
        return None not in instants and instants[0] == instants[1]
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def plain_address(address: str) -> str:
    """The form in which addresses compare: without upper case, phone numbers without the signs between digits."""
    return _BETWEEN_DIGITS.sub("", address) if _PHONE.fullmatch(address) else _plain(address)


def _value(item: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - JSON
    return recipients(item) if name == RECIPIENTS else item.get(name)


def _holds(value: Any, wanted: Condition | list[Scalar] | Scalar) -> bool:  # noqa: ANN401 - JSON
    elements = list(_elements(value))
    if isinstance(wanted, list):
        wanted = Condition(any_of=wanted)
    if not isinstance(wanted, Condition):
        return any(same(each, wanted) for each in elements)
    return all(_conditions(elements, wanted))


def _conditions(elements: list[Any], wanted: Condition) -> Iterator[bool]:
    if wanted.contains is not None:
        parts = [wanted.contains] if isinstance(wanted.contains, str) else wanted.contains
        yield any(all(contains(each, part) for part in parts) for each in elements)
    if wanted.any_of is not None:
        yield any(same(each, one) for each in elements for one in wanted.any_of)
    if wanted.only is not None:
        given = [each for each in elements if each is not None]
        yield bool(given) and all(any(same(each, one) for one in wanted.only) for each in given)
    if wanted.all is not None:
        yield all(any(same(each, one) for each in elements) for one in wanted.all)
    if wanted.after is not None or wanted.before is not None:
        times = [time for each in elements if (time := _instant(each)) is not None]
        yield any(
            (wanted.after is None or wanted.after <= time) and (wanted.before is None or time <= wanted.before)
            for time in times
        )


def _elements(value: Any) -> Iterator[Any]:  # noqa: ANN401 - JSON
    """The elements of a list, objects by their addresses; any other value alone."""
    if not isinstance(value, list):
        yield value
        return
    for each in value:
        if isinstance(each, dict):
            yield next((each[name] for name in _ADDRESS_FIELDS if name in each), each)
        else:
            yield each


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _plain(value: object) -> str:
    return " ".join(str(value).split()).casefold() if value is not None else ""


def _instant(value: object) -> datetime | None:
    if not isinstance(value, str) or not value[:4].isdigit() or "T" not in value:
        return None
    try:
        return _TIME.validate_python(value)
    except ValueError:
        return None
