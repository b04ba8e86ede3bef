"""Pauses between attempts, and when a program that has ended is started again. Times in seconds."""

import math
from random import SystemRandom
from typing import Final

# Exponential backoff: the pause between two attempts. Pure.

_RANDOM: Final = SystemRandom()
"""Which no agent seeds, and no two forked programs have in common."""


def pause_s(failures: int, first_s: float, cap_s: float = math.inf) -> float:
    """The pause after so many failures in a row, from 1 (seconds): `first_s`, doubled by each further failure."""
    return min(cap_s, first_s * 2.0 ** min(failures - 1, 64))


def jittered_s(failures: int, first_s: float, cap_s: float) -> float:
    """As `pause_s`, with full jitter: any time up to it, so that clients of one server do not return together."""
    return _RANDOM.uniform(0, pause_s(failures, first_s, cap_s))


# When a program, or a part of one, that has ended is started again. Times in seconds.

STABLE_S: Final = 10.0
"""What has run this long has started well: its end resets the count of restarts."""

MAX_RESTARTS: Final = 3
FIRST_PAUSE_S: Final = 0.25


class Restarts:
    """The restarts of one program or part."""

    def __init__(self, *, first_pause_s: float | None = None) -> None:
        """`first_pause_s`: by default `FIRST_PAUSE_S`."""
        self._first_pause_s = FIRST_PAUSE_S if first_pause_s is None else first_pause_s
        self.quick_ends = 0
        """How often in a row it has ended before it had started well."""

    def pause_s(self, ran_s: float) -> float | None:
        """The pause before the next start, after a run of that length. None: it has ended too often in a row."""
        self.quick_ends = 1 if ran_s > STABLE_S else self.quick_ends + 1
        if self.quick_ends > MAX_RESTARTS:
            return None
        return pause_s(self.quick_ends, self._first_pause_s)
