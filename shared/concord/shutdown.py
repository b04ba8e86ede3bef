"""How long programs may take to end (seconds)."""

from typing import Final

SERVICE_S: Final = 8
"""Open requests and running jobs of a service after SIGTERM. Container engines kill ten seconds after it."""

CHILD_S: Final = 3.0
"""A program that one of ours has started, between SIGTERM and SIGKILL."""
