"""The timeline of a trial: a lane for each agent, a bar for each call that it answered, an arrow from the caller."""

from concord_cli.report.timeline.drawing import Timeline, draw

__all__ = ["Timeline", "draw"]
