"""Values of rows that a change of the code must not change, each kept in a compressed file beside the tests."""

import gzip
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import JsonValue

FOLDER: Final = Path(__file__).parent
RENEW: Final = "CONCORD_RENEW_GOLDENS"
"""Set to write the values in place of comparing them. The commit then says which of them changed, and why."""
SHOWN: Final = 20
TOLERANCE: Final = 1e-9


def check(name: str, value: object) -> None:
    """Compares a value with the file of that name; floats may differ by 1e-9 of their size."""
    file = FOLDER / f"{name}.json.gz"
    if os.environ.get(RENEW):
        file.parent.mkdir(exist_ok=True)
        text = json.dumps(value, indent=0, sort_keys=True, ensure_ascii=False)
        file.write_bytes(gzip.compress(text.encode(), mtime=0))
        return
    kept = json.loads(gzip.decompress(file.read_bytes()))
    found = list(differences(kept, json.loads(json.dumps(value))))
    more = f"\n… and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    assert not found, f"{len(found)} values of {name} changed:\n" + "\n".join(found[:SHOWN]) + more


def differences(old: JsonValue, new: JsonValue, place: str = "") -> Iterator[str]:
    """Each place where two JSON values differ, with both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            if key not in new:
                yield f"{place}/{key}: gone, was {_short(old[key])}"
            elif key not in old:
                yield f"{place}/{key}: new, {_short(new[key])}"
            else:
                yield from differences(old[key], new[key], f"{place}/{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, f"{place}/{number}{_named(before)}")
    elif not _same(old, new):
        yield f"{place}: {_short(old)} → {_short(new)}"


def _named(value: JsonValue) -> str:
    return f":{value['id']}" if isinstance(value, dict) and isinstance(value.get("id"), str) else ""


def _same(old: JsonValue, new: JsonValue) -> bool:
    if isinstance(old, float) or isinstance(new, float):
        numbers = (old, new)
        if all(isinstance(each, int | float) and not isinstance(each, bool) for each in numbers):
            return math.isclose(float(old), float(new), rel_tol=TOLERANCE, abs_tol=TOLERANCE)  # type: ignore[arg-type]
    return old == new and type(old) is type(new)


def _short(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:117]}…"
