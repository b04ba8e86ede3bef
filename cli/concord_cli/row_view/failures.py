"""Failures of the infrastructure in words: what failed, and who caused it."""

from typing import Final

from concord.assessment.result_row import Cause, InfrastructureFailure

_CAUSES: Final[dict[Cause | None, str]] = {
    "concord": " (lost by Concord)",
    "participants": " (lost by the participants, and counts 0)",
    "unknown": " (nobody knows who lost it)",
    None: "",
}


def failure_text(failure: InfrastructureFailure) -> str:
    """A failure in one line, without the trial."""
    attempt = ", second attempt" if failure.attempt > 1 else ""
    return f"{failure.stage}{attempt} failed{_CAUSES[failure.caused_by]}: {failure.message}"
