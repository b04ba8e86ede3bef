"""Reads the form that a question asks for out of an answer, which may be JSON or prose."""

import json
import re
from typing import Final

from pydantic import JsonValue

from concord_suites.grammar import Statement

MAX_CHARACTERS: Final = 20_000
"""Of an answer in prose, so many characters are read."""

_NUMBER: Final = re.compile(r"(?<![\w.,])-?(?:\d{1,3}(?:[, \u00a0\u202f]\d{3})+|\d+)(?:\.0+)?(?![\w]|[.,]\d)")


_CODE: Final = Statement("code", ("{value:code}",))
_DATE: Final = Statement("date", ("{value:date}",))


class UnreadableError(ValueError):
    """An answer does not have the form that its question asks for."""


def as_number(answer: JsonValue) -> int:
    """The whole number that an answer gives. In prose, there must be only one. Raises UnreadableError."""
    value = _unwrapped(answer)
    if isinstance(value, bool) or value is None:
        raise UnreadableError("no number")
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        found = {int(re.sub(r"\.0+$|[^\d-]", "", each)) for each in _NUMBER.findall(value[:MAX_CHARACTERS])}
        if len(found) == 1:
            return found.pop()
    raise UnreadableError("not exactly one number")


def as_word(answer: JsonValue, domain: tuple[str, ...]) -> str:
    """The one member of `domain` that an answer names, whatever its case. Raises UnreadableError."""
    value = _unwrapped(answer)
    if not isinstance(value, str | int):
        raise UnreadableError("not one name")
    text = str(value)[:MAX_CHARACTERS].casefold()
    found = [each for each in domain if re.search(rf"(?<!\w){re.escape(each.casefold())}(?!\w)", text)]
    if len(found) != 1:
        raise UnreadableError("not exactly one of the names to choose from")
    return found[0]


def as_code(answer: JsonValue) -> str:
    """The one code that an answer states, whatever its case. Raises UnreadableError."""
    value = _unwrapped(answer)
    return _only(_CODE, value.upper() if isinstance(value, str) else value)


def as_date(answer: JsonValue) -> str:
    """The one day that an answer states, as year-month-day. Raises UnreadableError."""
    return _only(_DATE, _unwrapped(answer))


def as_list(answer: JsonValue) -> list[str]:
    """The items of a list, or of a text that separates them by commas, semicolons or lines, as text.

    Raises UnreadableError.
    """
    value = _unwrapped(answer)
    if isinstance(value, str):
        value = [each for each in re.split(r"[,;\n]\s*(?=\D|\d)", value[:MAX_CHARACTERS]) if each.strip()]
    if not isinstance(value, list) or not all(isinstance(each, str | int | float) for each in value):
        raise UnreadableError("not a list")
    return [_plain(each) for each in value]


def as_mapping(answer: JsonValue) -> dict[str, JsonValue]:
    """The JSON object that an answer is or holds. Raises UnreadableError."""
    value = _unwrapped(answer)
    if not isinstance(value, dict):
        raise UnreadableError("not a JSON object")
    return value


def _only(statement: Statement, value: JsonValue) -> str:
    if not isinstance(value, str):
        raise UnreadableError(f"no {statement.name}")
    try:
        found = {record["value"] for _, record in statement.read(value[:MAX_CHARACTERS])}
    except ValueError as error:
        raise UnreadableError("a day that no calendar has") from error
    if len(found) != 1:
        raise UnreadableError(f"not exactly one {statement.name}")
    return found.pop()


def _plain(item: object) -> str:
    if isinstance(item, float) and item.is_integer():
        return str(int(item))
    text = str(item).strip().strip("\"'`*.").strip()
    return text.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+", text) else text


def _unwrapped(answer: JsonValue) -> JsonValue:
    """JSON in a text as what it stands for, and a lone member of an object as its value."""
    if isinstance(answer, str):
        try:
            return _unwrapped(json.loads(answer)) if answer.lstrip()[:1] in set('{["') else answer
        except (json.JSONDecodeError, RecursionError):
            return answer
    return answer
