"""Steps: what a simulation does at one time as a whole, and where its clock and its counter stand in between."""

from enum import StrEnum
from typing import NamedTuple

from concord_environment.core.tables import Change


class StepKind(StrEnum):
    """What a step did. `clock` moved time before anything else happened; it is no link of the chain."""

    SCHEDULED = "scheduled"
    EXECUTED = "executed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    CLOCK = "clock"


# Tuples, not dataclasses: every event makes some, and these take half the time.


class Mark(NamedTuple):
    """Where a simulation's clock (µs) and counter stand."""

    clock: int
    sequence: int


class Step(NamedTuple):
    """One step: what it is about, when it happened (µs), its writes, and the marks before it and before the next."""

    kind: StepKind
    at: int
    event_ids: tuple[str, ...]
    changes: tuple[Change, ...]
    before: Mark
    after: Mark
