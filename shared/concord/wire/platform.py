"""Limits of the platform, AgentBeats, to which Concord's own limits fit (seconds)."""

from typing import Final

RUN_S: Final = 300 * 60
"""The platform ends a run after so long."""

SILENCE_S: Final = 300.0
"""The silence after which the platform's clients give up."""
