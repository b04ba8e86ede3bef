"""`concord compare`: which of several teams is shown to be better, on the tasks that they share."""

from concord_cli.compare.command import compare

__all__ = ["compare"]
