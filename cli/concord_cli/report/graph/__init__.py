"""The agent graph as a drawing: which agents and flows, where they stand, and the shapes they become."""

from concord_cli.report.graph.drawing import Drawing, draw

__all__ = ["Drawing", "draw"]
