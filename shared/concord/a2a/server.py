"""The A2A server: an agent's card and JSON-RPC endpoint on a FastAPI app, for 1.0 and 0.3 clients at once."""

import asyncio
import logging
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import a2a.server.routes  # noqa: F401 - the 0.3 adapter's module cannot be the first of them to be imported
from a2a.auth.user import UnauthenticatedUser, User
from a2a.compat.v0_3.jsonrpc_adapter import JSONRPC03Adapter
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.context import ServerCallContext
from a2a.server.events import EventQueue
from a2a.server.jsonrpc_models import InvalidParamsError, InvalidRequestError, JSONRPCError
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.server.routes.fastapi_routes import add_a2a_routes_to_fastapi
from a2a.server.routes.jsonrpc_dispatcher import JsonRpcDispatcher
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import a2a_pb2 as pb
from fastapi import FastAPI
from google.protobuf.json_format import MessageToDict
from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from concord.a2a.messages import IncomingMessage, data_of, data_part, new_message, text_part, texts_of
from concord.a2a.once import OnceRequests
from concord.api_keys import KEY_HEADER, ApiKeys
from concord.extensions import ASSIGNMENT_KEY, SUPPORTED_URIS

logger = logging.getLogger(__name__)

MAX_TASKS: Final = 1000
MAX_TASK_BYTES: Final = 16 * 1024 * 1024
"""Tasks kept for `tasks/get` after they ended, and their size together, packed. The SDK's own store would keep
every one for ever."""

MAX_HISTORY: Final = 32
"""Messages of a task that are kept: its first and the latest. The task is copied with each that comes."""

MAX_KEPT_MESSAGE: Final = 128 * 1024
"""Bytes of a message that is kept; of a larger one, the beginning of its text."""

_INTERRUPTED_S: Final = 600.0
_CARD_CACHE: Final = "public, max-age=60"


@dataclass(frozen=True, slots=True)
class Skill:
    """Something an agent says it can do."""

    id: str
    name: str
    description: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """What an agent's card says. `url` is where clients post to: it must be reachable for them."""

    name: str
    description: str
    version: str
    url: str
    skills: tuple[Skill, ...]
    extensions: tuple[str, ...] = SUPPORTED_URIS


class TaskHandle:
    """The server's side of one task: where an agent says how far it is and what it found."""

    def __init__(self, updater: TaskUpdater) -> None:
        self._updater = updater

    async def submitted(self, text: str) -> None:
        """Tells the client that the work has not begun, and why."""
        await self._updater.update_status(pb.TaskState.TASK_STATE_SUBMITTED, self._said(text))

    async def working(self, text: str, *, data: JsonValue = None) -> None:
        """Tells the client how far the work is."""
        parts = [text_part(text)] if data is None else [text_part(text), data_part(data)]
        await self._updater.update_status(pb.TaskState.TASK_STATE_WORKING, self._updater.new_agent_message(parts))

    async def complete(
        self,
        text: str | None = None,
        *,
        data: JsonValue = None,
        status: str | None = None,
        artifact_name: str = "answer",
        metadata: Mapping[str, Any] | None = None,
        extensions: tuple[str, ...] = (),
    ) -> None:
        """Ends the task well: one artifact with what is given of text and data, and a status message beside it."""
        parts = [text_part(text)] if text is not None else []
        if data is not None:
            # Whole rows of results take seconds, in which others want their answers.
            parts.append(await asyncio.to_thread(data_part, data))
        if parts:
            await self._updater.add_artifact(
                parts,
                name=artifact_name,
                metadata=None if metadata is None else dict(metadata),
                extensions=list(extensions),
            )
        await self._updater.complete(None if status is None else self._said(status))

    async def reject(self, text: str) -> None:
        """Ends the task unbegun, because of what was asked."""
        await self._updater.reject(self._said(text))

    async def fail(self, text: str) -> None:
        """Ends the task without a result."""
        await self._updater.failed(self._said(text))

    async def input_required(self, text: str) -> None:
        """Interrupts the task until the client sends more."""
        await self._updater.requires_input(self._said(text))

    def _said(self, text: str) -> pb.Message:
        return self._updater.new_agent_message([text_part(text)])


class Handler(Protocol):
    """What an agent does with a message. It ends its task (or interrupts it) through the handle before it returns.

    Cancellation by the client arrives as asyncio.CancelledError; any other exception fails the task.
    """

    async def __call__(self, message: IncomingMessage, task: TaskHandle, /) -> None:
        """Works on one message."""


