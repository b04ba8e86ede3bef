"""A hash chain over a simulation's steps. Two runs of the same calls have equal chains."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from concord_environment.core.steps import Step, StepKind

GENESIS: Final = "0" * 64
"""The head of an empty chain."""


class Chain:
    """The heads of the chain, computed on demand.

    Rows are immutable, so a link can be computed long after its step. A run that is never compared never
    computes the hashes.
    """

    def __init__(self, first: str = GENESIS) -> None:
        self._first = first
        self._heads: list[str] = []

    def heads(self, steps: Sequence[Step]) -> list[str]:
        """The head after each of the steps."""
        head = self._heads[-1] if self._heads else self._first
        for step in steps[len(self._heads) :]:
            head = link(head, step)
            self._heads.append(head)
        return self._heads

    def head(self, steps: Sequence[Step]) -> str:
        """The head after the last step."""
        heads = self.heads(steps)
        return heads[-1] if heads else self._first

    def cut(self, length: int) -> None:
        """Drops the links after the first `length`."""
        del self._heads[length:]


def link(head: str, step: Step) -> str:
    """The next head: SHA-256 over the previous head, the step's kind, the clock and every row written."""
    if step.kind is StepKind.CLOCK:
        return head
    parts = [f"{head}\n{step.kind}\n{step.at}".encode()]
    for table, key, _, after in step.changes:
        parts += (f"\n{table.name}\n{key}\n".encode(), b"" if after is None else table.digest(after))
    return sha256(b"".join(parts)).hexdigest()
