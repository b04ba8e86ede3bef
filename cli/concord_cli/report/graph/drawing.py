"""Draws the agent graph: chooses the agents and flows that fit, and makes arrows; of a large team, a matrix.

Pure and deterministic.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

from concord.wire.roster import GREEN_AGENT
from concord_cli.display_text import counted, on_one_line, shortened, width_of
from concord_cli.number_text import duration
from concord_cli.report.graph.layout import (
    LABEL_LIMIT,
    MAX_UPRIGHT,
    ROW,
    Box,
    Layout,
    Node,
    box_of,
    circular_layout,
    direction_between_spokes,
    largest_radius,
    node,
    positions,
    rows,
)
from concord_cli.row_view.flows import Flow

MAX_AGENTS: Final = 60
"""More names than these cannot be read around one circle."""

DENSE: Final = 400
"""More flows than these are drawn faintly, since they would cover everything."""

MAX_ARROWS: Final = 80
"""The number of flows that are arrows: those with the most calls, and as many failed ones. All other flows between
two agents are one line."""

MARGIN: Final = 10.0
_NARROWEST: Final = 320.0
_SMALLEST: Final = 0.5
"""The radius of a node with hardly any calls, as a share of the largest radius."""

MATRIX_FROM: Final = 20
"""The number of agents above which a matrix is easier to read than a drawing."""

SHADES: Final = 4

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


@dataclass(frozen=True, slots=True)
class Selection:
    """The agents with calls, those without, and the flows that are drawn; the rest is only counted."""

    agents: tuple[str, ...]
    isolated: tuple[str, ...]
    flows: tuple[Flow, ...]
    agents_left_out: int = 0
    isolated_left_out: int = 0
    calls_left_out: int = 0


def select(agents: Iterable[str], flows: Sequence[Flow]) -> Selection:
    """Selects the agents and flows to draw. Agents keep the given order; those that only flows name come last."""
    between = [flow for flow in flows if flow.caller != flow.callee]
    ends = (end for flow in between for end in (flow.caller, flow.callee))
    everyone = dict.fromkeys(agent for agent in (*agents, *ends) if agent != GREEN_AGENT)
    speaking = {end for flow in between for end in (flow.caller, flow.callee)}
    isolated = [agent for agent in everyone if agent not in speaking]
    chosen = speaking if len(speaking) <= MAX_AGENTS else _ends_of_strongest(between)
    shown = tuple(flow for flow in between if {flow.caller, flow.callee} <= chosen)
    return Selection(
        agents=tuple(agent for agent in everyone if agent in chosen),
        isolated=tuple(isolated[:MAX_AGENTS]),
        flows=shown,
        agents_left_out=len(speaking) - len(chosen),
        isolated_left_out=max(0, len(isolated) - MAX_AGENTS),
        calls_left_out=sum(flow.calls for flow in between) - sum(flow.calls for flow in shown),
    )


def _ends_of_strongest(flows: Iterable[Flow]) -> set[str]:
    """The ends of the flows with the most calls, up to `MAX_AGENTS`."""
    chosen: set[str] = set()
    for flow in sorted(flows, key=lambda flow: (-flow.calls, flow.caller, flow.callee)):
        wanted = chosen | {flow.caller, flow.callee}
        if len(wanted) <= MAX_AGENTS:
            chosen = wanted
    return chosen


def messages_by_agent(flows: Iterable[Flow]) -> Counter[str]:
    """The number of calls that each agent made or received."""
    messages: Counter[str] = Counter()
    for flow in flows:
        messages[flow.caller] += flow.calls
        messages[flow.callee] += flow.calls
    return messages


@dataclass(frozen=True, slots=True)
class Drawing:
    """The agent graph in SVG user units. `isolated_from`: the y of the section of isolated agents."""

    frame: Box
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    light: tuple[LightEdge, ...]
    isolated: tuple[Node, ...]
    isolated_from: float
    most_calls: int
    chosen: Selection

    @property
    def dense(self) -> bool:
        """Whether there are too many flows to tell them apart."""
        return len(self.chosen.flows) > DENSE

    @property
    def has_errors(self) -> bool:
        """Whether any flow has failed calls."""
        return any(arrow.failed for arrow in self.arrows)


def draw(agents: Sequence[str], flows: Sequence[Flow]) -> Drawing:
    """Draws a team: the agents with calls on a circle, isolated agents in rows below it."""
    chosen = select(agents, flows)
    layout = circular_layout(chosen.agents, chosen.flows)
    nodes = _nodes(layout, chosen.flows)
    team = reduce(Box.around, map(box_of, nodes.values()), Box(-_NARROWEST / 2, 0, _NARROWEST / 2, 0))
    strong, light = _by_weight(chosen.flows)
    isolated = tuple(rows(chosen.isolated, team.left, team.right, team.bottom + 1.8 * ROW))
    return Drawing(
        frame=_framed(reduce(Box.around, map(box_of, isolated), team)),
        nodes=tuple(nodes.values()),
        arrows=tuple(arrows_of(strong, nodes, widest=0.4 * largest_radius(layout))),
        light=tuple(light_edges_of(light, nodes)),
        isolated=isolated,
        isolated_from=round(team.bottom + ROW / 2, 1),
        most_calls=max((flow.calls for flow in chosen.flows), default=0),
        chosen=chosen,
    )


def _by_weight(flows: Sequence[Flow]) -> tuple[list[Flow], list[Flow]]:
    """The flows that are arrows, and the light ones."""
    ranked = sorted(flows, key=lambda flow: (-flow.calls, flow.caller, flow.callee))
    failed = [flow for flow in ranked if flow.errors][:MAX_ARROWS]
    strong = dict.fromkeys([*ranked[:MAX_ARROWS], *failed])
    return [flow for flow in flows if flow in strong], [flow for flow in flows if flow not in strong]


def _nodes(layout: Layout, flows: Sequence[Flow]) -> dict[str, Node]:
    """The nodes. Their areas grow with the calls that their agents made or received."""
    calls, largest = messages_by_agent(flows), largest_radius(layout)
    most = max(calls.values(), default=1)
    upright, free = len(layout.ring) <= MAX_UPRIGHT, direction_between_spokes(layout)
    nodes = {}
    for agent, point in positions(layout).items():
        share = max(calls[agent], 0) / max(most, 1)
        radius = largest * (_SMALLEST + (1 - _SMALLEST) * share**0.5)
        nodes[agent] = node(agent, calls[agent], point, radius, free, upright=upright)
    return nodes


def _framed(box: Box) -> Box:
    return Box(
        round(box.left - MARGIN, 1),
        round(box.top - MARGIN, 1),
        round(box.right + MARGIN, 1),
        round(box.bottom + MARGIN, 1),
    )


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


@dataclass(frozen=True, slots=True)
class CallCell:
    """The calls from one agent to another. `column`, `row`: from 0; `shade`: from 1 to `SHADES`, by calls."""

    column: int
    row: int
    text: str
    title: str
    shade: int
    failed: bool


@dataclass(frozen=True, slots=True)
class CallMatrix:
    """The agents in the order of rows and columns (name, whole name), and the cells with calls."""

    agents: tuple[tuple[str, str], ...]
    cells: tuple[CallCell, ...]


def call_matrix(agents: Sequence[str], flows: Sequence[Flow]) -> CallMatrix | None:
    """The matrix of agents that call others or are called; None for a small team, which is drawn."""
    if len(agents) <= MATRIX_FROM:
        return None
    calls = messages_by_agent(flows)
    order = sorted(agents, key=lambda agent: (-calls[agent], agent))
    at = {agent: place for place, agent in enumerate(order)}
    most = max((flow.calls for flow in flows), default=1)
    return CallMatrix(
        agents=tuple((shortened(agent, LABEL_LIMIT), on_one_line(agent)) for agent in order),
        cells=tuple(
            _cell(flow, at[flow.callee], at[flow.caller], most)
            for flow in sorted(flows, key=lambda flow: (at[flow.caller], at[flow.callee]))
        ),
    )


def _cell(flow: Flow, column: int, row: int, most: int) -> CallCell:
    failed = f", {flow.errors:,} failed" if flow.errors else ""
    return CallCell(
        column=column,
        row=row,
        text=f"{flow.calls}" if flow.calls < 100 else "99+",
        title=f"{on_one_line(flow.caller)} → {on_one_line(flow.callee)}: {counted(flow.calls, 'call')}{failed}",
        shade=min(SHADES, max(1, -(-SHADES * flow.calls // max(most, 1)))),
        failed=flow.errors > 0,
    )
