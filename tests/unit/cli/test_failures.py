"""Failures in words: each names who lost the trial, where that is known."""

import pytest

from concord.assessment.result_row import Cause, InfrastructureFailure, Loss
from concord_cli.row_view.verdict import failure_text


@pytest.mark.parametrize(
    ("cause", "attempt", "text"),
    [
        (None, 1, "trial failed: storage is full"),
        ("concord", 1, "trial failed (lost by Concord): storage is full"),
        ("participants", 2, "trial, second attempt failed (lost by the participants, and counts 0): storage is full"),
        ("unknown", 1, "trial failed (nobody knows who lost it): storage is full"),
    ],
)
def test_a_failure_says_what_failed_and_who_caused_it(cause: Cause | None, attempt: int, text: str) -> None:
    failure = InfrastructureFailure(
        trial_id="trial-1",
        stage="trial",
        message="storage is full",
        attempt=attempt,
        loss=Loss.STORAGE_FULL,
        caused_by=cause,
    )
    assert failure_text(failure) == text
