"""The journal: every step of a simulation, to go back and forth over, and the chain of hashes over it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

from concord_environment.core.tables import Change, Table

GENESIS: Final = "0" * 64
"""The head of a chain without links."""


class StepKind(StrEnum):
    """What a step did. `clock` moves time and nothing else, so it is no link of the chain and rides with the rest."""

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
    """One step: the events that it is about and its writes, from one position to the next."""

    kind: StepKind
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
        digest = sha256(f"{head}\n{kind}\n{clock}".encode())
        for change in changes:
            digest.update(f"\n{change.table}\n{change.key}\n".encode())
            if change.after is not None:
                digest.update(self._tables[change.table].digest(change.after))
        return digest.hexdigest()

    def add(self, step: Step) -> None:
        """Takes a new step in. What was undone before it cannot be redone after it. Moves of the clock are joined."""
        self.undone.clear()
        if step.kind is StepKind.CLOCK and self.steps and self.steps[-1].kind is StepKind.CLOCK:
            step = Step(StepKind.CLOCK, (), (), self.steps.pop().before, step.after)
        self.steps.append(step)

    def back(self, count: int) -> list[Step]:
        """Takes the last `count` steps back, latest first; moves of the clock after them go along."""
        return self._move(self.steps, self.undone, count, self._revert)

    def forth(self, count: int) -> list[Step]:
        """Takes the next `count` undone steps again; the clock moves that followed them go along."""
        taken = self._move(self.undone, self.steps, count, self._apply)
        while self.undone and self.undone[-1].kind is StepKind.CLOCK:
            taken += self._move(self.undone, self.steps, 0, self._apply)
        return taken

    def _move(self, source: list[Step], target: list[Step], count: int, write: Callable[[Step], None]) -> list[Step]:
        taken: list[Step] = []
        while source and (count > 0 or source[-1].kind is StepKind.CLOCK):
            step = source.pop()
            write(step)
            target.append(step)
            taken.append(step)
            if step.kind is not StepKind.CLOCK:
                count -= 1
                if count == 0:
                    break
        return taken

    def _revert(self, step: Step) -> None:
        for change in reversed(step.changes):
            self._tables[change.table].write(change.key, change.before)

    def _apply(self, step: Step) -> None:
        for change in step.changes:
            self._tables[change.table].write(change.key, change.after)
