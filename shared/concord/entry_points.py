"""The entry points of installed packages, which a process reads once."""

from functools import cache
from importlib import metadata
from typing import Final

_installed: Final = cache(metadata.entry_points)


def entry_points(group: str) -> metadata.EntryPoints:
    """Those of a group."""
    return _installed().select(group=group)
