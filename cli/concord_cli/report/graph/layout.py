"""A circular layout: agents with many calls stand close, the hub of a star in the centre; nodes and their labels.

All in SVG user units. A point is a complex number, x to the right and y down.
"""

import cmath
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from concord_cli.display_text import shortened, width_of
from concord_cli.row_view.flows import Flow

MAX_PASSES: Final = 6
"""Limit of the passes that improve the order; it has mostly settled after three."""

MIN_STAR: Final = 4
"""A team of fewer agents has no hub in the centre: of three, each is beside the others anyway."""

_Weights = Mapping[str, Mapping[str, int]]

FONT: Final = 15.0
"""Font size of the labels in user units on small screens; the style sheet reduces it on others."""

LABEL_LIMIT: Final = 20
"""Limit of a label (characters); the tables have the whole id."""

MAX_UPRIGHT: Final = 12
"""Up to so many agents on the circle, labels are horizontal; those of more would touch, and so point outwards."""

MAX_RADIUS: Final = 20.0
ROW: Final = 34.0
_GAP: Final = 7.0
_SIDEWAYS: Final = 0.15

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Layout:
    """The agents on the circle, clockwise, and the one in its centre, if any."""

    ring: tuple[str, ...]
    centre: str | None = None


def circular_layout(agents: Sequence[str], flows: Iterable[Flow]) -> Layout:
    """Lays the agents out. Deterministic."""
    weights = _weights(flows)
    hub = _hub(agents, weights)
    if hub is not None:
        ring = _ordered([agent for agent in agents if agent != hub], weights)
        if _leaves_centre_free(ring, weights):
            return Layout(tuple(ring), hub)
    return Layout(tuple(_ordered(agents, weights)))


def _weights(flows: Iterable[Flow]) -> _Weights:
    weights: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for flow in flows:
        weights[flow.caller][flow.callee] += flow.calls
        weights[flow.callee][flow.caller] += flow.calls
    return weights


def _hub(agents: Sequence[str], weights: _Weights) -> str | None:
    """The agent that is adjacent to every other, if there is exactly one."""
    if len(agents) < MIN_STAR:
        return None
    hubs = [agent for agent in agents if len(weights[agent]) == len(agents) - 1]
    return hubs[0] if len(hubs) == 1 else None


