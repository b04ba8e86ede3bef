"""Whose a loss is: decides whether a lost trial is played again, and what it counts. Nothing else decides that."""

from enum import StrEnum
from typing import Final, Literal


class Loss(StrEnum):
    """What was lost of a trial, or of its evaluation."""

    NOT_BEGUN = "not_begun"
    """Storage did not answer before the trial's first message."""
    GATEWAY = "gateway"
    """The gateway ended while the trial ran."""
    STORAGE = "storage"
    """Storage did not answer while the trial ran."""
    STORAGE_FULL = "storage_full"
    """Storage had no room for the trial's messages."""
    ENVIRONMENT = "environment"
    """The scenario could not be played, or its environment ended."""
    WORKER = "worker"
    """No worker finished the evaluation or the judgment."""
    LIMIT = "limit"
    """What the participants wrote exceeded the trial's budget, or the CPU time or memory of an evaluation."""
    ERROR = "error"
    """The gateway raised an error while it played the trial, or the evaluator did."""


Cause = Literal["concord", "participants", "unknown"]
"""Who lost a trial. A trial that its participants lost is forfeited."""

FILLED: Final = 0.5
"""The share of storage from which on an assessment's own data have filled it."""

_REPRODUCIBLE: Final = frozenset({Loss.GATEWAY, Loss.STORAGE, Loss.WORKER})
"""What a trial's own bytes may cause without a trace. A second time in the same way, they are taken to be the cause."""


def cause_of(loss: Loss, *, again: bool = False, share: float | None = None) -> Cause:
    """Who caused a loss.

    `again`: whether the trial was lost in the same way before. `share`: the part of storage's memory limit that the
    assessment's own data take up (0 to 1), None if that is not known.
    """
    if loss is Loss.LIMIT or (again and loss in _REPRODUCIBLE):
        return "participants"
    if loss in {Loss.STORAGE, Loss.STORAGE_FULL} and share is not None and share >= FILLED:
        return "participants"
    if loss in {Loss.ENVIRONMENT, Loss.ERROR} or (loss is Loss.STORAGE_FULL and share is None):
        return "unknown"
    return "concord"
