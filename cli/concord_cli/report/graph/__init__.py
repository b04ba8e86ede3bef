"""The agent graph as an SVG drawing, and for a large team as a matrix."""

from concord_cli.report.graph.drawing import CallMatrix, Drawing, call_matrix, draw

__all__ = ["CallMatrix", "Drawing", "call_matrix", "draw"]
