"""Agents as nodes in SVG user units: position, radius and label. A point is a complex number, y down."""

import cmath
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from concord_cli.display_text import shortened, width_of
from concord_cli.report.graph.layout import Layout

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
