"""Agents as nodes: where on the ring they stand, how large they are, and how their labels stay apart."""

import cmath
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from concord_cli.display_text import shortened, width_of
from concord_cli.report.graph.layout import Arrangement

FONT: Final = 15.0
"""Size of the labels in user units, on small screens; on others, the style sheet makes them smaller."""

LABEL_LIMIT: Final = 20
"""Characters of a label; an agent's whole id is in the tables."""

MAX_UPRIGHT: Final = 12
"""Agents on a ring up to which labels are horizontal; those of more would touch, and so point outwards."""

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
    """The rectangle that something takes up."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right."""
        return round(self.right - self.left, 1)

    @property
    def height(self) -> float:
        """From top to bottom."""
        return round(self.bottom - self.top, 1)

    def around(self, other: "Box") -> "Box":
        """The smallest rectangle around both."""
        return Box(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )


def places(arrangement: Arrangement) -> dict[str, complex]:
    """The point where each agent stands: two side by side, more around a circle whose size goes with their number."""
    n = len(arrangement.ring)
    radius = 80 + 10.0 * n if n <= MAX_UPRIGHT else 150 + 2.5 * n
    first = math.pi if n == 2 and arrangement.centre is None else -math.pi / 2
    points = {agent: cmath.rect(radius, first + math.tau * i / n) for i, agent in enumerate(arrangement.ring)}
    return points if arrangement.centre is None else {arrangement.centre: 0j, **points}


def free_of_spokes(arrangement: Arrangement) -> complex:
    """The direction from the middle, of length 1, that is nearest to the right and halfway between two spokes."""
    n = len(arrangement.ring)
    between = [cmath.rect(1, -math.pi / 2 + math.tau * (i + 0.5) / n) for i in range(n)]
    return max(between, key=lambda direction: round(direction.real, 6), default=1 + 0j)


def largest_radius(arrangement: Arrangement) -> float:
    """How large a node of this arrangement may be, so that neighbours on the ring keep apart."""
    n = len(arrangement.ring)
    return MAX_RADIUS if n <= MAX_UPRIGHT else min(MAX_RADIUS, 0.27 * math.tau * (150 + 2.5 * n) / n)


def node(agent: str, calls: int, point: complex, radius: float, free: complex, *, upright: bool) -> Node:
    """A node on the ring, its label outside of it; or in the middle, its label towards `free`, of length 1."""
    outward = point / abs(point) if point else free
    spot, text = point + outward * (radius + _GAP), shortened(agent, LABEL_LIMIT)
    label = _level(spot, outward, text) if upright or not point else _pointing(spot, outward, text)
    return Node(agent, calls, round(point.real, 1), round(point.imag, 1), round(radius, 1), label)


def _level(spot: complex, outward: complex, text: str) -> Label:
    anchor: Anchor = "middle" if abs(outward.real) < _SIDEWAYS else "start" if outward.real > 0 else "end"
    return Label(round(spot.real, 1), round(spot.imag + FONT * 0.35 * (1 + outward.imag), 1), text, anchor)


def _pointing(spot: complex, outward: complex, text: str) -> Label:
    """A label that points outwards, and never stands on its head."""
    turn = math.degrees(cmath.phase(outward))
    anchor: Anchor = "end" if abs(turn) > 90 else "start"
    turn = round(turn + 180 if abs(turn) > 90 else turn, 1)
    return Label(round(spot.real, 1), round(spot.imag, 1), text, anchor, turn)


def box_of(node: Node) -> Box:
    """The rectangle around a node and its label."""
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
    """Nodes in rows from `left` to `right`, each with its label to its right."""
    radius, x, y = 7.0, left, top
    for agent in agents:
        text = shortened(agent, LABEL_LIMIT)
        width = 2 * radius + _GAP + width_of(text, FONT)
        if x > left and x + width > right:
            x, y = left, y + ROW * 0.8
        label = Label(round(x + 2 * radius + _GAP, 1), round(y + FONT * 0.35, 1), text, "start")
        yield Node(agent, 0, round(x + radius, 1), round(y, 1), radius, label)
        x += width + 16
