"""The timeline as shapes: horizontally in shares of its width, so that it fits any screen; vertically in pixels."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from concord.assessment.results import CallRecord
from concord_cli.display_text import on_one_line, shortened, width_of
from concord_cli.number_text import duration
from concord_cli.report.calls import CallName, caller_text
from concord_cli.report.timeline.lanes import Slot, lanes_of, stacked, timed
from concord_cli.report.timeline.scale import Scale, Tick

BAR: Final = 12.0
"""Height of a bar in pixels."""

HEAD: Final = 6.0
"""Length of an arrowhead in pixels."""

FONT: Final = 12.5
"""Font size of the lanes' names in pixels; the same as in the style sheet."""

MAX_ARROWS: Final = 150
"""With more calls than these, only those on the critical path, or with errors, have an arrow."""

_ROW, _PAD, _AXIS = 17.0, 8.0, 26.0
_LABEL_LIMIT: Final = 24


@dataclass(frozen=True, slots=True)
class Lane:
    """One agent's lane."""

    name: str
    title: str
    top: float
    bottom: float

    @property
    def middle(self) -> float:
        """The y of its middle."""
        return (self.top + self.bottom) / 2


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


@dataclass(frozen=True, slots=True)
class _Geometry:
    """The lanes by agent, the calls' slots, and the time scale."""

    lanes: Mapping[str, Lane]
    slots: Sequence[Slot]
    scale: Scale

    def top(self, slot: Slot) -> float:
        return self.lanes[slot.call.record.callee].top + _PAD + slot.row * _ROW


def draw(calls: Sequence[CallRecord], names: Sequence[CallName]) -> Timeline | None:
    """Draws the calls of one trial; None if no call has a time."""
    with_times = list(timed(calls, names))
    if not with_times:
        return None
    agents, scale = lanes_of(with_times), Scale.over(with_times)
    slots, rows = stacked(with_times, agents, scale.shortest)
    geometry = _Geometry(_lanes(agents, rows), slots, scale)
    pointed = [slot for slot in slots if len(slots) <= MAX_ARROWS or _is_notable(slot.call.record)]
    lanes = tuple(geometry.lanes.values())
    return Timeline(
        height=lanes[-1].bottom,
        gutter=math.ceil(max(width_of(lane.name, FONT) for lane in lanes)) + 10,
        lanes=lanes,
        bars=tuple(_bar(slot, geometry) for slot in slots),
        arrows=tuple(_arrows(pointed, geometry)),
        ticks=tuple(scale.ticks()),
        arrows_chosen=len(pointed) < len(slots),
        untimed=len(calls) - len(with_times),
        beyond=len(with_times) - len(slots),
    )


def _is_notable(call: CallRecord) -> bool:
    return call.on_critical_path or call.error is not None


def _lanes(agents: Sequence[str], rows: Sequence[int]) -> dict[str, Lane]:
    heights = [n * _ROW - (_ROW - BAR) + 2 * _PAD for n in rows]
    bottoms = list(accumulate(heights, initial=_AXIS))
    return {
        agent: Lane(shortened(agent, _LABEL_LIMIT), on_one_line(agent), top, bottom)
        for agent, top, bottom in zip(agents, bottoms, bottoms[1:], strict=False)
    }


def _bar(slot: Slot, geometry: _Geometry) -> Bar:
    call, record = slot.call, slot.call.record
    return Bar(
        name=call.name,
        x=geometry.scale.at(call.start),
        end=geometry.scale.at(call.end),
        width=geometry.scale.width(call.end - call.start),
        y=geometry.top(slot),
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


def _arrows(pointed: Sequence[Slot], geometry: _Geometry) -> Iterator[Arrow]:
    """An arrow for each call, from its parent's bar or else its caller's lane; none for calls within a lane."""
    slots = {slot.call.record.step_id: slot for slot in geometry.slots}
    for slot in pointed:
        record, top = slot.call.record, geometry.top(slot)
        lane = geometry.lanes.get(record.caller)
        if lane is None or record.caller == record.callee:
            continue
        parent = slots.get(record.parent_step_id or "")
        down = lane.top < top
        start = lane.middle
        if parent is not None and parent.call.record.callee == record.caller:
            start = geometry.top(parent) + (BAR if down else 0)
        yield Arrow(
            name=slot.call.name,
            x=geometry.scale.at(slot.call.start),
            start=start,
            end=top if down else top + BAR,
            critical=record.on_critical_path,
            failed=record.error is not None,
        )
