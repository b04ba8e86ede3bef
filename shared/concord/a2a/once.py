"""The same message twice is one task: a client that lost the answer may ask again, and the work is not done anew."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from hashlib import blake2b
from typing import Any, Final

from a2a.server.agent_execution import RequestContext, SimpleRequestContextBuilder
from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.request_handlers.default_request_handler_v2 import DefaultRequestHandlerV2
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import TaskNotFoundError, UnsupportedOperationError

_MAX_REMEMBERED: Final = 10_000
_BEGIN_S: Final = 5.0
"""How long a task may take from its message to its first record, for which a second message has to wait."""
_POLL_S: Final = 0.02

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

    def __init__(self, **arguments: Any) -> None:  # noqa: ANN401 - whatever the SDK's takes
        self._begun = _BegunTasks()
        super().__init__(**arguments, request_context_builder=self._begun)

    async def on_message_send(self, params: pb.SendMessageRequest, context: ServerCallContext) -> pb.Message | pb.Task:
        """The answer to a message; to one that comes again, its task once that rests."""
        if (task := await self._begun_by(params, context)) is None:
            answer: pb.Message | pb.Task = await super().on_message_send(params, context)
            return answer
        if not params.configuration.return_immediately:
            async with aclosing(self._events(task, context)) as events:
                async for _ in events:
                    pass
        return await self._recorded(task.id, context)

    async def on_message_send_stream(
        self, params: pb.SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """The events of a message's task; of one that comes again, those that are still to come."""
        if (task := await self._begun_by(params, context)) is None:
            events = super().on_message_send_stream(params, context)
        else:
            events = self._events(task, context)
        async with aclosing(events) as stream:
            async for event in stream:
                yield event

    async def on_list_tasks(self, params: pb.ListTasksRequest, context: ServerCallContext) -> pb.ListTasksResponse:
        """The caller's own tasks. Whoever has no name has none of its own: its tasks are known by their ids alone."""
        if not context.user.is_authenticated:
            raise UnsupportedOperationError("tasks are listed only for a caller with an API key")
        listed: pb.ListTasksResponse = await super().on_list_tasks(params, context)
        return listed

    async def _events(self, task: pb.Task, context: ServerCallContext) -> AsyncGenerator[Event, None]:
        if task.status.state in _AT_REST:
            yield task
            return
        async with aclosing(self.on_subscribe_to_task(pb.SubscribeToTaskRequest(id=task.id), context)) as events:
            async for event in events:
                yield event
                if not isinstance(event, pb.Message | pb.TaskArtifactUpdateEvent) and event.status.state in _AT_REST:
                    return

    async def _begun_by(self, params: pb.SendMessageRequest, context: ServerCallContext) -> pb.Task | None:
        """The task that the same message began; None: this one begins one."""
        if (task_id := self._begun.task_of(params, context)) is None:
            return None
        task = await self._recorded(task_id, context)
        return None if task.status.state == pb.TaskState.TASK_STATE_REJECTED else task

    async def _recorded(self, task_id: str, context: ServerCallContext) -> pb.Task:
        async with asyncio.timeout(_BEGIN_S):
            while True:
                with suppress(TaskNotFoundError):
                    task: pb.Task | None = await self.on_get_task(pb.GetTaskRequest(id=task_id), context)
                    if task is not None:
                        return task
                await asyncio.sleep(_POLL_S)


class _BegunTasks(SimpleRequestContextBuilder):
    """Remembers which message began which task. The SDK asks it for each message's task."""

    def __init__(self) -> None:
        super().__init__()
        self._tasks: OrderedDict[bytes, str] = OrderedDict()

    def task_of(self, params: pb.SendMessageRequest, context: ServerCallContext) -> str | None:
        """The task that the same message began."""
        return self._tasks.get(_key(params, context))

    async def build(
        self,
        context: ServerCallContext,
        params: pb.SendMessageRequest | None = None,
        task_id: str | None = None,
        context_id: str | None = None,
        task: pb.Task | None = None,
    ) -> RequestContext:
        # The SDK writes the task's id into the message.
        key = _key(params, context) if params is not None and params.message.message_id and not task_id else None
        request = await super().build(context, params, task_id, context_id, task)
        if key is not None and request.task_id:
            self._tasks[key] = request.task_id
            while len(self._tasks) > _MAX_REMEMBERED:
                self._tasks.popitem(last=False)
        return request


def _key(params: pb.SendMessageRequest, context: ServerCallContext) -> bytes:
    owner = context.user.user_name.encode()
    message = params.message.SerializeToString(deterministic=True)
    return blake2b(len(owner).to_bytes(4) + owner + message, digest_size=16).digest()
