"""Values as forms and answers state them, in one spelling."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from pydantic import JsonValue

from concord.suite import Kind
from concord.suite.value_reader import read
from concord_assistant.office.plan import ValueKind

_READ: Final = {"number": Kind.NUMBER, "code": Kind.CODE, "codes": Kind.CODE, "date": Kind.DATE}
_FLAGS: Final = {"true": "true", "yes": "true", "false": "false", "no": "false"}
_SMALL: Final = re.compile(r"[-+]?\d{1,4}(?:\.0+)?")
_MINUTES: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ,]+(?:at )?(\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|UTC|GMT|[+-]\d\d:?\d\d)?", re.I
)
_SMALL_IN_TEXT: Final = re.compile(r"(?<![\w.,:/-])(\d,\d{3}|\d{1,4})(?:[.,]0+)?(?![\w:/-]|[.,]\d)")
_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\+\d[\d ()./-]{5,30}\d")


def canonical(kind: ValueKind, value: JsonValue, options: Sequence[str] = ()) -> str | None:
    """The value of that kind that a text, a number or a list states. None if it states none, or several.

    Times without an offset are in UTC.
    """
    if kind == "codes":
        codes = _codes(value)
        return " ".join(sorted(codes)) if codes or value == [] else None
    text = _text(value)
    if text is None:
        return None
    match kind:
        case "flag":
            return _FLAGS.get(text.strip(" .").casefold())
        case "choice":
            found = {each for each in options if re.search(rf"(?<!\w){re.escape(each)}(?!\w)", text, re.I)}
        case "time":
            found = {moment for each in _MINUTES.finditer(text) if (moment := _moment(*each.groups()))}
        case "address":
            found = {plain_address(each[0]) for each in _ADDRESS.finditer(text)}
        case "name":
            found = (
                {each.casefold() for each in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", text)} if text.strip() else set()
            )
            return next(iter(found)) if len(found) == 1 else None
        case "number" if _SMALL.fullmatch(text.strip()):
            return str(int(float(text)))
        case "number":
            found = {each.value.text for each in read(text)[1] if each.value.kind is Kind.NUMBER}
            found = found or {each[1].replace(",", "") for each in _SMALL_IN_TEXT.finditer(text)}
        case _:
            found = {each.value.text for each in read(text)[1] if each.value.kind is _READ[kind]}
    return next(iter(found)) if len(found) == 1 else None


def plain_address(address: str) -> str:
    """An address in lower case, a number without the signs between its digits."""
    return address.strip().casefold() if "@" in address else re.sub(r"[^\d+]", "", address)


def time_text(moment: datetime) -> str:
    """The canonical spelling of an instant, in UTC."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def stated(moment: datetime) -> str:
    """An instant as people of the office write it."""
    return f"{moment.astimezone(UTC):%Y-%m-%d at %H:%M} UTC"


def _moment(day: str, clock: str, zone: str | None) -> str | None:
    offset = "+00:00" if zone is None or zone[0] not in "+-" else zone
    try:
        moment = datetime.fromisoformat(f"{day}T{clock.zfill(5)}{offset}")
    except ValueError:
        return None
    return time_text(moment)


def _codes(value: JsonValue) -> set[str]:
    listed = value if isinstance(value, list) else [value]
    return {each.value.text for item in listed for each in read(str(item))[1] if each.value.kind is Kind.CODE}


def _text(value: JsonValue) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list):
        return _text(value[0]) if len(value) == 1 else None
    return str(value) if isinstance(value, str | int | float) else None
