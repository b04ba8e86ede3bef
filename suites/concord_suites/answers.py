"""Reads the form that a question asks for out of an answer, which may be JSON or prose."""

import json
import re
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from pydantic import JsonValue

from concord.json_text import NoJsonError, json_in
from concord.suite import Answers
from concord_suites.grammar import Statement

T = TypeVar("T")

MAX_CHARACTERS: Final = 100_000
"""Characters of an answer in prose that is read. A longer one is unreadable: its rest could say something else."""

MAX_DIGITS: Final = 100
"""The most digits of a number. No question asks for a longer one, and `int` refuses very long ones."""

_NAME: Final = re.compile(r"(?<![\w/-])[^\W\d]\w*(?:[/-]\w+)+")
"""A name with a number in it, such as agent/1 or KX-44718."""

_NUMBER: Final = re.compile(r"(?<![\w.,])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.0+)?(?![\w]|[.,]\d)")

_SPACED: Final = re.compile(r"(?<![\w.,])\d+(?:[ \u00a0\u202f]\d+)+(?![\w]|[.,]\d)")
_GROUPED: Final = re.compile(r"[1-9]\d{0,2}(?:([ \u00a0\u202f])\d{3})(?:\1\d{3})*")


_DENIED: Final = re.compile(
    r"(?<!\w)(?:not|never|neither|cannot|\w+n['’]t)\s+(?:(?:be|the|a|an|equal|to|exactly)\s+)*[\"'*`“(\[]*\Z",  # noqa: RUF001
    re.IGNORECASE,
)
"""What stands before a value that an answer denies."""

_NEAR: Final = 60
"""Characters before a value in which it may be denied."""

_CODE: Final = Statement("code", "{value:code}")
_DATE: Final = Statement("date", "{value:date}")


class UnreadableError(ValueError):
    """An answer does not have the form that its question asks for."""


def read_each(
    answers: Answers, seats: Iterable[str], read: Callable[[JsonValue], T]
) -> tuple[dict[str, T], tuple[str, ...]]:
    """The answer of each of the seats that gave one, as `read` returns it, and the seats whose answer is unreadable.

    `read` raises UnreadableError for an unreadable answer.
    """
    found, unreadable = dict[str, T](), list[str]()
    for seat in seats:
        if answers.get(seat) is not None:
            try:
                found[seat] = read(answers[seat])
            except UnreadableError:
                unreadable.append(seat)
    return found, tuple(unreadable)


def as_number(answer: JsonValue) -> int:
    """The only whole number in an answer, apart from those in names such as agent/1. Raises UnreadableError."""
    text = _SPACED.sub(_joined, _NAME.sub(" ", _text(answer)))
    numbers = list(_NUMBER.finditer(text))
    found = {re.sub(r"\.0+$|[^\d-]", "", each[0]) for each in numbers}
    if any(len(each) > MAX_DIGITS for each in found) or len({int(each) for each in found}) != 1:
        raise UnreadableError("not exactly one number")
    check_affirmed(text, (each.start() for each in numbers))
    return int(found.pop())


def _joined(run: re.Match[str]) -> str:
    """One number, if spaces group the digits of the whole run by threes: `3 420`, but not `3 420 17`."""
    return re.sub(r"\D", "", run[0]) if _GROUPED.fullmatch(run[0]) else run[0]


def check_affirmed(text: str, places: Iterable[int]) -> None:
    """Raises UnreadableError if a value at one of these places of a text is denied: not 48,213."""
    if any(_DENIED.search(text, max(0, place - _NEAR), place) for place in places):
        raise UnreadableError("the answer says what it is not")


def states_number(answer: JsonValue, right: JsonValue) -> bool:
    """Whether an answer states exactly one number, which is the right one."""
    try:
        return as_number(answer) == right
    except UnreadableError:
        return False


def as_word(answer: JsonValue, domain: tuple[str, ...]) -> str:
    """The one member of `domain` that an answer names, whatever its case. Raises UnreadableError."""
    text = _text(answer).casefold()
    patterns = {each: rf"(?<!\w){re.escape(each.casefold())}(?!\w)" for each in domain}
    found = [each for each in domain if re.search(patterns[each], text)]
    if len(found) != 1:
        raise UnreadableError("not exactly one of the names to choose from")
    check_affirmed(text, (each.start() for each in re.finditer(patterns[found[0]], text)))
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
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        value = [each for each in re.split(r"[,;\n]\s*(?=\D|\d)", _text(value)) if each.strip()]
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
        stated = list(statement.read(_text(value)))
    except ValueError as error:
        raise UnreadableError("a day that no calendar has") from error
    found = {record["value"] for _, record in stated}
    if len(found) != 1:
        raise UnreadableError(f"not exactly one {statement.name}")
    check_affirmed(value, (place for place, _ in stated))
    return found.pop()


def _plain(item: object) -> str:
    if isinstance(item, float) and item.is_integer():
        return str(int(item))
    text = str(item).strip().strip("\"'`*.").strip()
    return text.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+", text) else text


def _text(answer: JsonValue) -> str:
    """The text of an answer. Raises UnreadableError for a number that is too long to be written, and a text that is."""
    try:
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    except ValueError as error:
        raise UnreadableError("a number without end") from error
    if len(text) > MAX_CHARACTERS:
        raise UnreadableError(f"more than {MAX_CHARACTERS} characters")
    return text


def _unwrapped(answer: JsonValue) -> JsonValue:
    """What the JSON in a text stands for, else the text."""
    if not isinstance(answer, str):
        return answer
    try:
        return json_in(answer)
    except NoJsonError:
        return answer
