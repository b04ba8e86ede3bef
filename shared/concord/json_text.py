"""Finds the JSON in the text of an agent, which may wrap it in prose or a fenced block."""

import json
import math
import re
from collections import deque
from collections.abc import Iterator
from typing import Final, NoReturn

from pydantic import JsonValue

MAX_DEPTH: Final = 64
"""The maximum depth of nested arrays and objects."""

_MAX_STARTS: Final = 5_000
"""The maximum number of positions at which the parser tries to read a document."""

_TOO_DEEP: Final = f"the JSON is nested more than {MAX_DEPTH} deep"
_FENCED: Final = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_START: Final = re.compile(r"[{\[]")


class NoJsonError(Exception):
    """An answer holds no JSON, or none within the limits."""


def json_in(answer: str) -> JsonValue:
    """The whole answer, else its last fenced block that is JSON, else the last object or array in it.

    Of duplicate keys the last counts. NaN and numbers beyond the range of a double are not JSON (RFC 8259).
    Raises NoJsonError.
    """
    for text in (answer, *reversed(_FENCED.findall(answer))):
        try:
            return _shallow(_DECODER.decode(text))
        except (ValueError, RecursionError):
            continue
    last = deque(_objects_and_arrays(answer), maxlen=1)
    if not last:
        raise NoJsonError("the answer contains no JSON")
    return _shallow(last[0])


def _objects_and_arrays(text: str) -> Iterator[JsonValue]:
    """The outermost objects and arrays in a text. Raises NoJsonError for too deep a nesting."""
    end = 0
    for number, start in enumerate(_START.finditer(text)):
        if number == _MAX_STARTS:
            return
        if start.start() >= end:
            try:
                document, end = _DECODER.raw_decode(text, start.start())
            except ValueError:
                continue
            except RecursionError:
                raise NoJsonError(_TOO_DEEP) from None
            yield document


def _shallow(document: JsonValue) -> JsonValue:
    """The document if its depth is within `MAX_DEPTH`. Raises NoJsonError."""
    level: list[JsonValue] = [document]
    for _ in range(MAX_DEPTH + 1):
        nested = [each for each in level if isinstance(each, dict | list)]
        if not nested:
            return document
        level = [part for each in nested for part in (each.values() if isinstance(each, dict) else each)]
    raise NoJsonError(_TOO_DEEP)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _decimal(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _integer(text: str) -> int:
    _decimal(text)
    return int(text)


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse, parse_float=_decimal, parse_int=_integer)
