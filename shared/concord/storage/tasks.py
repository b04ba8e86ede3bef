"""The port for A2A tasks: what an agent's server, which knows no Redis, asks of storage, which knows no A2A."""

from dataclasses import dataclass
from typing import Protocol


class StaleTaskError(Exception):
    """A task was changed since it was read, or another process works on it: nothing was stored."""


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """An A2A task about to be stored. `head` is what lists show of it, `body` all of it: packed by who stores it.

    `request` is the message that began it, which is kept with its first version until it ends.
    """

    task_id: str
    owner: str
    head: bytes
    body: bytes
    request: bytes = b""
    ended: bool = False
    canceled: bool = False
    rejected: bool = False


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """An A2A task as it is stored: whose it is, how often it was stored, and what was."""

    task_id: str
    owner: str
    version: int
    body: bytes


@dataclass(frozen=True, slots=True)
class AbandonedTask:
    """A task whose process was lost, and which is now this process's to work on.

    `starts` counts the processes that worked on it, this one included. `kept`: see `TaskRecords.keep`.
    """

    task_id: str
    owner: str
    starts: int
    request: bytes
    kept: str | None


class TaskRecords(Protocol):
    """The A2A tasks of an agent, and which process works on each: the one that stored it, as long as it renews that.

    Of ended tasks, so many are kept for so long. Every method raises StorageUnavailableError.
    """

    lease_s: int
    """Seconds after which the tasks of a process that renews nothing are another's."""

    async def begin(self, message: bytes, task_id: str, *, instead_of: str = "") -> str:
        """Notes that a message, known by its digest, begins a task. Returns `task_id`, or the task that the same
        message began before, unless that is the task `instead_of`."""

    async def save(self, draft: TaskDraft, version: int) -> int:
        """Stores a task that was read as `version` (0: it is new) and returns its new version.

        A canceled task is stored whatever its version, unless it has ended. Raises StaleTaskError.
        """

    async def get(self, task_id: str) -> TaskRecord | None:
        """The task, or None where there is none."""

    async def version(self, task_id: str) -> int:
        """The version of a task; 0 where there is none."""

    async def heads(self, owner: str) -> list[bytes]:
        """The heads of a caller's tasks."""

    async def delete(self, task_id: str) -> None:
        """Forgets a task."""

    async def keep(self, task_id: str, text: str) -> None:
        """Keeps a text with a task, which whoever takes it over is given."""

    async def renew(self) -> list[str]:
        """Says that this process still works on its tasks. Returns those that another has taken over or ended."""

    async def adopt(self) -> AbandonedTask | None:
        """The oldest task that no process works on, from now on this one's; None where there is none."""

    async def release(self) -> None:
        """Gives up all tasks of this process, which another may take over at once."""
