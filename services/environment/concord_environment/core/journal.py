"""The journal: every step of a simulation, to go back and forth over, and the chain of hashes over it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

from concord_environment.core.tables import Change, Table

GENESIS: Final = "0" * 64
"""The head of a chain without links."""


class StepKind(StrEnum):
    """What a step did. `clock` moved time before anything else happened; it is no link of the chain."""

    SCHEDULED = "scheduled"
    EXECUTED = "executed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    CLOCK = "clock"


@dataclass(frozen=True, slots=True)
class Position:
    """Where a simulation stands between two steps: its clock (µs), its counter and the head of its chain."""

    clock: int
    sequence: int
    head: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what it is about, when it happened (µs), its writes, and the positions before it and the next."""

    kind: StepKind
    at: int
    event_ids: tuple[str, ...]
    changes: tuple[Change, ...]
    before: Position
    after: Position


class Journal:
    """The steps taken, and those taken back that can be taken again."""

    def __init__(self, tables: Mapping[str, Table[Any]]) -> None:
        self._tables = tables
        self.steps: list[Step] = []
        self.undone: list[Step] = []

    def link(self, head: str, kind: StepKind, clock: int, changes: list[Change]) -> str:
        """The next head: SHA-256 over the head before, the kind, the clock and every row written."""
        parts = [f"{head}\n{kind}\n{clock}".encode()]
        for change in changes:
            after = b"" if change.after is None else self._tables[change.table].digest(change.after)
            parts += (f"\n{change.table}\n{change.key}\n".encode(), after)
        return sha256(b"".join(parts)).hexdigest()

    def add(self, step: Step) -> None:
        """Takes a new step in. What was undone before it cannot be redone after it."""
        self.undone.clear()
        self.steps.append(step)

    def move(self, after: Position) -> None:
        """Notes that time went on after the last step, which there has to be: undoing the step undoes that too."""
        self.undone.clear()
        self.steps[-1] = replace(self.steps[-1], after=after)

    def back(self, count: int) -> list[Step]:
        """Takes the last `count` steps back, latest first."""
        return [self._take(self.steps, self.undone, self._revert) for _ in range(min(count, len(self.steps)))]

    def forth(self, count: int) -> list[Step]:
        """Takes the next `count` undone steps again."""
        return [self._take(self.undone, self.steps, self._apply) for _ in range(min(count, len(self.undone)))]

    @staticmethod
    def _take(source: list[Step], target: list[Step], write: Callable[[Step], None]) -> Step:
        step = source.pop()
        write(step)
        target.append(step)
        return step

    def _revert(self, step: Step) -> None:
        for change in reversed(step.changes):
            self._tables[change.table].write(change.key, change.before)

    def _apply(self, step: Step) -> None:
        for change in step.changes:
            self._tables[change.table].write(change.key, change.after)
