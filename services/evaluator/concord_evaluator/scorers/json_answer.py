"""The JSON in an answer: found in prose, and read within bounds."""

import json
import math
import re
from collections import deque
from collections.abc import Iterator
from typing import Final, NoReturn

from pydantic import JsonValue

MAX_DEPTH: Final = 64
"""How far arrays and objects may be nested."""

_MAX_STARTS: Final = 5_000
"""Places at which a document may be thought to begin: more are not tried."""

_TOO_DEEP: Final = f"the JSON is nested more than {MAX_DEPTH} deep"
_FENCED: Final = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_START: Final = re.compile(r"[{\[]")


class NoJsonError(Exception):
    """There is no JSON in an answer, or none that is read."""


def json_in(answer: str) -> JsonValue:
    """The whole answer, else its last fenced block that is JSON, else the last object or array in it.

    Of equal keys of an object the last counts. NaN and numbers beyond a double's range are no JSON (RFC 8259).
    Raises NoJsonError.
    """
    for text in (answer, *reversed(_FENCED.findall(answer))):
        try:
            return _shallow(_DECODER.decode(text))
        except (ValueError, RecursionError):
            continue
    last = deque(_objects_and_arrays(answer), maxlen=1)
    if not last:
        raise NoJsonError("there is no JSON in the answer")
    return _shallow(last[0])


def _objects_and_arrays(text: str) -> Iterator[JsonValue]:
    """The objects and arrays of a text that are not part of another. Raises NoJsonError for one of absurd depth."""
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
    """A document that is not nested too deeply for what walks through it. Raises NoJsonError."""
    level: list[JsonValue] = [document]
    for _ in range(MAX_DEPTH + 1):
        nested = [each for each in level if isinstance(each, dict | list)]
        if not nested:
            return document
        level = [part for each in nested for part in (each.values() if isinstance(each, dict) else each)]
    raise NoJsonError(_TOO_DEEP)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _decimal(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _integer(text: str) -> int:
    _decimal(text)
    return int(text)


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse, parse_float=_decimal, parse_int=_integer)
