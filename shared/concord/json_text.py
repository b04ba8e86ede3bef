"""Finds the JSON in the text of an agent, which may wrap it in prose or a fenced block."""

import json
import math
import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, NoReturn

from pydantic import JsonValue

MAX_DEPTH: Final = 64
"""The maximum depth of nested arrays and objects."""

_MAX_STARTS: Final = 5_000
"""The maximum number of positions at which the parser tries to read a document."""

_MAX_TRIED: Final = 2_000_000
"""Characters that the parser reads in vain. A text of broken documents in each other would be read again and again."""

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
    return placed_json_in(answer)[0]


def placed_json_in(answer: str) -> tuple[JsonValue, int, int]:
    """The same, and where it begins and ends in the answer."""
    blocks = [(0, len(answer)), *(each.span(1) for each in reversed([*_FENCED.finditer(answer)]))]
    for start, end in blocks:
        try:
            return shallow(_DECODER.decode(answer[start:end])), start, end
        except (ValueError, RecursionError):
            continue
    last = deque(_placed_documents_in(answer, _DECODER), maxlen=1)
    if not last:
        raise NoJsonError("the answer contains no JSON")
    return last[0]


def json_decoder(
    read_object: Callable[[list[tuple[str, JsonValue]]], JsonValue] = dict, *, strict: bool = True
) -> json.JSONDecoder:
    """A decoder of JSON as RFC 8259 has it; unless `strict`, strings may have raw line breaks.

    `read_object` makes an object of its pairs.
    """
    return json.JSONDecoder(
        object_pairs_hook=read_object,
        parse_constant=_refuse,
        parse_float=_decimal,
        parse_int=_integer,
        strict=strict,
    )


def documents_in(text: str, decoder: json.JSONDecoder | None = None) -> Iterator[JsonValue]:
    """The outermost objects and arrays in a text, in order. Raises NoJsonError for too deep a nesting."""
    return (document for document, _, _ in _placed_documents_in(text, decoder or _DECODER))


def _placed_documents_in(text: str, decoder: json.JSONDecoder) -> Iterator[tuple[JsonValue, int, int]]:
    end, tried = 0, 0
    for number, start in enumerate(_START.finditer(text)):
        if number == _MAX_STARTS or tried > _MAX_TRIED:
            return
        if start.start() >= end:
            try:
                document, end = decoder.raw_decode(text, start.start())
            except ValueError as error:
                # A constant or a number that is not JSON has no position: it may be at the end.
                tried += (error.pos if isinstance(error, json.JSONDecodeError) else len(text)) - start.start()
                continue
            except RecursionError:
                raise NoJsonError(_TOO_DEEP) from None
            yield shallow(document), start.start(), end


def shallow(document: JsonValue) -> JsonValue:
    """The document, if its depth is within `MAX_DEPTH`. Raises NoJsonError."""
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


_DECODER: Final = json_decoder()
