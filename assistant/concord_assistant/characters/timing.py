"""When characters reply: a delay drawn by seed, and its place in the window of a turn."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final

from concord_assistant.scenario.schema import ResponseTiming

FIRST: Final = timedelta(seconds=1)
"""The part of a window in which replies arrive whose time has passed when the window begins."""

_US: Final = timedelta(microseconds=1)
_DRAWS: Final = 2**64


@dataclass(frozen=True, slots=True)
class Window:
    """The simulated times (earliest, latest], in UTC, at which replies of a turn can arrive. It may be empty."""

    earliest: datetime
    latest: datetime

    @classmethod
    def of(cls, earliest: datetime, latest: datetime) -> "Window":
        """The window between two times of any time zone. Raises ValueError for a time without one."""
        return cls(in_utc(earliest), in_utc(latest))


def in_utc(moment: datetime) -> datetime:
    """The time in UTC: sums of times in other zones are wrong where clocks change. Raises ValueError without a zone."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone")
    return moment.astimezone(UTC)


def delay_of(timing: ResponseTiming, seed: int, key: str) -> timedelta:
    """The delay of the reply to the message `key`: uniform in `base_delay` ± `variance`, and never negative.

    The draw depends on `seed` and `key` only.
    """
    base, variance = timing.base_delay // _US, timing.variance // _US
    drawn = base - variance + _draw(seed, key) * (2 * variance + 1) // _DRAWS
    return max(drawn, 0) * _US


def placed(due: datetime, window: Window, seed: int, key: str) -> datetime | None:
    """The time in the window at which a reply that is due arrives. None: it is due after the window.

    A reply that was due before the window arrives in its first second, at a time drawn like the delay. An empty window
    has no time for it.
    """
    if due > window.latest:
        return None
    if due > window.earliest:
        return due
    span = min(FIRST, window.latest - window.earliest) // _US
    if span < 1:
        return None
    return window.earliest + (1 + _draw(seed, f"first\0{key}") * span // _DRAWS) * _US


def _draw(seed: int, key: str) -> int:
    """A number of 64 bits, uniform over keys."""
    return int.from_bytes(sha256(f"{seed}\0{key}".encode()).digest()[:8])
