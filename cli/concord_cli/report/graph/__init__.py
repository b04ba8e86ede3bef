"""The agent graph as an SVG drawing, and for a large team as a matrix."""

from concord_cli.report.graph.drawing import Drawing, draw
from concord_cli.report.graph.matrix import CallMatrix, call_matrix

__all__ = ["CallMatrix", "Drawing", "call_matrix", "draw"]
