"""The undo and redo history of a simulation."""

from concord_environment.core.chain import GENESIS, Chain
from concord_environment.core.steps import Mark, Step


class History:
    """The steps taken, the undone steps that can be redone, and the hash chain over the steps taken."""

    def __init__(self, head: str = GENESIS) -> None:
        self.steps: list[Step] = []
        self.undone: list[Step] = []
        self._chain = Chain(head)

    @property
    def head(self) -> str:
        """The head of the chain."""
        return self._chain.head(self.steps)

    def heads(self) -> list[str]:
        """The head after each of the steps."""
        return self._chain.heads(self.steps)

    def add(self, step: Step) -> None:
        """Adds a new step. Undone steps can no longer be redone."""
        self.undone.clear()
        self.steps.append(step)

    def extend_last(self, after: Mark) -> None:
        """Adds a move of the clock to the last step, so that undoing the step undoes the move. Needs a step."""
        self.undone.clear()
        self.steps[-1] = self.steps[-1]._replace(after=after)

    def undo(self, count: int) -> list[Step]:
        """Undoes the last `count` steps, or all if there are fewer. Returns them, latest first."""
        undone = [self.steps.pop() for _ in range(min(count, len(self.steps)))]
        for step in undone:
            for change in reversed(step.changes):
                change.table.write(change.key, change.before)
        self.undone += undone
        self._chain.cut(len(self.steps))
        return undone

    def redo(self, count: int) -> list[Step]:
        """Redoes the next `count` undone steps, or all if there are fewer. Returns them in order."""
        redone = [self.undone.pop() for _ in range(min(count, len(self.undone)))]
        for step in redone:
            for change in step.changes:
                change.table.write(change.key, change.after)
        self.steps += redone
        return redone
