"""Idempotent messages: a client that lost the answer may send its message again without starting another task."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing, suppress
from copy import deepcopy
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Protocol, TypeVar

from a2a.auth.user import UnauthenticatedUser, User
from a2a.server.agent_execution import RequestContext, SimpleRequestContextBuilder
from a2a.server.cluster.version import TaskVersion
from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.request_handlers.default_request_handler_v2 import DefaultRequestHandlerV2
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.types import a2a_pb2 as pb
from a2a.utils.constants import DEFAULT_LIST_TASKS_PAGE_SIZE
from a2a.utils.errors import TaskNotFoundError, UnsupportedOperationError
from cachetools import FIFOCache
from starlette.requests import Request

from concord.a2a.messages import new_message, text_part
from concord.a2a.push import Notifications, Webhooks
from concord.a2a.task_store import AT_REST, TERMINAL, message_of
from concord.task_records import AbandonedTask, TaskRecords
from concord.trust.credentials import ApiKeys

# The callers of an A2A agent: holders of an API key, or anonymous.


@dataclass(frozen=True, slots=True)
class KeyHolder(User):
    owner: str

    @property
    def is_authenticated(self) -> bool:
        return True

    @property
    def user_name(self) -> str:
        return self.owner


class Callers(DefaultServerCallContextBuilder):
    """Identifies the caller of each request for the SDK, whose task stores separate tasks by user."""

    def __init__(self, keys: ApiKeys | None) -> None:
        self._keys = keys

    def admit(self, request: Request) -> bool:
        return not self._keys or self._keys.owner(request.headers) is not None

    def build_user(self, request: Request) -> User:
        owner = self._keys.owner(request.headers) if self._keys else None
        return UnauthenticatedUser() if owner is None else KeyHolder(owner)


def context_of(owner: str) -> ServerCallContext:
    """The context of an earlier caller; `owner` is its `User.user_name`."""
    return ServerCallContext(user=KeyHolder(owner) if owner else UnauthenticatedUser())


# Repeated messages.

AS_BEFORE: Final = (
    "This message was sent before, with the same messageId and contents, and this is the answer to it. To ask anew, "
    "send it with another messageId."
)

E = TypeVar("E")

_MAX_REMEMBERED: Final = 10_000
_BEGIN_S: Final = 5.0
"""How long a repeated message waits for the task of the first one to be stored."""
_POLL_S: Final = 0.02

_WEBHOOK: Final = "task_push_notification_config"
"""The field of a message's configuration."""

_ABANDONED: Final = "concord.abandoned"
_INSTEAD_OF: Final = "concord.instead_of"
"""Keys in a request context's state."""


@dataclass(frozen=True, slots=True)
class Push:
    """The webhooks of an agent's tasks, and the notifications to them."""

    webhooks: Webhooks
    notifications: Notifications


def _as_before(event: E) -> E:
    """An event of a repeated message's task, whose status says at the end that the answer is that of the first."""
    if not isinstance(event, pb.Task | pb.TaskStatusUpdateEvent) or event.status.state not in TERMINAL:
        return event
    told = deepcopy(event)
    if not told.status.HasField("message"):
        told.status.message.CopyFrom(new_message(pb.Role.ROLE_AGENT, []))
    told.status.message.parts.append(text_part(AS_BEFORE))
    return told


