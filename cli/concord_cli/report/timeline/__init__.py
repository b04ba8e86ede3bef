"""The timeline of a trial: a lane per agent, a bar per call it answered, an arrow from whoever called."""

from concord_cli.report.timeline.drawing import Timeline, draw

__all__ = ["Timeline", "draw"]
