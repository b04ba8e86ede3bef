"""The differences between two JSON documents, each with its JSON path and both values."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeGuard

from pydantic import JsonValue

from concord_cli.display_text import shortened

MAX_SHOWN: Final = 80
"""Characters of a value in a line."""


TOLERANCE: Final = 1e-9
"""The relative and absolute difference of numbers that are equal."""


class _Absent:
    """The type of the marker for a value that a document does not have."""


_ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True)
class Difference:
    """A place at which two documents differ, and the JSON of both values."""

    path: str
    stated: str
    computed: str


def differences(stated: JsonValue | _Absent, computed: JsonValue | _Absent, path: str = "$") -> Iterator[Difference]:
    """The innermost differences. 1 and 1.0 are equal, because A2A turns integers into floats, and so are numbers within
    `TOLERANCE`, because the last digits of a logarithm or a power depend on the interpreter and the processor."""
    if isinstance(stated, dict) and isinstance(computed, dict):
        for key in dict.fromkeys([*computed, *stated]):
            inner = f"{path}.{key}" if key.isidentifier() else f"{path}[{json.dumps(key)}]"
            yield from differences(stated.get(key, _ABSENT), computed.get(key, _ABSENT), inner)
    elif isinstance(stated, list) and isinstance(computed, list):
        for index in range(max(len(stated), len(computed))):
            yield from differences(_at(stated, index), _at(computed, index), f"{path}[{index}]")
    elif not _equal(stated, computed):
        yield Difference(path, _shown(stated), _shown(computed))


def canonical_json(document: JsonValue) -> bytes:
    """The canonical form for hashes: sorted keys, no spaces, ASCII, whole numbers without a fraction."""
    return json.dumps(
        _whole(document), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode()


def _whole(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, list):
        return list(map(_whole, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _equal(stated: JsonValue | _Absent, computed: JsonValue | _Absent) -> bool:
    """Whether the canonical forms are equal. Equal texts and integers are; floats are checked for NaN."""
    if type(stated) is type(computed) and isinstance(stated, str | int | None) and stated == computed:
        return True
    if _is_number(stated) and _is_number(computed) and math.isfinite(stated) and math.isfinite(computed):
        return math.isclose(stated, computed, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return _canonical(stated) == _canonical(computed)


def _is_number(value: JsonValue | _Absent) -> TypeGuard[float]:
    return isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool))


def _canonical(value: JsonValue | _Absent) -> bytes:
    return b"" if isinstance(value, _Absent) else canonical_json(value)


def _at(values: list[JsonValue], index: int) -> JsonValue | _Absent:
    return values[index] if index < len(values) else _ABSENT


def _shown(value: JsonValue | _Absent) -> str:
    return "nothing" if isinstance(value, _Absent) else shortened(json.dumps(value, ensure_ascii=False), MAX_SHOWN)