class AgentServer:
    """An agent mounted on an app. Close it when the app shuts down, so that no task outlives it."""

    def __init__(self, requests: OnceRequests) -> None:
        self._requests = requests

    async def aclose(self) -> None:
        """Cancels the tasks that still run, and waits for them."""
        await self._requests.aclose()


def mount_agent(
    app: FastAPI, profile: AgentProfile, handler: Handler, *, max_tasks: int = MAX_TASKS, keys: ApiKeys | None = None
) -> AgentServer:
    """Serves an agent on `app`: its card at `/.well-known/agent-card.json`, JSON-RPC for both versions at `/`.

    With `keys`, JSON-RPC is for their holders alone (401), and each has its own tasks. Without, a task is anybody's who
    knows its id, and nobody is told of any.
    """
    callers = _Callers(keys)
    card = _card(profile, keys)
    requests = OnceRequests(
        agent_executor=_Executor(handler),
        task_store=_BoundedTaskStore(max_tasks),
        agent_card=card,
        interrupted_task_timeout=_INTERRUPTED_S,
    )
    dispatcher = JsonRpcDispatcher(requests, callers, enable_v0_3_compat=True)
    dispatcher._v03_adapter = _Adapter03(requests, callers)

    async def handle(request: Request) -> Response:
        if not callers.admit(request):
            return JSONResponse({"detail": "an API key is needed"}, 401, {"www-authenticate": "Bearer"})
        return await dispatcher.handle_requests(request)

    add_a2a_routes_to_fastapi(
        app,
        agent_card_routes=create_agent_card_routes(card, cache_control=_CARD_CACHE),
        jsonrpc_routes=[Route("/", handle, methods=["POST"])],
    )
    return AgentServer(requests)


@dataclass(frozen=True, slots=True)
class _KeyHolder(User):
    owner: str

    @property
    def is_authenticated(self) -> bool:
        return True

    @property
    def user_name(self) -> str:
        return self.owner


class _Callers(DefaultServerCallContextBuilder):
    """Tells the SDK whose a request is: its task store keeps every user's tasks apart, nobody's being one of them."""

    def __init__(self, keys: ApiKeys | None) -> None:
        self._keys = keys

    def admit(self, request: Request) -> bool:
        return not self._keys or self._keys.owner(request.headers) is not None

    def build_user(self, request: Request) -> User:
        owner = self._keys.owner(request.headers) if self._keys else None
        return UnauthenticatedUser() if owner is None else _KeyHolder(owner)


class _Adapter03(JSONRPC03Adapter):
    """The SDK's 0.3 adapter, with -32602 instead of -32600 for a known method's invalid params (JSON-RPC 2.0, 5.1)."""

    def _generate_error_response(self, request_id: str | int | None, error: Exception | JSONRPCError) -> JSONResponse:
        if isinstance(error, InvalidRequestError):
            error = InvalidParamsError(data=error.data)
        return super()._generate_error_response(request_id, error)


@dataclass(frozen=True, slots=True)
class _EndedTask:
    context: ServerCallContext
    packed: bytes

    def unpacked(self) -> pb.Task:
        return pb.Task.FromString(zlib.decompress(self.packed))


class _BoundedTaskStore(InMemoryTaskStore):
    """The SDK's in-memory store, which forgets the oldest ended tasks beyond a bound.

    Of an ended task it keeps what lists are made from, and the whole of it packed: as objects, a result takes thirty
    times as much.
    """

    def __init__(self, max_tasks: int) -> None:
        super().__init__()
        self._max_tasks = max_tasks
        self._ended: dict[str, _EndedTask] = {}
        self._bytes = 0

    async def save(self, task: pb.Task, context: ServerCallContext) -> None:
        del task.history[1 : 1 - MAX_HISTORY]
        for message in task.history:
            _forget_token(message)
            _cut(message)
        if task.status.state not in _TERMINAL:
            await super().save(task, context)
            return
        ended = _EndedTask(context, await asyncio.to_thread(zlib.compress, task.SerializeToString(), 1))
        await super().save(pb.Task(id=task.id, context_id=task.context_id, status=task.status), context)
        self._forget(task.id)
        self._ended[task.id] = ended
        self._bytes += len(ended.packed)
        while len(self._ended) > 1 and (len(self._ended) > self._max_tasks or self._bytes > MAX_TASK_BYTES):
            oldest = next(iter(self._ended))
            await self.delete(oldest, self._forget(oldest) or context)

    async def get(self, task_id: str, context: ServerCallContext) -> pb.Task | None:
        task = await super().get(task_id, context)
        if task is None or task_id not in self._ended:
            return task
        return self._ended[task_id].unpacked()

    async def list(self, params: pb.ListTasksRequest, context: ServerCallContext) -> pb.ListTasksResponse:
        page = await super().list(params, context)
        for task in page.tasks:
            if task.id in self._ended:
                task.CopyFrom(self._ended[task.id].unpacked())
        return page

    def _forget(self, task_id: str) -> ServerCallContext | None:
        if (ended := self._ended.pop(task_id, None)) is None:
            return None
        self._bytes -= len(ended.packed)
        return ended.context