class IdempotentRequests(DefaultRequestHandlerV2):
    """The SDK's request handler, except that a repeated message leads to the task of the first one.

    A message is repeated if owner, `messageId` and all other contents are equal: some clients use the same id for all
    messages. A rejected task did no work, so its message begins a new task.
    """

    def __init__(
        self,
        begun: "BegunTasks",
        records: TaskRecords | None = None,
        push: Push | None = None,
        **arguments: Any,  # noqa: ANN401 - passed on to the SDK
    ) -> None:
        """`records` is the storage of durable tasks, which accept a message after the first only if they ask for it.

        Without `push`, tasks have no webhooks.
        """
        self._records = records
        self._push = push
        super().__init__(
            **arguments,
            push_config_store=None if push is None else push.webhooks,
            push_sender=None if push is None else push.notifications,
            request_context_builder=begun,
        )

    async def on_message_send(self, params: pb.SendMessageRequest, context: ServerCallContext) -> pb.Message | pb.Task:
        """The answer to a message. A repeated message gets its task, once that is at rest."""
        await self._check(params, context)
        while True:
            asked = pb.SendMessageRequest()
            asked.CopyFrom(params)
            try:
                answer: pb.Message | pb.Task = await super().on_message_send(asked, context)
            except BegunBeforeError as begun:
                if (task := await self._begun(begun, params, context)) is None:
                    continue
                if not params.configuration.return_immediately:
                    async with aclosing(self._events(task, context)) as events:
                        async for _ in events:
                            pass
                return _as_before(await self._recorded(task.id, context))
            return answer

    async def on_message_send_stream(
        self, params: pb.SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """The events of a message's task. A repeated message gets the remaining events."""
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
                again = await self._begun(begun, params, context)
        async with aclosing(self._events(again, context)) as stream:
            async for event in stream:
                yield _as_before(event)

    async def on_list_tasks(self, params: pb.ListTasksRequest, context: ServerCallContext) -> pb.ListTasksResponse:
        """The caller's tasks. An anonymous caller gets those of a context that it knows, and otherwise none.

        A participant that could list everybody's tasks could read and cancel the assessment that it is in.
        """
        if not context.user.is_authenticated and not params.context_id:
            return pb.ListTasksResponse(page_size=params.page_size or DEFAULT_LIST_TASKS_PAGE_SIZE)
        listed: pb.ListTasksResponse = await super().on_list_tasks(params, context)
        return listed

    async def on_get_task_push_notification_config(
        self, params: pb.GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> pb.TaskPushNotificationConfig:
        """A webhook's config; without its id, as in A2A 0.3, the task's first one."""
        if not params.id:
            whole = pb.ListTaskPushNotificationConfigsRequest(task_id=params.task_id)
            listed = await self.on_list_task_push_notification_configs(whole, context)
            for first in listed.configs:
                params = pb.GetTaskPushNotificationConfigRequest(task_id=params.task_id, id=first.id)
                break
        config: pb.TaskPushNotificationConfig = await super().on_get_task_push_notification_config(params, context)
        return config

    async def resume(self, task: AbandonedTask) -> None:
        """Continues a task that another process abandoned, by handling its message again."""
        context = context_of(task.owner)
        context.state[_ABANDONED] = task
        message = message_of(task.request)
        params = pb.SendMessageRequest(message=message, configuration={"return_immediately": True})
        await super().on_message_send(params, context)

    async def give_up(self, task: AbandonedTask, reason: str) -> None:
        """Ends an abandoned task as failed."""
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
            await self._notify(failed)

    async def leave(self, task_id: str) -> None:
        """Stops work on a task that another process has adopted or ended."""
        if (active := await self._active_task_registry.get(task_id)) is not None:
            await active.aclose()

    async def aclose(self) -> None:
        """See `DefaultRequestHandlerV2.aclose`."""
        await super().aclose()
        if self._push is not None:
            await self._push.notifications.aclose()

    async def _cancel_remote(
        self, task_id: str, task: pb.Task, version: TaskVersion, context: ServerCallContext
    ) -> pb.Task:
        """Cancels a task of another process, whose webhooks this process notifies."""
        canceled: pb.Task = await super()._cancel_remote(task_id, task, version, context)
        await self._notify(canceled)
        return canceled

    async def _notify(self, task: pb.Task) -> None:
        if self._push is not None:
            await self._push.notifications.send_notification(task.id, task)

    async def _check(self, params: pb.SendMessageRequest, context: ServerCallContext) -> None:
        # Before the message begins a task, which an error would leave without a version.
        if self._push is not None and params.configuration.HasField(_WEBHOOK):
            await self._push.webhooks.check(params.configuration.task_push_notification_config)
        if self._records is not None and params.message.task_id:
            task = await self.on_get_task(pb.GetTaskRequest(id=params.message.task_id), context)
            if task is None or task.status.state != pb.TaskState.TASK_STATE_INPUT_REQUIRED:
                raise UnsupportedOperationError("this task has what it needs, and accepts no further messages")
            # For a task that is no longer in memory, the SDK would begin another context.
            params.message.context_id = params.message.context_id or task.context_id

    async def _events(self, task: pb.Task, context: ServerCallContext) -> AsyncGenerator[Event, None]:
        if task.status.state in AT_REST:
            yield task
            return
        async with aclosing(self.on_subscribe_to_task(pb.SubscribeToTaskRequest(id=task.id), context)) as events:
            async for event in events:
                yield event
                if not isinstance(event, pb.Message | pb.TaskArtifactUpdateEvent) and event.status.state in AT_REST:
                    return

    async def _begun(
        self, begun: "BegunBeforeError", params: pb.SendMessageRequest, context: ServerCallContext
    ) -> pb.Task | None:
        """The task of the same message, or None if this message is to begin another: the first was lost or rejected."""
        with suppress(TimeoutError):  # its process was lost before it stored the task
            task = await self._recorded(begun.task_id, context)
            if task.status.state != pb.TaskState.TASK_STATE_REJECTED:
                if self._push is not None and params.configuration.HasField(_WEBHOOK):
                    webhook = params.configuration.task_push_notification_config
                    await self._push.webhooks.set_info(task.id, webhook, context)
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
    """The message began a task earlier."""

    def __init__(self, task_id: str) -> None:
        super().__init__(task_id)
        self.task_id = task_id


class Begin(Protocol):
    """Registers the beginning of a task: see `TaskRecords.begin`."""

    def __call__(self, message: bytes, task_id: str, *, instead_of: str = "") -> Awaitable[str]:
        """The id of the task that the message begins, or began earlier."""


class BegunTasks(SimpleRequestContextBuilder):
    """Maps messages to tasks. The SDK asks it for the task of each message."""

    def __init__(self, begin: Begin | None = None) -> None:
        """`begin` registers in storage; by default, in memory."""
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
        # The SDK adds the task's id to the message.
        key = _key(params, context) if params is not None and params.message.message_id and not task_id else None
        request = await super().build(context, params, task_id, context_id, task)
        if key is not None and request.task_id:
            begun = await self._begin(key, request.task_id, instead_of=context.state.get(_INSTEAD_OF, ""))
            if begun != request.task_id:
                raise BegunBeforeError(begun)
        return request


def abandoned_task(request: RequestContext) -> AbandonedTask | None:
    """The abandoned task that a request continues, if `IdempotentRequests.resume` made the request."""
    abandoned: AbandonedTask | None = request.call_context.state.get(_ABANDONED)
    return abandoned


def _begin_in_memory() -> Begin:
    tasks: FIFOCache[bytes, str] = FIFOCache(_MAX_REMEMBERED)

    async def begin(message: bytes, task_id: str, *, instead_of: str = "") -> str:
        if (begun := tasks.get(message)) is not None and begun != instead_of:
            return begun
        tasks[message] = task_id
        return task_id

    return begin


def _key(params: pb.SendMessageRequest, context: ServerCallContext) -> bytes:
    owner = context.user.user_name.encode()
    message = params.message.SerializeToString(deterministic=True)
    return blake2b(len(owner).to_bytes(4) + owner + message, digest_size=16).digest()
