"""The agent graph as an SVG drawing."""

from concord_cli.report.graph.drawing import Drawing, draw

__all__ = ["Drawing", "draw"]