class _Executor(AgentExecutor):
    """Runs a handler as the SDK's executor."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        current = context.current_task
        # A follow-up that names only its task gets a fresh context id from the SDK: the task's own is the right one.
        context_id = current.context_id if current is not None else context.context_id or ""
        task_id = context.task_id or ""
        if current is None:
            await event_queue.enqueue_event(_submitted(task_id, context_id, context.message))
        task = TaskHandle(TaskUpdater(event_queue, task_id, context_id))
        try:
            await self._handler(_incoming(context, task_id, context_id), task)
        except Exception as error:
            # Out of here it would become a failed task that says nothing.
            logger.exception("task %s failed", task_id)
            await task.fail(f"internal error: {type(error).__name__}: {error}")

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        task = context.current_task
        if task is not None:
            await TaskUpdater(event_queue, task.id, task.context_id).cancel()


_TERMINAL: Final = {
    pb.TaskState.TASK_STATE_COMPLETED,
    pb.TaskState.TASK_STATE_FAILED,
    pb.TaskState.TASK_STATE_CANCELED,
    pb.TaskState.TASK_STATE_REJECTED,
}


def _submitted(task_id: str, context_id: str, message: pb.Message | None) -> pb.Task:
    task = pb.Task(
        id=task_id,
        context_id=context_id,
        status=pb.TaskStatus(state=pb.TaskState.TASK_STATE_SUBMITTED),
        history=[] if message is None else [message],
    )
    for sent in task.history:
        _forget_token(sent)
    return task


def _forget_token(message: pb.Message) -> None:
    """Takes the reader's own token out of a message that goes into a task's history, where others may read it."""
    if ASSIGNMENT_KEY in message.metadata.fields:
        message.metadata.fields[ASSIGNMENT_KEY].struct_value.fields.pop("token", None)


def _cut(message: pb.Message) -> None:
    """Shortens a large message that goes into a task's history."""
    if message.ByteSize() > MAX_KEPT_MESSAGE:
        said = texts_of(message.parts)
        message.ClearField("metadata")
        del message.parts[:]
        message.parts.append(text_part(said[0][: MAX_KEPT_MESSAGE // 4] if said else ""))


def _incoming(context: RequestContext, task_id: str, context_id: str) -> IncomingMessage:
    message = context.message or new_message(pb.Role.ROLE_USER, [])
    said, structured = texts_of(message.parts), data_of(message.parts)
    return IncomingMessage(
        text="\n".join(said),
        text_parts=said,
        data_parts=structured,
        other_parts=len(message.parts) - len(said) - len(structured),
        metadata=context.metadata | MessageToDict(message.metadata),
        message_id=message.message_id,
        task_id=task_id,
        context_id=context_id,
        follow_up=context.current_task is not None,
    )


def _card(profile: AgentProfile, keys: ApiKeys | None) -> pb.AgentCard:
    card = pb.AgentCard(
        name=profile.name,
        description=profile.description,
        version=profile.version,
        supported_interfaces=[
            pb.AgentInterface(url=profile.url, protocol_binding="JSONRPC", protocol_version=version)
            for version in ("1.0", "0.3")
        ],
        capabilities=pb.AgentCapabilities(
            streaming=True,
            push_notifications=False,
            extensions=[pb.AgentExtension(uri=uri) for uri in profile.extensions],
        ),
        default_input_modes=["text/plain", "application/json"],
        default_output_modes=["text/plain", "application/json"],
        skills=[
            pb.AgentSkill(id=skill.id, name=skill.name, description=skill.description, tags=skill.tags)
            for skill in profile.skills
        ],
    )
    if keys:
        bearer = pb.HTTPAuthSecurityScheme(scheme="Bearer", description="One of the server's API keys.")
        header = pb.APIKeySecurityScheme(location="header", name=KEY_HEADER, description="The same key, as it is.")
        card.security_schemes["bearer"].http_auth_security_scheme.CopyFrom(bearer)
        card.security_schemes["api_key"].api_key_security_scheme.CopyFrom(header)
        # Each of these is enough (A2A 1.0, section 4.5.1).
        card.security_requirements.extend(
            pb.SecurityRequirement(schemes={name: pb.StringList()}) for name in ("bearer", "api_key")
        )
    return card
