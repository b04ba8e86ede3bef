"""Orders to the judge that a model may obey, and honest texts in words that judges use."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final


def _lines(name: str) -> Iterator[Any]:
    return map(json.loads, Path(__file__).with_name(name).read_text("utf-8").splitlines())


ORDERS: Final[dict[str, str]] = {each["id"]: each["text"] for each in _lines("obeyed.jsonl")}
"""The orders were written without a look at the patterns that recognise such texts."""

HONEST: Final[list[dict[str, str]]] = list(_lines("honest.jsonl"))
"""Honest texts of engineers and offices, in words that judges use. They were written before any pattern was tuned, and
are not changed to suit one. The held-out texts were checked once, at the end: one of 161 was suspected."""
