"""Texts on the work that a trace from a file tells of."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from concord.assessment.recorded_work import RecordedFailure
from concord_cli.display_text import on_one_line, shortened

MAX_ERROR: Final = 120
"""Characters of an error on one line."""

_NATURES: Final[Mapping[str, str]] = MappingProxyType(
    {"error": "failed", "timeout": "timed out", "refusal": "was refused", "exception": "recorded an exception"}
    | {"cancelled": "was cancelled", "guardrail": "was stopped by a guardrail"}
)


def failure_text(failure: RecordedFailure) -> str:
    """A failure on one line: `searcher's tool search failed: no such harbour`."""
    agent, name = on_one_line(failure.agent), on_one_line(failure.name or "")
    subject = {
        "run": f"the run of {agent}",
        "agent": f"{agent}, asked from outside,",
        "call": f"{agent}, called by {name},",
        "tool": f"{agent}'s tool {name}",
        "model": f"{agent}'s model {name}",
        "step": f"{agent}'s own work",
    }[failure.where]
    deed = f"{_NATURES[failure.nature]}{', which was handled' if failure.handled else ''}"
    return f"{subject} {deed}: {shortened(failure.error, MAX_ERROR)}"
