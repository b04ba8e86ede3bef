"""Flows as arrows in SVG user units. A point is a complex number, x to the right and y down."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from concord_cli.display_text import counted, on_one_line, width_of
from concord_cli.number_text import duration
from concord_cli.report.graph.nodes import Node
from concord_cli.row_view.flows import Flow

MARK_FONT: Final = 11.0
"""Font size of the numbers on arrows in user units; the same as in the style sheet."""

MARK_HEIGHT: Final = 16.0
_THINNEST: Final = 1.2
_BEND: Final = 0.18
"""Every arrow bends to its right, so that the two directions between two agents stay apart."""

_MANY: Final = 8
"""A flow with this many calls has the widest arrow unless another has more, so that a single call is never wide."""

_SPOTS: Final = (0.5, 0.62, 0.38, 0.74, 0.26)

HEAD: Final = 5.5
"""Length of the head of an arrow of width 0; it grows with the width."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The number of a flow's failed calls, placed on its arrow."""

    x: float
    y: float
    width: int
    text: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """A flow: the paths of its line and its head, and a mark if calls failed."""

    caller: str
    callee: str
    line: str
    head: str
    width: float
    title: str
    failed: bool
    mark: Mark | None


@dataclass(frozen=True, slots=True)
class Curve:
    """A quadratic Bézier curve from the rim of one node to the foot of an arrowhead at the rim of another."""

    start: complex
    control: complex
    end: complex
    tip: complex

    def at(self, t: float) -> complex:
        """The point at `t` of 0 to 1."""
        return (1 - t) ** 2 * self.start + 2 * t * (1 - t) * self.control + t**2 * self.end

    def line(self) -> str:
        """The line as SVG path data."""
        return f"M{_xy(self.start)}Q{_xy(self.control)} {_xy(self.end)}"

    def head(self, width: float) -> str:
        """The arrowhead of a line of this width, as SVG path data."""
        along = self.tip - self.end
        across = along / abs(along) * 1j * (2.4 + width * 0.9)
        return f"M{_xy(self.tip)}L{_xy(self.end + across)} {_xy(self.end - across)}z"


@dataclass(frozen=True, slots=True)
class LightEdge:
    """All light flows between two agents, in both directions, as one line without a head."""

    ends: tuple[str, str]
    line: str
    title: str


def light_edges_of(flows: Sequence[Flow], nodes: Mapping[str, Node]) -> Iterator[LightEdge]:
    """A line for each pair of agents that these flows connect."""
    calls: Counter[tuple[str, str]] = Counter()
    for flow in flows:
        calls[min(flow.caller, flow.callee), max(flow.caller, flow.callee)] += flow.calls
    for (one, other), n in sorted(calls.items()):
        start, end = (complex(nodes[agent].x, nodes[agent].y) for agent in (one, other))
        title = f"{on_one_line(one)} and {on_one_line(other)}: {counted(n, 'call')}"
        yield LightEdge((one, other), f"M{_xy(start)}L{_xy(end)}", title)


def arrows_of(flows: Sequence[Flow], nodes: Mapping[str, Node], widest: float) -> Iterator[Arrow]:
    """An arrow for each flow, those with errors last and so on top. The one with the most calls is `widest`."""
    most = max((flow.calls for flow in flows), default=_MANY)
    marks: list[Mark] = []
    for flow in sorted(flows, key=lambda flow: (flow.errors > 0, flow.calls, flow.caller, flow.callee)):
        width = round(_THINNEST + (widest - _THINNEST) * max(flow.calls, 0) / max(most, _MANY), 1)
        caller, callee = nodes[flow.caller], nodes[flow.callee]
        bent = _between(caller, callee, width)
        mark = _mark(flow.errors, bent, marks, nodes) if flow.errors else None
        if mark is not None:
            marks.append(mark)
        yield Arrow(flow.caller, flow.callee, bent.line(), bent.head(width), width, _title(flow), flow.errors > 0, mark)


def _between(caller: Node, callee: Node, width: float) -> Curve:
    start, end = complex(caller.x, caller.y), complex(callee.x, callee.y)
    return curve(start, caller.radius, end, callee.radius, _BEND, width)


def _title(flow: Flow) -> str:
    parts = [counted(flow.calls, "call")]
    if flow.errors:
        parts.append(f"{flow.errors:,} failed")
    if flow.latency_ms is not None:
        parts.append(f"{duration(flow.latency_ms)} on average")
    return f"{on_one_line(flow.caller)} → {on_one_line(flow.callee)}: {', '.join(parts)}"


def _mark(errors: int, bent: Curve, others: Sequence[Mark], nodes: Mapping[str, Node]) -> Mark | None:
    """A mark at the first free spot of the arrow; None if there is none (the arrow is dashed in any case)."""
    text = f"✕ {errors:,}"
    width = 2 * math.ceil(width_of(text, MARK_FONT) / 2) + 8
    for spot in _SPOTS:
        point = bent.at(spot)
        mark = Mark(round(point.real, 1), round(point.imag, 1), width, text)
        if not any(_overlap(mark, other) for other in others) and not any(
            _overlaps_node(mark, node) for node in nodes.values()
        ):
            return mark
    return None


def _overlap(mark: Mark, other: Mark) -> bool:
    return abs(mark.x - other.x) < (mark.width + other.width) / 2 + 2 and abs(mark.y - other.y) < MARK_HEIGHT + 2


def _overlaps_node(mark: Mark, node: Node) -> bool:
    beside, above = abs(mark.x - node.x), abs(mark.y - node.y)
    return beside < mark.width / 2 + node.radius and above < MARK_HEIGHT / 2 + node.radius


def curve(start: complex, start_radius: float, end: complex, end_radius: float, bend: float, width: float) -> Curve:
    """A curve between two nodes. `bend`: how far its middle deviates to the right, as a share of its length."""
    control = (start + end) / 2 + (end - start) * 1j * bend
    inward = _unit(end - control)
    tip = end - inward * (end_radius + 1.5)
    return Curve(start + _unit(control - start) * (start_radius + 1), control, tip - inward * (HEAD + width * 1.5), tip)


def _unit(vector: complex) -> complex:
    return vector / abs(vector)


def _xy(point: complex) -> str:
    return f"{round(point.real, 1):g} {round(point.imag, 1):g}"
