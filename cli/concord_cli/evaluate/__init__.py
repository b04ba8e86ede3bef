"""`concord evaluate`: traces that people already have, read from files and evaluated in this process."""

from concord_cli.evaluate.command import Request, evaluate

__all__ = ["Request", "evaluate"]
