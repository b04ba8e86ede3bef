"""A task store in memory, for agents whose tasks end with the process."""

import asyncio
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from a2a.server.context import ServerCallContext
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import a2a_pb2 as pb

from concord import retention
from concord.a2a.messages import text_part, texts_of
from concord.wire.extensions import ASSIGNMENT_KEY

MAX_HISTORY: Final = 32
"""Limit on a task's messages: the first and the latest are kept. Each update copies the task."""

MAX_KEPT_MESSAGE: Final = 128 * 1024
"""Messages above this size (bytes) are truncated to the beginning of their text."""

TERMINAL: Final = frozenset(
    {
        pb.TaskState.TASK_STATE_COMPLETED,
        pb.TaskState.TASK_STATE_FAILED,
        pb.TaskState.TASK_STATE_CANCELED,
        pb.TaskState.TASK_STATE_REJECTED,
    }
)


_AT_REST: Final = TERMINAL | {pb.TaskState.TASK_STATE_INPUT_REQUIRED, pb.TaskState.TASK_STATE_AUTH_REQUIRED}


@dataclass(frozen=True, slots=True)
class _EndedTask:
    context: ServerCallContext
    packed: bytes
    at: float

    def unpacked(self) -> pb.Task:
        return pb.Task.FromString(zlib.decompress(self.packed))


class BoundedTaskStore(InMemoryTaskStore):
    """The SDK's in-memory store with limits on inactive tasks: beyond the limits, the oldest tasks are deleted.

    Those tasks are stored compressed, at a thirtieth of the memory, with the fields that lists select by. `now` is a
    clock in seconds.
    """

    def __init__(self, max_tasks: int, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._max_tasks = max_tasks
        self._now = now
        self._ended: dict[str, _EndedTask] = {}
        self._bytes = 0

    async def save(self, task: pb.Task, context: ServerCallContext) -> None:
        prune(task)
        if task.status.state not in _AT_REST:
            self._forget(task.id)
            await super().save(task, context)
            await self._drop_oldest()
            return
        packed = await asyncio.to_thread(zlib.compress, task.SerializeToString(), 1)
        await super().save(head_of(task), context)
        self._forget(task.id)
        self._ended[task.id] = _EndedTask(context, packed, self._now())
        self._bytes += len(packed)
        await self._drop_oldest()

    async def get(self, task_id: str, context: ServerCallContext) -> pb.Task | None:
        await self._drop_oldest()
        task = await super().get(task_id, context)
        if task is None or task_id not in self._ended:
            return task
        return self._ended[task_id].unpacked()

    async def list(self, params: pb.ListTasksRequest, context: ServerCallContext) -> pb.ListTasksResponse:
        await self._drop_oldest()
        page = await super().list(params, context)
        for task in page.tasks:
            if task.id in self._ended:
                task.CopyFrom(self._ended[task.id].unpacked())
        return page

    async def _drop_oldest(self) -> None:
        while self._ended:
            oldest, ended = next(iter(self._ended.items()))
            crowded = len(self._ended) > self._max_tasks or self._bytes > retention.ENDED_TASKS_BYTES
            if not (crowded and len(self._ended) > 1) and self._now() - ended.at < retention.ENDED_TASK_S:
                return
            self._forget(oldest)
            await self.delete(oldest, ended.context)

    def _forget(self, task_id: str) -> None:
        if (ended := self._ended.pop(task_id, None)) is not None:
            self._bytes -= len(ended.packed)


def prune(task: pb.Task) -> None:
    """Truncates a task's history."""
    del task.history[1 : 1 - MAX_HISTORY]
    for message in task.history:
        forget_token(message)
        _cut(message)


def head_of(task: pb.Task) -> pb.Task:
    """The fields that lists select by."""
    return pb.Task(id=task.id, context_id=task.context_id, status=task.status)


def forget_token(message: pb.Message) -> None:
    """Removes the recipient's token from a message before it enters a task's history."""
    if ASSIGNMENT_KEY in message.metadata.fields:
        message.metadata.fields[ASSIGNMENT_KEY].struct_value.fields.pop("token", None)


def _cut(message: pb.Message) -> None:
    """Truncates a large message."""
    if message.ByteSize() > MAX_KEPT_MESSAGE:
        said = texts_of(message.parts)
        message.ClearField("metadata")
        del message.parts[:]
        message.parts.append(text_part(said[0][: MAX_KEPT_MESSAGE // 4] if said else ""))
