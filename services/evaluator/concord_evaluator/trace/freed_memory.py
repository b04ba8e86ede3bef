"""Freed memory: what the arrays of a long trace leave goes back to the system."""

import ctypes
from typing import Final

LONG: Final = 100_000
"""Steps from which on a trace leaves enough to be worth a millisecond."""

_TRIM: Final = getattr(ctypes.CDLL(None), "malloc_trim", None)
"""Of glibc; other C libraries keep less."""


def release_freed(steps: int) -> None:
    """Hands memory that is free back to the system, after work on so many steps.

    glibc keeps the room of freed arrays of up to 32 MiB, of which columns have many, and cannot use it for Python's
    small objects: a quarter of the peak of a million steps.
    """
    if steps >= LONG and _TRIM is not None:
        _TRIM(0)
