"""The same message twice is one task: a client that lost the answer may ask again, and the work is not done anew."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing, suppress
from hashlib import blake2b
from typing import Any, Final, Protocol

from a2a.server.agent_execution import RequestContext, SimpleRequestContextBuilder
from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.request_handlers.default_request_handler_v2 import DefaultRequestHandlerV2
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import TaskNotFoundError, UnsupportedOperationError

from concord.a2a.callers import context_of
from concord.a2a.durable import message_of
from concord.a2a.messages import new_message, text_part
from concord.storage.tasks import AbandonedTask, TaskRecords

_MAX_REMEMBERED: Final = 10_000
_BEGIN_S: Final = 5.0
"""How long a task may take from its message to its first record, for which a second message has to wait."""
_POLL_S: Final = 0.02

_ABANDONED: Final = "concord.abandoned"
_INSTEAD_OF: Final = "concord.instead_of"
"""Under which a request's context tells what it is about."""

_AT_REST: Final = frozenset(
    {
        pb.TaskState.TASK_STATE_COMPLETED,
        pb.TaskState.TASK_STATE_FAILED,
        pb.TaskState.TASK_STATE_CANCELED,
        pb.TaskState.TASK_STATE_REJECTED,
        pb.TaskState.TASK_STATE_INPUT_REQUIRED,
        pb.TaskState.TASK_STATE_AUTH_REQUIRED,
    }
)


