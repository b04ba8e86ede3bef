"""Transactions: the writes, ids and follow-up actions of one action. Either all of its writes happen or none."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from concord_environment.core.actions import Action
from concord_environment.core.identity import row_id
from concord_environment.core.tables import Change, Table

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Cause:
    """A follow-up action of another action."""

    action: Action
    due: datetime


class Transaction:
    """The writes of one action at one simulated time."""

    __slots__ = ("_ids", "_sequence", "_space", "agent_id", "causes", "changes", "ignored", "now")

    def __init__(self, now: datetime, space: bytes, sequence: int, agent_id: str | None) -> None:
        self.now = now
        """The simulated time of the action."""
        self.agent_id = agent_id
        """The id of the caller's key."""
        self.changes: list[Change] = []
        self.causes: list[Cause] = []
        self.ignored: list[str] = []
        """The ids in the action that name no row. The action leaves them out."""
        self._space = space
        self._sequence = sequence
        self._ids = 0

    def new_id(self) -> str:
        """A new id for a row of this action."""
        self._ids += 1
        return row_id(self._space, self._sequence, self._ids)

    def named(self, table: Table[Row], key: str) -> Row | None:
        """The row that the action names by its id. None if there is none: the action leaves the id out."""
        row = table.get(key)
        if row is None:
            self.ignored.append(key)
        return row

    def put(self, table: Table[Row], key: str, row: Row) -> None:
        """Writes a row."""
        self.changes.append(table.write(key, row))

    def drop(self, table: Table[Row], key: str) -> None:
        """Deletes a row."""
        self.changes.append(table.write(key, None))

    def cause(self, action: Action, due: datetime | None = None) -> None:
        """Schedules a follow-up action, due at once unless a time is given."""
        self.causes.append(Cause(action, self.now if due is None else due))

    def roll_back(self) -> None:
        """Undoes every write, latest first."""
        for change in reversed(self.changes):
            change.table.write(change.key, change.before)
        self.changes, self.causes = [], []