def _leaves_centre_free(ring: Sequence[str], weights: _Weights) -> bool:
    """Whether all flows between agents on the circle stay near its rim, so that none crosses the centre."""
    at = {agent: i for i, agent in enumerate(ring)}
    reach = max(1, len(ring) // 3)
    partners = ((agent, partner) for agent in ring for partner in weights[agent] if partner in at)
    return all(_distance(at[agent], at[partner], len(ring)) <= reach for agent, partner in partners)


def _ordered(agents: Sequence[str], weights: _Weights) -> list[str]:
    """Orders agents along their flows, then swaps pairs as long as that shortens the flows."""
    order = _order_by_flows(agents, weights)
    at = {agent: i for i, agent in enumerate(order)}
    for _ in range(MAX_PASSES):
        swaps = [_swap_if_better(order, at, i, j, weights) for i in range(len(order)) for j in range(i + 1, len(order))]
        if not any(swaps):
            break
    return order


def _order_by_flows(agents: Sequence[str], weights: _Weights) -> list[str]:
    """Starts at an agent with few neighbours and goes on to its most frequent one, so that a chain stays a chain."""
    left = sorted(agents, key=lambda agent: len(weights[agent]))
    order: list[str] = []
    while left:
        partners = weights[order[-1]] if order else {}
        following = max(left, key=lambda agent: partners.get(agent, 0))
        left.remove(following)
        order.append(following)
    return order


def _swap_if_better(order: list[str], at: dict[str, int], i: int, j: int, weights: _Weights) -> bool:
    pair = order[i], order[j]
    before = sum(_edge_length(agent, at, weights) for agent in pair)
    at[pair[0]], at[pair[1]] = j, i
    if sum(_edge_length(agent, at, weights) for agent in pair) < before:
        order[i], order[j] = order[j], order[i]
        return True
    at[pair[0]], at[pair[1]] = i, j
    return False


def _edge_length(agent: str, at: Mapping[str, int], weights: _Weights) -> int:
    """The total length of an agent's edges along the circle, weighted by calls."""
    place = at[agent]
    return sum(
        calls * _distance(place, at[partner], len(at)) for partner, calls in weights[agent].items() if partner in at
    )


def _distance(i: int, j: int, n: int) -> int:
    return min((i - j) % n, (j - i) % n)


@dataclass(frozen=True, slots=True)
class Label:
    """A line of text beside a node; `turn`: its rotation around its point, in degrees."""

    x: float
    y: float
    text: str
    anchor: Anchor
    turn: float = 0.0


@dataclass(frozen=True, slots=True)
class Node:
    """An agent's circle and its label; `calls`: how many it made or received."""

    agent: str
    calls: int
    x: float
    y: float
    radius: float
    label: Label


@dataclass(frozen=True, slots=True)
class Box:
    """A bounding box."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """Right minus left."""
        return round(self.right - self.left, 1)

    @property
    def height(self) -> float:
        """Bottom minus top."""
        return round(self.bottom - self.top, 1)

    def around(self, other: "Box") -> "Box":
        """The bounding box of both."""
        return Box(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )


def positions(layout: Layout) -> dict[str, complex]:
    """The position of each agent: two side by side, more on a circle whose radius grows with their number."""
    n = len(layout.ring)
    radius = 80 + 10.0 * n if n <= MAX_UPRIGHT else 150 + 2.5 * n
    first = math.pi if n == 2 and layout.centre is None else -math.pi / 2
    points = {agent: cmath.rect(radius, first + math.tau * i / n) for i, agent in enumerate(layout.ring)}
    return points if layout.centre is None else {layout.centre: 0j, **points}


def direction_between_spokes(layout: Layout) -> complex:
    """The unit vector from the centre that points between two spokes, as far to the right as possible."""
    n = len(layout.ring)
    between = [cmath.rect(1, -math.pi / 2 + math.tau * (i + 0.5) / n) for i in range(n)]
    return max(between, key=lambda direction: round(direction.real, 6), default=1 + 0j)


def largest_radius(layout: Layout) -> float:
    """The largest radius of a node at which neighbours on the circle do not touch."""
    n = len(layout.ring)
    return MAX_RADIUS if n <= MAX_UPRIGHT else min(MAX_RADIUS, 0.27 * math.tau * (150 + 2.5 * n) / n)


def node(agent: str, calls: int, point: complex, radius: float, free: complex, *, upright: bool) -> Node:
    """A node on the circle, its label outside; or in the centre, its label in the direction `free` (length 1)."""
    outward = point / abs(point) if point else free
    spot, text = point + outward * (radius + _GAP), shortened(agent, LABEL_LIMIT)
    label = _horizontal_label(spot, outward, text) if upright or not point else _radial_label(spot, outward, text)
    return Node(agent, calls, round(point.real, 1), round(point.imag, 1), round(radius, 1), label)


def _horizontal_label(spot: complex, outward: complex, text: str) -> Label:
    anchor: Anchor = "middle" if abs(outward.real) < _SIDEWAYS else "start" if outward.real > 0 else "end"
    return Label(round(spot.real, 1), round(spot.imag + FONT * 0.35 * (1 + outward.imag), 1), text, anchor)


def _radial_label(spot: complex, outward: complex, text: str) -> Label:
    """A label that points outwards and is never upside down."""
    turn = math.degrees(cmath.phase(outward))
    anchor: Anchor = "end" if abs(turn) > 90 else "start"
    turn = round(turn + 180 if abs(turn) > 90 else turn, 1)
    return Label(round(spot.real, 1), round(spot.imag, 1), text, anchor, turn)


def box_of(node: Node) -> Box:
    """The bounding box of a node and its label."""
    label, width = node.label, width_of(node.label.text, FONT)
    shift = {"start": 0.0, "middle": -width / 2, "end": -width}[label.anchor]
    along = cmath.rect(1, math.radians(label.turn))
    ends = [complex(label.x, label.y) + along * offset for offset in (shift, shift + width)]
    text = Box(
        min(end.real for end in ends),
        min(end.imag for end in ends) - FONT,
        max(end.real for end in ends),
        max(end.imag for end in ends) + 0.4 * FONT,
    )
    return text.around(Box(node.x - node.radius, node.y - node.radius, node.x + node.radius, node.y + node.radius))


def rows(agents: Sequence[str], left: float, right: float, top: float) -> Iterator[Node]:
    """Nodes in rows between `left` and `right`, each with its label to its right."""
    radius, x, y = 7.0, left, top
    for agent in agents:
        text = shortened(agent, LABEL_LIMIT)
        width = 2 * radius + _GAP + width_of(text, FONT)
        if x > left and x + width > right:
            x, y = left, y + ROW * 0.8
        label = Label(round(x + 2 * radius + _GAP, 1), round(y + FONT * 0.35, 1), text, "start")
        yield Node(agent, 0, round(x + radius, 1), round(y, 1), radius, label)
        x += width + 16