class OnceRequests(DefaultRequestHandlerV2):
    """The SDK's request handler, but that a message which began a task and comes again leads to that task.

    The same message: of the same owner, with the same `messageId`, and alike in all else, since there are clients that
    name all of theirs alike. A task that was rejected did no work, so its message begins another.
    """

    def __init__(self, begun: "BegunTasks", records: TaskRecords | None = None, **arguments: Any) -> None:  # noqa: ANN401 - whatever the SDK's takes
        """`records`: where the tasks are, if in storage; they take no messages after the one that began them."""
        self._records = records
        super().__init__(**arguments, request_context_builder=begun)

    async def on_message_send(self, params: pb.SendMessageRequest, context: ServerCallContext) -> pb.Message | pb.Task:
        """The answer to a message; to one that comes again, its task once that rests."""
        await self._check(params, context)
        while True:
            asked = pb.SendMessageRequest()
            asked.CopyFrom(params)
            try:
                answer: pb.Message | pb.Task = await super().on_message_send(asked, context)
            except BegunBeforeError as begun:
                if (task := await self._begun(begun, context)) is None:
                    continue
                if not params.configuration.return_immediately:
                    async with aclosing(self._events(task, context)) as events:
                        async for _ in events:
                            pass
                return await self._recorded(task.id, context)
            return answer

    async def on_message_send_stream(
        self, params: pb.SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """The events of a message's task; of one that comes again, those that are still to come."""
        await self._check(params, context)
        again: pb.Task | None = None
        while again is None:
            asked = pb.SendMessageRequest()
            asked.CopyFrom(params)
            try:
                async with aclosing(super().on_message_send_stream(asked, context)) as stream:
                    async for event in stream:
                        yield event
                return
            except BegunBeforeError as begun:
                again = await self._begun(begun, context)
        async with aclosing(self._events(again, context)) as stream:
            async for event in stream:
                yield event

    async def on_list_tasks(self, params: pb.ListTasksRequest, context: ServerCallContext) -> pb.ListTasksResponse:
        """The caller's own tasks. Whoever has no name has none of its own: its tasks are known by their ids alone."""
        if not context.user.is_authenticated:
            raise UnsupportedOperationError("tasks are listed only for a caller with an API key")
        listed: pb.ListTasksResponse = await super().on_list_tasks(params, context)
        return listed

    async def resume(self, task: AbandonedTask) -> None:
        """Goes on with a task that another process began: its message is worked on again."""
        context = context_of(task.owner)
        context.state[_ABANDONED] = task
        message = message_of(task.request)
        params = pb.SendMessageRequest(message=message, configuration={"return_immediately": True})
        await super().on_message_send(params, context)

    async def give_up(self, task: AbandonedTask, reason: str) -> None:
        """Ends a task that another process began, as failed."""
        context = context_of(task.owner)
        stored = await self._versioned_store.get(task.task_id, context)
        if stored is not None:
            failed = stored.task
            said = new_message(pb.Role.ROLE_AGENT, [text_part(f"Failed: {reason}")])
            failed.status.CopyFrom(pb.TaskStatus(state=pb.TaskState.TASK_STATE_FAILED, message=said))
            failed.status.timestamp.GetCurrentTime()
            await self._versioned_store.save(
                failed, event=failed, prev=None, prev_version=stored.version, context=context
            )

    async def leave(self, task_id: str) -> None:
        """Stops work on a task that another process has taken over or ended."""
        if (active := await self._active_task_registry.get(task_id)) is not None:
            await active.aclose()

    async def _check(self, params: pb.SendMessageRequest, context: ServerCallContext) -> None:
        if self._records is not None and params.message.task_id:
            await self.on_get_task(pb.GetTaskRequest(id=params.message.task_id), context)
            raise UnsupportedOperationError("a task of this agent takes no further messages")

    async def _events(self, task: pb.Task, context: ServerCallContext) -> AsyncGenerator[Event, None]:
        if task.status.state in _AT_REST:
            yield task
            return
        async with aclosing(self.on_subscribe_to_task(pb.SubscribeToTaskRequest(id=task.id), context)) as events:
            async for event in events:
                yield event
                if not isinstance(event, pb.Message | pb.TaskArtifactUpdateEvent) and event.status.state in _AT_REST:
                    return

    async def _begun(self, begun: "BegunBeforeError", context: ServerCallContext) -> pb.Task | None:
        """The task that the same message began; None: this one begins one, since that one did no work."""
        with suppress(TimeoutError):  # its process was lost before it had recorded it
            task = await self._recorded(begun.task_id, context)
            if task.status.state != pb.TaskState.TASK_STATE_REJECTED:
                return task
        context.state[_INSTEAD_OF] = begun.task_id
        return None

    async def _recorded(self, task_id: str, context: ServerCallContext) -> pb.Task:
        async with asyncio.timeout(_BEGIN_S):
            while True:
                with suppress(TaskNotFoundError):
                    task: pb.Task | None = await self.on_get_task(pb.GetTaskRequest(id=task_id), context)
                    if task is not None:
                        return task
                await asyncio.sleep(_POLL_S)


class BegunBeforeError(Exception):
    """A message began a task before."""

    def __init__(self, task_id: str) -> None:
        super().__init__(task_id)
        self.task_id = task_id


class Begin(Protocol):
    """Notes which message begins which task: see `TaskRecords.begin`."""

    def __call__(self, message: bytes, task_id: str, *, instead_of: str = "") -> Awaitable[str]:
        """The task that the message begins, or began before."""


class BegunTasks(SimpleRequestContextBuilder):
    """Remembers which message began which task. The SDK asks it for each message's task."""

    def __init__(self, begin: Begin | None = None) -> None:
        """`begin`: where it is noted; in memory without."""
        super().__init__()
        self._begin = begin or _begin_in_memory()

    async def build(
        self,
        context: ServerCallContext,
        params: pb.SendMessageRequest | None = None,
        task_id: str | None = None,
        context_id: str | None = None,
        task: pb.Task | None = None,
    ) -> RequestContext:
        """See `RequestContextBuilder.build`. Raises BegunBeforeError."""
        # The SDK writes the task's id into the message.
        key = _key(params, context) if params is not None and params.message.message_id and not task_id else None
        request = await super().build(context, params, task_id, context_id, task)
        if key is not None and request.task_id:
            begun = await self._begin(key, request.task_id, instead_of=context.state.get(_INSTEAD_OF, ""))
            if begun != request.task_id:
                raise BegunBeforeError(begun)
        return request


def abandoned_task(request: RequestContext) -> AbandonedTask | None:
    """The task that a request goes on with, where `OnceRequests.resume` made it."""
    abandoned: AbandonedTask | None = request.call_context.state.get(_ABANDONED)
    return abandoned


def _begin_in_memory() -> Begin:
    tasks: OrderedDict[bytes, str] = OrderedDict()

    async def begin(message: bytes, task_id: str, *, instead_of: str = "") -> str:
        if (begun := tasks.get(message)) is not None and begun != instead_of:
            return begun
        tasks[message] = task_id
        while len(tasks) > _MAX_REMEMBERED:
            tasks.popitem(last=False)
        return task_id

    return begin


def _key(params: pb.SendMessageRequest, context: ServerCallContext) -> bytes:
    owner = context.user.user_name.encode()
    message = params.message.SerializeToString(deterministic=True)
    return blake2b(len(owner).to_bytes(4) + owner + message, digest_size=16).digest()
