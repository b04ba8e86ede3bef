"""Steps, the units of undo and of the hash chain, and the marks between them."""

from enum import StrEnum
from typing import NamedTuple

from concord_environment.core.tables import Change


class StepKind(StrEnum):
    """What a step did. `clock` is a move of the clock before the first other step. It is not a link of the chain."""

    SCHEDULED = "scheduled"
    EXECUTED = "executed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    CLOCK = "clock"


# NamedTuples: every event creates some, and dataclasses take twice the time.


class Mark(NamedTuple):
    """The values of a simulation's clock (µs) and event counter."""

    clock: int
    sequence: int


class Step(NamedTuple):
    """One step: its kind, its time (µs), its events, its writes, and the marks before it and before the next step."""

    kind: StepKind
    at: int
    event_ids: tuple[str, ...]
    changes: tuple[Change, ...]
    before: Mark
    after: Mark
