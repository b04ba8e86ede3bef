"""The timeline of a trial: a lane for each agent, a bar for each call that it answered, an arrow from the caller.

Horizontal places are shares of the width, so that the drawing fits any screen; vertical ones are pixels.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final, Literal, Self

from concord.assessment.results import CallRecord
from concord.wire.roster import GREEN_AGENT, UNKNOWN_AGENT
from concord_cli.display_text import on_one_line, shortened, width_of
from concord_cli.number_text import duration, percent
from concord_cli.report.calls import CallName, caller_text

BAR: Final = 12.0
"""Height of a bar in pixels."""

HEAD: Final = 6.0
"""Length of an arrowhead in pixels."""

FONT: Final = 12.5
"""Font size of the lanes' names in pixels; the same as in the style sheet."""

MAX_ARROWS: Final = 150
"""With more calls than these, only those on the critical path, or with errors, have an arrow."""

MAX_LANES: Final = 60
"""Limit of the agents in a timeline: those that took part in the most calls."""

LONGEST_MS: Final = 1e10
"""A later start or longer duration (four months) is not credible."""

LABEL_LIMIT: Final = 24
_ROW, _PAD, _AXIS = 17.0, 8.0, 26.0

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
class Lane:
    """The lane of an agent, between two y. `blamed`: a failure names it."""

    name: str
    title: str
    top: float
    bottom: float
    blamed: bool = False

    @property
    def middle(self) -> float:
        """The y of its middle."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled time on the axis."""

    x: str
    text: str
    anchor: Literal["start", "middle", "end"] = "middle"


@dataclass(frozen=True, slots=True)
class Bar:
    """One call, from `x` to `end`; `y`: its upper edge."""

    name: CallName
    x: str
    end: str
    width: str
    y: float
    title: str
    critical: bool
    failed: bool


@dataclass(frozen=True, slots=True)
class Arrow:
    """From `start` in the caller's lane to `end` at the call's bar."""

    name: CallName
    x: str
    start: float
    end: float
    critical: bool
    failed: bool

    @property
    def foot(self) -> float:
        """The y at which the arrowhead begins."""
        return self.end - math.copysign(HEAD, self.end - self.start)


@dataclass(frozen=True, slots=True)
class Timeline:
    """The timed calls of a trial. `untimed` and `beyond` count the calls without a time, and without a lane."""

    height: float
    gutter: int
    lanes: tuple[Lane, ...]
    bars: tuple[Bar, ...]
    arrows: tuple[Arrow, ...]
    ticks: tuple[Tick, ...]
    arrows_chosen: bool
    untimed: int
    beyond: int

    @property
    def has_critical_path(self) -> bool:
        """Whether any of the calls drawn is on the critical path."""
        return any(bar.critical for bar in self.bars)

    @property
    def has_others(self) -> bool:
        """Whether any of the calls drawn is neither on the critical path nor failed."""
        return not all(bar.critical or bar.failed for bar in self.bars)

    @property
    def has_errors(self) -> bool:
        """Whether any of the calls drawn failed."""
        return any(bar.failed for bar in self.bars)


def gutter_of(names: Iterable[str]) -> int:
    """The width of the names of lanes in pixels."""
    return math.ceil(max(width_of(name, FONT) for name in names)) + 10


@dataclass(frozen=True, slots=True)
class TimedCall:
    """A call with a known start; times in milliseconds. `end` equals `start` if the duration is unknown.

    `row`: its row within its callee's lane.
    """

    record: CallRecord
    name: CallName
    start: float
    end: float
    row: int = 0


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


@dataclass(frozen=True, slots=True)
class _Geometry:
    """The lanes by agent, the calls in their rows, and the time scale."""

    lanes: Mapping[str, Lane]
    calls: Sequence[TimedCall]
    scale: Scale

    def top(self, call: TimedCall) -> float:
        return self.lanes[call.record.callee].top + _PAD + call.row * _ROW


def draw(calls: Sequence[CallRecord], names: Sequence[CallName]) -> Timeline | None:
    """Draws the calls of one trial; None if no call has a time."""
    with_times = list(_timed(calls, names))
    if not with_times:
        return None
    agents, scale = _agents(with_times), Scale.over(with_times)
    placed, rows = _stacked(with_times, agents, scale.shortest)
    geometry = _Geometry(_lanes(agents, rows), placed, scale)
    pointed = [call for call in placed if len(placed) <= MAX_ARROWS or _is_notable(call.record)]
    lanes = tuple(geometry.lanes.values())
    return Timeline(
        height=lanes[-1].bottom,
        gutter=gutter_of(lane.name for lane in lanes),
        lanes=lanes,
        bars=tuple(_bar(call, geometry) for call in placed),
        arrows=tuple(_arrows(pointed, geometry)),
        ticks=tuple(scale.ticks()),
        arrows_chosen=len(pointed) < len(placed),
        untimed=len(calls) - len(with_times),
        beyond=len(with_times) - len(placed),
    )


