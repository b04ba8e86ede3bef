"""Task stores: in memory, and in storage for tasks that outlive their process."""

import asyncio
import time
import zlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Final

from a2a.server.cluster.event_stream import TaskEventStream, VersionedEvent
from a2a.server.cluster.task_store import ConcurrentTaskModificationError, StoredTask, VersionedTaskStore
from a2a.server.cluster.version import TaskVersion
from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import a2a_pb2 as pb
from google.protobuf.json_format import MessageToJson, Parse

from concord import retention
from concord.a2a.messages import text_part, texts_of
from concord.task_records import StaleTaskError, TaskDraft, TaskRecords
from concord.trust.redaction import redact
from concord.wire.assignment import ASSIGNMENT_KEY

# A task store in memory, for agents whose tasks end with the process.

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

AT_REST: Final = TERMINAL | {pb.TaskState.TASK_STATE_INPUT_REQUIRED, pb.TaskState.TASK_STATE_AUTH_REQUIRED}


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
        if task.status.state not in AT_REST:
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


# A task store for tasks that outlive their process, which other processes can read and continue.

_LOOK_S: Final = 0.5
"""How often a task of another process is polled."""

_LARGE: Final = 32 * 1024
"""What takes longer to compress than the way to a thread and back (bytes)."""


class DurableTaskStore(VersionedTaskStore):
    """The SDK's store for shared tasks, on top of storage. Redacts what it stores."""

    def __init__(self, records: TaskRecords) -> None:
        self._records = records

    async def save(
        self,
        task: pb.Task,
        *,
        event: Event | None,
        prev: pb.Task | None,
        prev_version: TaskVersion,
        context: ServerCallContext,
    ) -> TaskVersion:
        """See `VersionedTaskStore.save`. Raises StorageUnavailableError.

        An artifact is stored with the next change of the status, which `TaskHandle.complete` sends right after it.
        """
        if isinstance(event, pb.TaskArtifactUpdateEvent) and not prev_version.is_missing:
            return prev_version
        waiting, waited = _waits(task), prev is not None and _waits(prev)
        begins = prev_version.is_missing or (waited and not waiting)
        request = await _packed(task.history[-1]) if begins and task.history else b""
        prune(task)
        draft = TaskDraft(
            task_id=task.id,
            owner=context.user.user_name,
            head=head_of(task).SerializeToString(),
            body=await _packed(task),
            request=request,
            ended=task.status.state in TERMINAL,
            canceled=task.status.state == pb.TaskState.TASK_STATE_CANCELED,
            rejected=task.status.state == pb.TaskState.TASK_STATE_REJECTED,
            waiting=waiting,
            listed_by=_listed_by(context, task.context_id),
        )
        try:
            return TaskVersion(await self._records.save(draft, _number(prev_version)))
        except StaleTaskError as error:
            raise ConcurrentTaskModificationError(task.id) from error

    async def get(self, task_id: str, context: ServerCallContext) -> StoredTask | None:
        """See `VersionedTaskStore.get`. Raises StorageUnavailableError."""
        record = await self._records.get(task_id)
        if record is None or record.owner != context.user.user_name:
            return None
        return StoredTask(await asyncio.to_thread(task_of, record.body), TaskVersion(record.version))

    async def list(self, params: pb.ListTasksRequest, context: ServerCallContext) -> pb.ListTasksResponse:
        """See `VersionedTaskStore.list`. Raises StorageUnavailableError."""
        heads = InMemoryTaskStore()
        for head in await self._records.heads(_listed_by(context, params.context_id)):
            await heads.save(pb.Task.FromString(head), context)
        page = await heads.list(params, context)
        for task in page.tasks:
            if (stored := await self.get(task.id, context)) is not None:
                task.CopyFrom(stored.task)
        return page

    async def delete(self, task_id: str, context: ServerCallContext) -> None:  # noqa: ARG002 - the SDK's signature
        """See `VersionedTaskStore.delete`. Raises StorageUnavailableError."""
        await self._records.delete(task_id)


class StoredChanges(TaskEventStream):
    """Follows the tasks of other processes by polling storage.

    Nothing is published: few clients ever follow a task from another process, and publishing would cost every task.
    """

    def __init__(self, records: TaskRecords) -> None:
        self._records = records

    async def publish(self, task_id: str, event: VersionedEvent) -> None:
        """See `TaskEventStream.publish`."""

    async def destroy(self, task_id: str) -> None:
        """See `TaskEventStream.destroy`."""

    async def subscribe(self, task_id: str, *, after: TaskVersion) -> AsyncGenerator[VersionedEvent, None]:
        """See `TaskEventStream.subscribe`: new artifacts, and the status of each version seen."""
        seen, shown = _number(after), -1
        while True:
            if (version := await self._records.version(task_id)) == 0:
                return
            if (version != seen or shown < 0) and (record := await self._records.get(task_id)) is not None:
                task = await asyncio.to_thread(task_of, record.body)
                shown = len(task.artifacts) if record.version == _number(after) else max(0, shown)
                if record.version != seen:
                    seen = record.version
                    for event in _changes(task, shown):
                        yield VersionedEvent(event, TaskVersion(seen))
                shown = len(task.artifacts)
            await asyncio.sleep(_LOOK_S)


def message_of(request: bytes) -> pb.Message:
    """Unpacks the message that began a task."""
    return pb.Message.FromString(zlib.decompress(request))


def task_of(packed: bytes) -> pb.Task:
    """Unpacks a stored task."""
    return pb.Task.FromString(zlib.decompress(packed))


def _listed_by(context: ServerCallContext, context_id: str) -> str:
    return context.user.user_name or f"context {context_id}"


def _waits(task: pb.Task) -> bool:
    return task.status.state == pb.TaskState.TASK_STATE_INPUT_REQUIRED


def _changes(task: pb.Task, shown: int) -> list[Event]:
    events: list[Event] = [
        pb.TaskArtifactUpdateEvent(task_id=task.id, context_id=task.context_id, artifact=artifact, last_chunk=True)
        for artifact in task.artifacts[shown:]
    ]
    return [*events, pb.TaskStatusUpdateEvent(task_id=task.id, context_id=task.context_id, status=task.status)]


async def _packed(whole: pb.Task | pb.Message) -> bytes:
    serialized = whole.SerializeToString()  # here: the task may change meanwhile
    if len(serialized) <= _LARGE:
        return _redacted(type(whole), serialized)
    return await asyncio.to_thread(_redacted, type(whole), serialized)


def _redacted(kind: type[pb.Task | pb.Message], serialized: bytes) -> bytes:
    """Protobuf prefixes strings with their length, so a message that contains a secret is redacted as JSON."""
    if redact(serialized) != serialized:
        whole = kind.FromString(serialized)
        serialized = Parse(redact(MessageToJson(whole)), kind()).SerializeToString()
    return zlib.compress(serialized, 1)


def _number(version: TaskVersion) -> int:
    number = version._value
    assert isinstance(number, int)  # nosec B101  # noqa: S101 - all versions are created in this module
    return number
