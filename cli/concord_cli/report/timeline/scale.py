"""The time axis: maps milliseconds to shares of the width, with ticks at round times."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, Self

from concord_cli.number_text import duration, percent
from concord_cli.report.timeline.lanes import TimedCall

_TICKS: Final = 5
_ROOM: Final = 0.985
"""The share of the width that the time span takes, so that marks at its end have room."""

_NO_TIME: Final = 1e-6
"""A span below the resolution of any clock (ms)."""

_LATE: Final = 0.9
"""Beyond this share of the width, the centred text of a tick would stick out."""

_SHORTEST: Final = 0.008
"""The share of the time span at which a bar is just visible."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled time on the axis."""

    x: str
    text: str
    anchor: Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Scale:
    """A time span of `span` milliseconds from `first` on."""

    first: float
    span: float

    @classmethod
    def over(cls, calls: Iterable[TimedCall]) -> Self:
        """The time span of all calls; a millisecond if they take no time."""
        ends = [(call.start, call.end) for call in calls]
        first = min((start for start, _ in ends), default=0.0)
        span = max((end for _, end in ends), default=0.0) - first
        return cls(first, span if span > _NO_TIME else 1.0)

    @property
    def shortest(self) -> float:
        """The duration of a bar that is just visible (ms)."""
        return self.span * _SHORTEST

    def at(self, ms: float) -> str:
        """The x of a time, for SVG."""
        return percent(self._share(ms - self.first))

    def width(self, ms: float) -> str:
        """The width of a duration, for SVG."""
        return percent(self._share(max(ms, 0.5 * self.shortest)))

    def ticks(self) -> Iterator[Tick]:
        """About five round times, counted from the first."""
        step = _round_step(self.span / _TICKS)
        for i in range(int(self.span / step) + 1):
            share = self._share(i * step)
            anchor: Literal["start", "middle", "end"] = "start" if not i else "end" if share > _LATE else "middle"
            yield Tick(percent(share), duration(i * step), anchor)

    def _share(self, ms: float) -> float:
        return _ROOM * ms / self.span


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, … that is at least `least`."""
    power = 10 ** math.floor(math.log10(least))
    return float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least))
