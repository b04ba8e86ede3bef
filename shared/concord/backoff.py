"""Exponential backoff: the pause between two attempts. Pure."""

import math
from random import Random
from typing import Final

_RANDOM: Final = Random()  # nosec B311  # noqa: S311 - of its own, because an agent may have seeded the module's


def pause_s(failures: int, first_s: float, cap_s: float = math.inf) -> float:
    """The pause after so many failures in a row, from 1 (seconds): `first_s`, doubled by each further failure."""
    return min(cap_s, first_s * 2.0 ** min(failures - 1, 64))


def jittered_s(failures: int, first_s: float, cap_s: float) -> float:
    """As `pause_s`, with full jitter: any time up to it, so that clients of one server do not return together."""
    return _RANDOM.uniform(0, pause_s(failures, first_s, cap_s))
