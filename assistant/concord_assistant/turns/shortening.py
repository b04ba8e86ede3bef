"""Shortens the texts in the parameters of an action."""

from collections.abc import Mapping
from typing import Any


def shortened(parameters: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """The parameters with every text cut to `limit` characters."""
    return {name: _cut(value, limit) for name, value in parameters.items()}


def _cut(value: Any, limit: int) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return value if len(value) <= limit else f"{value[:limit]}…"
    if isinstance(value, dict):
        return {key: _cut(each, limit) for key, each in value.items()}
    if isinstance(value, list):
        return [_cut(each, limit) for each in value]
    return value
