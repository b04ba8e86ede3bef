"""Reads the form that a question asks for out of an answer, which may be JSON or prose."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias, TypeVar

from pydantic import JsonValue

from concord.json_text import NoJsonError, placed_json_in
from concord.suite import Answers
from concord.suite.denial import is_denied
from concord.suite.number_text import plain_numbers
from concord_suites.grammar import Statement

T = TypeVar("T")

MAX_CHARACTERS: Final = 100_000
"""Characters of an answer in prose that is read. A longer one is unreadable: its rest could say something else."""

MAX_DIGITS: Final = 100
"""The most digits of a number. No question asks for a longer one, and `int` refuses very long ones."""

_NAME: Final = re.compile(r"(?<![\w/-])[^\W\d]\w*(?:[/-]\w+)+")
"""A name with a number in it, such as agent/1 or KX-44718."""

_NUMBER: Final = re.compile(
    r"(?<![\w.,])-?(?:\d{1,3}([,'\u2019_])\d{3}(?:\1\d{3})*|[1-9]\d{0,2}\.(?!000)\d{3}(?:\.\d{3})*|\d+)(?:\.0+)?"
    r"(?![\w]|[.,]\d)"
)

_SPACED: Final = re.compile(r"(?<![\w.,])\d+(?:[ \u00a0\u202f]\d+)+(?![\w]|[.,]\d)")
_GROUPED: Final = re.compile(r"[1-9]\d{0,2}(?:([ \u00a0\u202f])\d{3})(?:\1\d{3})*")
_CODE: Final = Statement("code", "{value:code}")
_DATE: Final = Statement("date", "{value:date}")


_COUNTED: Final = (
    r"(?:rounds?|turns?|seats?|agents?|participants?|teammates?|members|others|steps?|messages?|briefs?|attempts?|tries|"
    r"parts?|slips?|versions?|confidence|probability|certainty)"
)
_IN_PASSING: Final = re.compile(
    rf"\b{_COUNTED}\W{{0,4}}\d+(?:\.\d+)?%?(?![\w,])|(?<![\w.,])\d+ (?:other )?{_COUNTED}\b", re.I
)
"""A number that counts rounds, seats and the like: of 3 seats, (as of round 2), "confidence": 0.9."""
_MARK: Final = re.compile(r"\banswers?\b(?:\s+(?:is|are|be|=)\b|\W{0,4}[:=])[^.;\n]*\Z|\\boxed\{\Z", re.I)
"""What stands before the value that an answer commits to, among others of its type."""
_MARKED_NEAR: Final = 80
_THOUGHT: Final = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.I)
_KEYS: Final = frozenset({"answer", "final_answer", "result", "solution", "output", "value", "response", "conclusion"})
"""Keys under which an object holds an answer, beside an explanation or without."""


class UnreadableError(ValueError):
    """An answer does not have the form that its question asks for."""


def read_each(
    answers: Answers, seats: Iterable[str], read: Callable[[JsonValue], T]
) -> tuple[dict[str, T], tuple[str, ...]]:
    """The answer of each of the seats that gave one, as `read` returns it, and the seats whose answer is unreadable.

    `read` gets the answer without what is wrapped around it, and raises UnreadableError for an unreadable one.
    """
    found, unreadable = dict[str, T](), list[str]()
    for seat in seats:
        if answers.get(seat) is not None:
            try:
                found[seat] = read(unwrapped(answers[seat]))
            except UnreadableError:
                unreadable.append(seat)
    return found, tuple(unreadable)


def unwrapped(answer: JsonValue) -> JsonValue:
    """What an answer gives as its answer: without thoughts, the JSON in it, and of this the member with such a key.

    A text without such JSON is returned as it is, and so are objects without such a key. Raises UnreadableError for
    JSON that the text around it denies.
    """
    if isinstance(answer, str):
        answer = _THOUGHT.sub(" ", _text(answer)).strip()
        try:
            held, start, end = placed_json_in(answer)
        except NoJsonError:
            return answer
        if is_denied(answer, start, end):
            raise UnreadableError("the answer says what it is not")
        if isinstance(held, str):
            return unwrapped(held)
        answer = held if isinstance(held, dict | list) else answer
    inner = _member(answer)
    return unwrapped(inner) if isinstance(inner, str) and inner is not answer else inner


def _member(value: JsonValue) -> JsonValue:
    """The only member of an object whose key says that it is the answer, or that is an object or a list; else the value
    itself."""
    while isinstance(value, dict):
        keys = [key for key in value if re.sub(r"\W+", "_", key.strip().casefold()) in _KEYS]
        if not keys and len(value) == 1 and isinstance(next(iter(value.values())), dict | list):
            keys = [key for key in value if not is_denied(f"{key}: ", len(key) + 2, len(key) + 2)]
        if len(keys) != 1:
            return value
        value = value[keys[0]]
    return value


Found: TypeAlias = tuple[T, int, int]
"""A value, and where it begins and ends in the text."""


def committed(text: str, found: Iterable[Found[T]]) -> T:
    """The one value that a text commits to. Raises UnreadableError if there is none, or if there are several.

    A denied value is none, wherever else it stands. Among several, those count that are called the answer.
    """
    denied, stated = set[T](), list[Found[T]]()
    for value, start, end in found:
        if is_denied(text, start, end):
            denied.add(value)
        else:
            stated.append((value, start, end))
    kept = {value for value, *_ in stated} - denied
    if len(kept) > 1:
        kept = {value for value, start, _ in stated if _MARK.search(text, max(0, start - _MARKED_NEAR), start)} - denied
    if len(kept) != 1:
        raise UnreadableError("the answer says what it is not" if denied and not kept else "not exactly one value")
    return kept.pop()


def numbers_in(text: str) -> Iterator[Found[int]]:
    """The whole numbers of a text, but for those in names such as agent/1, and those that count rounds or seats."""
    plain = _SPACED.sub(_joined, _IN_PASSING.sub(_blank, _NAME.sub(_blank, text)))
    for each in _NUMBER.finditer(plain):
        digits = re.sub(r"\.0+$|[^\d-]", "", each[0])
        if len(digits) > MAX_DIGITS:
            raise UnreadableError("a number without end")
        yield int(digits), each.start(), each.end()


def as_number(answer: JsonValue) -> int:
    """The whole number that an answer commits to. Raises UnreadableError."""
    text = plain_numbers(_text(answer))
    return committed(text, numbers_in(text))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _joined(run: re.Match[str]) -> str:
    """One number, if spaces group the digits of the whole run by threes: `3 420`, but not `3 420 17`."""
    return re.sub(r"\D", "", run[0]).ljust(len(run[0])) if _GROUPED.fullmatch(run[0]) else run[0]


def states_number(answer: JsonValue, right: JsonValue) -> bool:
    """Whether an answer states exactly one number, which is the right one."""
    try:
        return as_number(answer) == right
    except UnreadableError:
        return False


def as_word(answer: JsonValue, domain: tuple[str, ...]) -> str:
    """The one member of `domain` that an answer commits to, whatever its case. Raises UnreadableError."""
    text = _text(answer)
    return committed(text, words_in(text, domain))


def words_in(text: str, domain: Iterable[str]) -> Iterator[Found[str]]:
    """Where a text names the members of a domain, whatever their case."""
    for each in domain:
        for named in re.finditer(rf"(?<!\w){re.escape(each)}(?!\w)", text, re.I):
            yield each, *named.span()


def as_code(answer: JsonValue) -> str:
    """The one code that an answer commits to, whatever its case. Raises UnreadableError."""
    return _stated(_CODE, _text(answer).upper())


def as_date(answer: JsonValue) -> str:
    """The one day that an answer commits to, as year-month-day. Raises UnreadableError."""
    return _stated(_DATE, _text(answer))


def _stated(statement: Statement, text: str) -> str:
    try:
        return committed(text, [(record["value"], start, end) for start, end, record in statement.read(text)])
    except UnreadableError:
        raise
    except ValueError as error:
        raise UnreadableError("a day that no calendar has") from error


def as_list(answer: JsonValue) -> list[str]:
    """The items of a list, or of a text that separates them by commas, semicolons, lines or "and", as text.

    Raises UnreadableError.
    """
    if isinstance(answer, str | int | float) and not isinstance(answer, bool):
        text = _text(answer)
        listed = re.split(r"[;\n]|,(?!\d{3}(?!\d))|\band\b", text.rpartition(":")[2])
        if is_denied(text, len(text) - len(text.rpartition(":")[2]), len(text)):
            raise UnreadableError("the answer says what it is not")
        answer = [each for each in listed if each.strip()]
    if not isinstance(answer, list) or not all(isinstance(each, str | int | float) for each in answer):
        raise UnreadableError("not a list")
    return [_plain(each) for each in answer]


def as_mapping(answer: JsonValue) -> dict[str, JsonValue]:
    """The JSON object that an answer is, its keys in lower case. Raises UnreadableError."""
    if not isinstance(answer, dict):
        raise UnreadableError("not a JSON object")
    return {key.strip().casefold(): value for key, value in answer.items()}


def _plain(item: object) -> str:
    if isinstance(item, float) and item.is_integer():
        return str(int(item))
    text = re.sub(r"^\s*(?:[-*\u2022]|\d{1,3}[.)])\s+", "", str(item)).strip().strip("\"'`*.").strip()
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
