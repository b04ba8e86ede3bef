"""The port for A2A tasks: it lets the A2A server use storage without Redis, and storage keep tasks without A2A."""

from dataclasses import dataclass
from typing import Protocol


class StaleTaskError(Exception):
    """Another process changed or holds the task; nothing was stored."""


class TooManyWebhooksError(Exception):
    """The task has the maximum number of webhooks; nothing was stored."""


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """An A2A task to store. `head` has the fields that lists select by, `body` the whole task; both are opaque to
    storage.

    `request` is the message that began the work. It is stored when the work begins: with the first version, and with
    the version after a task was `waiting` for its client. It is deleted when the work ends.
    """

    task_id: str
    owner: str
    head: bytes
    body: bytes
    request: bytes = b""
    ended: bool = False
    canceled: bool = False
    rejected: bool = False
    waiting: bool = False
    listed_by: str = ""
    """The owner, or what only an anonymous client of this task knows. Empty: the task is in no list."""


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A stored A2A task, with its owner and version."""

    task_id: str
    owner: str
    version: int
    body: bytes


@dataclass(frozen=True, slots=True)
class AbandonedTask:
    """A task that its process abandoned, and that this process has adopted.

    `starts` counts the processes that worked on it, including this one. `checkpoint` is the text
    stored by `TaskRecords.save_checkpoint`.
    """

    task_id: str
    owner: str
    starts: int
    request: bytes
    checkpoint: str | None


class TaskRecords(Protocol):
    """The A2A tasks of an agent. Each is leased to the process that works on it.

    Ended tasks are kept for a limited time and up to a limited size. Every method raises StorageUnavailableError.
    """

    lease_s: int
    """How long a lease lasts unless it is renewed (seconds)."""

    async def begin(self, message: bytes, task_id: str, *, instead_of: str = "") -> str:
        """Registers the message, given by its digest, as the beginning of a task.

        Returns `task_id`, or the id of the task that the same message began earlier, unless that is `instead_of`.
        """

    async def save(self, draft: TaskDraft, version: int) -> int:
        """Stores a task that was read at `version` (0: it is new); returns the new version.

        A cancellation overwrites any version of a task that has not ended. Raises StaleTaskError.
        """

    async def get(self, task_id: str) -> TaskRecord | None:
        """The task, or None."""

    async def version(self, task_id: str) -> int:
        """The version of a task, 0 if it does not exist."""

    async def heads(self, listed_by: str) -> list[bytes]:
        """The heads of the tasks that are listed by the same."""

    async def delete(self, task_id: str) -> None:
        """Deletes a task."""

    async def save_checkpoint(self, task_id: str, text: str) -> None:
        """Stores a text with a task, for the process that adopts it."""

    async def renew(self) -> list[str]:
        """Renews the leases of this process. Returns the tasks that another process has adopted or ended."""

    async def adopt(self) -> AbandonedTask | None:
        """Adopts the oldest task without a lease, if there is one."""

    async def release(self) -> None:
        """Releases all leases of this process, so that others can adopt its tasks at once."""


class WebhookRecords(Protocol):
    """The webhooks of A2A tasks, by id. They expire with their task. Every method raises StorageUnavailableError."""

    async def save(self, task_id: str, webhook_id: str, body: bytes) -> None:
        """Stores a webhook, which is opaque to storage, over one with its id. Raises TooManyWebhooksError."""

    async def all(self, task_id: str) -> list[bytes]:
        """The webhooks of a task, sorted by id."""

    async def delete(self, task_id: str, webhook_id: str) -> None:
        """Deletes a webhook, if it exists."""
