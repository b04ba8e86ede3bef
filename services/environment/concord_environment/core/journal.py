"""The journal: every step of a simulation, to go back and forth over."""

from concord_environment.core.chain import GENESIS, Chain
from concord_environment.core.steps import Mark, Step


class Journal:
    """The steps taken, those taken back that can be taken again, and the chain of hashes over the steps taken."""

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
        """Takes a new step in. What was undone before it cannot be redone after it."""
        self.undone.clear()
        self.steps.append(step)

    def move(self, after: Mark) -> None:
        """Notes that time went on after the last step, which there has to be: undoing the step undoes that too."""
        self.undone.clear()
        self.steps[-1] = self.steps[-1]._replace(after=after)

    def back(self, count: int) -> list[Step]:
        """Takes the last `count` steps back, latest first."""
        taken = [self.steps.pop() for _ in range(min(count, len(self.steps)))]
        for step in taken:
            for change in reversed(step.changes):
                change.table.write(change.key, change.before)
        self.undone += taken
        self._chain.cut(len(self.steps))
        return taken

    def forth(self, count: int) -> list[Step]:
        """Takes the next `count` undone steps again."""
        taken = [self.undone.pop() for _ in range(min(count, len(self.undone)))]
        for step in taken:
            for change in step.changes:
                change.table.write(change.key, change.after)
        self.steps += taken
        return taken
