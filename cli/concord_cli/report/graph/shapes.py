"""The shapes of the drawing, in SVG user units; a point is a complex number, x to the right and y down."""

from dataclasses import dataclass
from typing import Final, Literal

HEAD: Final = 5.5
"""How long the head of an arrow without any width would be; it grows with the width."""

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
class Mark:
    """A number in the middle of a flow: how many of its calls failed."""

    x: float
    y: float
    width: int
    text: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """A flow: the path of its line, the path of its head, and a mark if some of its calls failed."""

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
        """As the data of an SVG path."""
        return f"M{_xy(self.start)}Q{_xy(self.control)} {_xy(self.end)}"

    def head(self, width: float) -> str:
        """The arrowhead of a line of this width, as the data of an SVG path."""
        along = self.tip - self.end
        across = along / abs(along) * 1j * (2.4 + width * 0.9)
        return f"M{_xy(self.tip)}L{_xy(self.end + across)} {_xy(self.end - across)}z"


def curve(start: complex, start_radius: float, end: complex, end_radius: float, bend: float, width: float) -> Curve:
    """A curve between two nodes. `bend`: how far its middle is pulled to its right, as a share of its length."""
    control = (start + end) / 2 + (end - start) * 1j * bend
    inward = _unit(end - control)
    tip = end - inward * (end_radius + 1.5)
    return Curve(start + _unit(control - start) * (start_radius + 1), control, tip - inward * (HEAD + width * 1.5), tip)


def _unit(vector: complex) -> complex:
    return vector / abs(vector)


def _xy(point: complex) -> str:
    return f"{round(point.real, 1):g} {round(point.imag, 1):g}"
