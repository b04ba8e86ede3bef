"""Reads TOML files that somebody else may have written."""

import math
import re
import tomllib
from pathlib import Path
from typing import Any, Final

from concord.files import read_bounded
from concord.json_text import NoJsonError, shallow

MAX_BYTES: Final = 1024 * 1024

_LONG_KEY: Final = re.compile(r"""(?:\.[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*){64}""")
"""A key of more than 64 parts: `tomllib` takes time with the square of their number."""


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file.

    Raises OSError, also for a file over `MAX_BYTES`; ValueError for what is not TOML, is nested more than 64 deep, or
    has a number that is not finite.
    """
    try:
        text = read_bounded(path, MAX_BYTES).decode()
        if _LONG_KEY.search(text):
            raise ValueError("a key in it has more than 64 parts")
        document = tomllib.loads(text)
        shallow(document)
    except (RecursionError, NoJsonError):
        raise ValueError("it is nested too deep") from None
    if (name := _not_finite(document)) is not None:
        raise ValueError(f"{name}: not a finite number")
    return document


def _not_finite(document: dict[str, Any]) -> str | None:
    """The name of a number that is infinite or none."""
    pending: list[tuple[str, object]] = list(document.items())
    while pending:
        name, value = pending.pop()
        if isinstance(value, float) and not math.isfinite(value):
            return name
        if isinstance(value, dict):
            pending += [(f"{name}.{key}", part) for key, part in value.items()]
        elif isinstance(value, list):
            pending += [(f"{name}.{number}", part) for number, part in enumerate(value)]
    return None