def _is_notable(call: CallRecord) -> bool:
    return call.on_critical_path or call.error is not None


def _lanes(agents: Sequence[str], rows: Sequence[int]) -> dict[str, Lane]:
    heights = [n * _ROW - (_ROW - BAR) + 2 * _PAD for n in rows]
    bottoms = list(accumulate(heights, initial=_AXIS))
    return {
        agent: Lane(shortened(agent, LABEL_LIMIT), on_one_line(agent), top, bottom)
        for agent, top, bottom in zip(agents, bottoms, bottoms[1:], strict=False)
    }


def _bar(call: TimedCall, geometry: _Geometry) -> Bar:
    record = call.record
    return Bar(
        name=call.name,
        x=geometry.scale.at(call.start),
        end=geometry.scale.at(call.end),
        width=geometry.scale.width(call.end - call.start),
        y=geometry.top(call),
        title=_title(record, call.name),
        critical=record.on_critical_path,
        failed=record.error is not None,
    )


def _title(call: CallRecord, name: CallName) -> str:
    parts = [f"call {name.text}: {caller_text(call)} → {on_one_line(call.callee)}", f"from {duration(call.start_ms)}"]
    if call.duration_ms is not None:
        parts.append(f"for {duration(call.duration_ms)}")
    if call.error is not None:
        parts.append(f"failed: {shortened(call.error, 200)}")
    return ", ".join(parts)


def _arrows(pointed: Sequence[TimedCall], geometry: _Geometry) -> Iterator[Arrow]:
    """An arrow for each call, from its parent's bar or else its caller's lane; none for calls within a lane."""
    by_step = {call.record.step_id: call for call in geometry.calls}
    for call in pointed:
        record, top = call.record, geometry.top(call)
        lane = geometry.lanes.get(record.caller)
        if lane is None or record.caller == record.callee:
            continue
        parent = by_step.get(record.parent_step_id or "")
        down = lane.top < top
        start = lane.middle
        if parent is not None and parent.record.callee == record.caller:
            start = geometry.top(parent) + (BAR if down else 0)
        yield Arrow(
            name=call.name,
            x=geometry.scale.at(call.start),
            start=start,
            end=top if down else top + BAR,
            critical=record.on_critical_path,
            failed=record.error is not None,
        )


def _timed(calls: Sequence[CallRecord], names: Sequence[CallName]) -> Iterator[TimedCall]:
    """The calls with times, in the given order."""
    for record, name in zip(calls, names, strict=True):
        if record.start_ms is not None and abs(record.start_ms) <= LONGEST_MS:
            length = min(max(record.duration_ms or 0.0, 0.0), LONGEST_MS)
            yield TimedCall(record, name, record.start_ms, record.start_ms + length)


def _agents(calls: Sequence[TimedCall]) -> list[str]:
    """The agents that made or answered calls, in the order of their first call, without the assessor."""
    taken = Counter(agent for call in calls for agent in _ends(call))
    if len(taken) <= MAX_LANES:
        return list(taken)
    busiest = {agent for agent, _ in taken.most_common(MAX_LANES)}
    return [agent for agent in taken if agent in busiest]


def _ends(call: TimedCall) -> Iterator[str]:
    if call.record.caller not in (GREEN_AGENT, UNKNOWN_AGENT):
        yield call.record.caller
    yield call.record.callee


def _stacked(calls: Sequence[TimedCall], lanes: Sequence[str], shortest: float) -> tuple[list[TimedCall], list[int]]:
    """Each call in its row, and the number of rows of each lane (at least one). A call occupies at least `shortest` ms.

    A call takes the first row of its callee's lane that is free at its start.
    """
    number = {agent: lane for lane, agent in enumerate(lanes)}
    free_from: list[list[float]] = [[] for _ in lanes]
    placed = []
    for call in sorted(calls, key=lambda call: (call.start, -call.end)):
        lane = number.get(call.record.callee)
        if lane is not None:
            row = _take_row(free_from[lane], call.start, max(call.end, call.start + shortest))
            placed.append(replace(call, row=row))
    return placed, [max(1, len(rows)) for rows in free_from]


def _take_row(free_from: list[float], start: float, end: float) -> int:
    for row, free in enumerate(free_from):
        if free <= start:
            free_from[row] = end
            return row
    free_from.append(end)
    return len(free_from) - 1


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, … that is at least `least`."""
    power = 10 ** math.floor(math.log10(least))
    return float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least))
