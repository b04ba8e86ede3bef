"""The A2A server: serves an agent's card, JSON-RPC and HTTP+JSON on a FastAPI app, to 1.0 and 0.3 clients."""

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from functools import partial
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, Final, Protocol

import a2a.server.routes  # noqa: F401 - before a2a.compat, which imports it in a circle

# isort: split
from a2a.compat.v0_3.jsonrpc_adapter import JSONRPC03Adapter
from a2a.compat.v0_3.rest_adapter import REST03Adapter
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.context import ServerCallContext
from a2a.server.events import EventQueue
from a2a.server.jsonrpc_models import InvalidParamsError, InvalidRequestError, JSONParseError, JSONRPCError
from a2a.server.request_handlers import RequestHandler
from a2a.server.routes.fastapi_routes import add_a2a_routes_to_fastapi
from a2a.server.routes.jsonrpc_dispatcher import JsonRpcDispatcher
from a2a.server.routes.rest_dispatcher import RestDispatcher
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.server.tasks import TaskUpdater
from a2a.types import a2a_pb2 as pb
from a2a.utils.error_handlers import build_rest_error_payload, rest_stream_error_handler
from a2a.utils.errors import JSON_RPC_ERROR_CODE_MAP, A2AError
from a2a.utils.errors import InvalidRequestError as InvalidRequest
from google.protobuf.json_format import MessageToDict
from pydantic import JsonValue
from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from concord import retention
from concord.a2a.cards import AgentProfile, card_of, card_route
from concord.a2a.http import MAX_VALUES, values_in
from concord.a2a.idempotency import BegunTasks, Callers, IdempotentRequests, Push, abandoned_task
from concord.a2a.messages import (
    IncomingMessage,
    data_of,
    data_part,
    new_message,
    text_part,
    texts_of,
)
from concord.a2a.push import Notifications, Webhooks
from concord.a2a.task_store import BoundedTaskStore, DurableTaskStore, StoredChanges, forget_token
from concord.errors import StorageUnavailableError
from concord.task_records import AbandonedTask, TaskRecords
from concord.trust.credentials import ApiKeys

if TYPE_CHECKING:
    from fastapi import FastAPI

    from concord.a2a.card_signing import CardKey


# The routes of A2A's HTTP+JSON binding, and the admission of callers to routes.

logger = logging.getLogger(__name__)

_WEBHOOK_PATH_0_3 = "/v1/tasks/{id}/pushNotificationConfigs/{push_id}"


KEY_NEEDED = "an API key is needed: send one of CONCORD_API_KEYS, as `Authorization: Bearer KEY` or `X-API-Key: KEY`"


def rest_routes(requests: RequestHandler, callers: Callers) -> list[Route]:
    """HTTP+JSON for both versions, without the paths of tenants, which this agent does not have."""
    routes = [route for route in create_rest_routes(requests, callers) if isinstance(route, Route)]
    of_0_3 = _Rest03(requests, callers).routes().items()
    routes += [Route(path, endpoint, methods=[method]) for (path, method), endpoint in of_0_3]
    return [admitting(route, callers, _bad_request) for route in routes]


def _bad_request(reason: str) -> Response:
    return JSONResponse(build_rest_error_payload(InvalidRequest(reason)), 400)


def admitting(route: Route, callers: Callers, unreadable: Callable[[str], Response]) -> Route:
    """The same route for admitted callers, others get 401; for bodies of at most `MAX_VALUES`, others get 413; and for
    plain ones, others get 415. Bodies that are not JSON get what `unreadable` makes of the reason: the SDK takes those
    that are not UTF-8 or are nested deeply for errors of its own."""

    async def handle(request: Request) -> Response:
        if not callers.admit(request):
            return JSONResponse({"detail": KEY_NEEDED}, 401, {"www-authenticate": "Bearer"})
        if (encoding := request.headers.get("content-encoding", "identity")).lower() != "identity":
            detail = f"the body is sent with Content-Encoding {encoding[:40]!r}; send it without"
            return JSONResponse({"detail": detail}, 415, {"accept-encoding": "identity"})
        if values_in(await request.body()) > MAX_VALUES:
            return JSONResponse({"detail": f"the body holds more than {MAX_VALUES} values"}, 413)
        try:
            json.loads((await request.body()).decode("utf-8-sig") or "{}")
        except (ValueError, RecursionError) as error:
            return unreadable(f"the body is not JSON: {error}")
        response: Response = await route.endpoint(request)
        return response

    # FastAPI reads the operation's name and path parameters from these, for the OpenAPI document.
    handle.__name__ = re.sub(r"\W+", "_", route.path).strip("_") or "jsonrpc"
    named = [Parameter(name, Parameter.KEYWORD_ONLY, annotation=str) for name in re.findall(r"{(\w+)}", route.path)]
    request_only = Parameter("request", Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
    handle.__signature__ = Signature([request_only, *named])  # type: ignore[attr-defined]
    methods = sorted((route.methods or set()) - {"HEAD"})
    return Route(route.path, handle, methods=methods)


class _Rest03(REST03Adapter):
    """The SDK's adapter for 0.3, with two corrections.

    A stream that fails before its first event gets an error with a status, as in the SDK's 1.0; its 0.3 breaks the
    connection. And webhooks can be deleted, for which its 0.3 has no path.
    """

    def __init__(self, requests: RequestHandler, callers: Callers) -> None:
        super().__init__(requests, callers)
        self._requests = requests
        self._streams = RestDispatcher(requests, self._context_builder)  # type: ignore[arg-type]  # builds contexts, too

    def routes(self) -> dict[tuple[str, str], Callable[[Request], Any]]:
        """The endpoints by path and method."""
        delete = partial(self._handle_request, self._delete_webhook)
        return super().routes() | {(_WEBHOOK_PATH_0_3, "DELETE"): delete}

    async def _delete_webhook(self, request: Request, context: ServerCallContext) -> dict[str, object]:
        named = request.path_params
        params = pb.DeleteTaskPushNotificationConfigRequest(task_id=named["id"], id=named["push_id"])
        await self._requests.on_delete_task_push_notification_config(params, context)
        return {}

    @rest_stream_error_handler
    async def _handle_streaming_request(
        self, method: Callable[[Request, ServerCallContext], AsyncIterator[Any]], request: Request
    ) -> EventSourceResponse:
        return await self._streams._handle_streaming(request, partial(method, request))


# Takeover: an agent's process adopts the tasks of lost processes, and gives up tasks that others adopted.

MAX_STARTS: Final = 5
"""The number of processes that may be lost with a task before it fails: the task itself may be the cause."""


class Takeover:
    """Renews this process's leases, and adopts tasks whose leases have expired."""

    def __init__(self, records: TaskRecords, requests: IdempotentRequests, every_s: float) -> None:
        self._records = records
        self._requests = requests
        self._every_s = every_s

    async def run(self) -> None:
        """Runs until it is cancelled."""
        async with asyncio.TaskGroup() as takings:
            while True:
                try:
                    await self._look(takings)
                except StorageUnavailableError as error:
                    logger.warning("cannot renew the leases of tasks: %s", error)
                await asyncio.sleep(self._every_s)

    async def _look(self, takings: asyncio.TaskGroup) -> None:
        # Renew first: after a storage outage this process's own leases may have expired.
        for task_id in await self._records.renew():
            logger.warning("stopping work on task %s: another process took it over or ended it", task_id)
            await self._requests.leave(task_id)
        while (task := await self._records.adopt()) is not None:
            takings.create_task(self._take(task))

    async def _take(self, task: AbandonedTask) -> None:
        try:
            if task.starts > MAX_STARTS:
                logger.error("task %s failed after the loss of %d processes", task.task_id, MAX_STARTS)
                await self._requests.give_up(
                    task, f"{MAX_STARTS} processes of this agent were lost while they ran this task"
                )
            else:
                logger.warning("continuing task %s, whose process was lost", task.task_id)
                await self._requests.resume(task)
        except Exception:
            logger.exception("task %s cannot be taken over", task.task_id)


_INTERRUPTED_S: Final = 600.0
_DURABLE_INTERRUPTED_S: Final = 5.0
"""How long a task that waits for its client is kept in memory (seconds). The next message finds a durable one in
storage, and anybody can have one."""

_LOOKS_PER_LEASE: Final = 3


class TaskHandle:
    """The agent's side of a task: reports progress and results.

    `owner` is the API key's owner, or empty for an anonymous client. `resumed` says that another process began the task
    and was lost; `checkpoint` is the text that it stored last.
    """

    def __init__(
        self,
        updater: TaskUpdater,
        records: TaskRecords | None = None,
        *,
        owner: str = "",
        resumed: bool = False,
        checkpoint: str | None = None,
    ) -> None:
        self._updater = updater
        self._records = records
        self.owner = owner
        self.resumed = resumed
        self.checkpoint = checkpoint
        self.canceled = False
        """Whether the client cancelled the task, as opposed to this process."""

    async def save_checkpoint(self, text: str) -> None:
        """Stores a text with the task, for a process that continues it. Raises StorageUnavailableError."""
        if self._records is not None:
            await self._records.save_checkpoint(self._updater.task_id, text)

    async def submitted(self, text: str) -> None:
        """Reports that the work has not begun, and why."""
        await self._updater.update_status(pb.TaskState.TASK_STATE_SUBMITTED, self._said(text))

    async def working(self, text: str, *, data: JsonValue = None) -> None:
        """Reports progress."""
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
        """Completes the task with one artifact of text and data, and an optional status message."""
        parts = [text_part(text)] if text is not None else []
        if data is not None:
            # A whole row takes seconds to convert, during which the event loop must stay responsive.
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
        """Rejects the task because of its request."""
        await self._updater.reject(self._said(text))

    async def fail(self, text: str) -> None:
        """Fails the task."""
        await self._updater.failed(self._said(text))

    async def input_required(self, text: str) -> None:
        """Interrupts the task until the client sends more input."""
        await self._updater.requires_input(self._said(text))

    def _said(self, text: str) -> pb.Message:
        return self._updater.new_agent_message([text_part(text)])


class Handler(Protocol):
    """Handles an agent's messages. It ends or interrupts the task through the handle before it returns.

    A cancellation by the client raises asyncio.CancelledError in it. Any other exception fails the task.
    """

    async def __call__(self, message: IncomingMessage, task: TaskHandle, /) -> None:
        """Handles one message."""


class AgentServer:
    """An agent mounted on an app. Close it when the app shuts down."""

    def __init__(self, requests: IdempotentRequests, records: TaskRecords | None = None) -> None:
        self._requests = requests
        self._records = records
        self._looking: asyncio.Task[None] | None = None

    def take_over(self) -> None:
        """Starts adopting the tasks of lost processes."""
        if self._records is not None and self._looking is None:
            takeover = Takeover(self._records, self._requests, self._records.lease_s / _LOOKS_PER_LEASE)
            self._looking = asyncio.create_task(takeover.run())

    async def aclose(self) -> None:
        """Cancels the running tasks and waits for them. Other processes can adopt durable ones at once."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        await self._requests.aclose()
        if self._records is not None:
            with suppress(StorageUnavailableError):  # the leases then expire
                await self._records.release()


def mount_agent(
    app: "FastAPI",
    profile: AgentProfile,
    handler: Handler,
    *,
    keys: ApiKeys | None = None,
    records: TaskRecords | None = None,
    webhooks: Webhooks | None = None,
    card_key: "CardKey | None" = None,
) -> AgentServer:
    """Serves an agent on `app`: its card at `/.well-known/agent-card.json`, JSON-RPC for both versions at `/`, and, if
    the profile says so, HTTP+JSON at `/message:send` and the other paths of A2A (with the prefix `/v1` for 0.3).

    With `keys`, clients need an API key (401), and each has its own tasks. Without, anybody who knows a task's id can
    use it, and nobody can list tasks.

    With `records`, tasks are in storage: every process of this agent serves all of them. After `take_over`, a process
    also continues the tasks of lost ones by calling the handler again with the same message. These tasks accept further
    messages only while they require input. Without `records`, tasks are in memory, with at most
    `retention.ENDED_TASKS` ended ones.

    With `webhooks`, which needs `records`, clients get push notifications.

    `card_key` signs the card if the profile has a URL, and its public key is at `/.well-known/jwks.json`.
    """
    callers = Callers(keys)
    declared = {"with_keys": bool(keys), "with_webhooks": webhooks is not None}
    push = None if webhooks is None or records is None else Push(webhooks, Notifications(webhooks, records))
    requests = _request_handler(card_of(profile, **declared), handler, records, push)
    dispatcher = _Dispatcher(requests, callers, enable_v0_3_compat=True)
    dispatcher._v03_adapter = _Adapter03(requests, callers)

    def unreadable(reason: str) -> Response:
        return dispatcher._generate_error_response(None, JSONParseError(message=reason))

    add_a2a_routes_to_fastapi(
        app,
        agent_card_routes=[
            card_route(profile, **declared, key=card_key),
            *([] if card_key is None else [card_key.route()]),
        ],
        jsonrpc_routes=[admitting(Route("/", dispatcher.handle_requests, methods=["POST"]), callers, unreadable)],
        rest_routes=rest_routes(requests, callers) if profile.rest else None,
    )
    return AgentServer(requests, records)


def _request_handler(
    card: pb.AgentCard, handler: Handler, records: TaskRecords | None, push: Push | None
) -> IdempotentRequests:
    return IdempotentRequests(
        BegunTasks(None if records is None else records.begin),
        records,
        push,
        agent_executor=_Executor(handler, records),
        task_store=BoundedTaskStore(retention.ENDED_TASKS) if records is None else DurableTaskStore(records),
        event_stream=None if records is None else StoredChanges(records),
        agent_card=card,
        interrupted_task_timeout=_INTERRUPTED_S if records is None else _DURABLE_INTERRUPTED_S,
    )


_ACCEPTED: Final = {
    -32600: 'send a JSON-RPC request: {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {}}}',
    -32601: "A2A's methods are message/send, message/stream, tasks/get, tasks/cancel and others, or SendMessage, "
    "SendStreamingMessage, GetTask, CancelTask and others with the header A2A-Version: 1.0",
    -32602: 'in A2A 0.3, message/send takes {"message": {"role": "user", "messageId": "...", '
    '"parts": [{"kind": "text", "text": "..."}]}}, and tasks/get takes {"id": "..."}',
}
"""What is accepted, by the code of the error for what is not."""


def _refused(error: Exception | JSONRPCError) -> Exception | JSONRPCError:
    """The error of a request that cannot be read, with a sentence that names the accepted form. One with a reason of
    its own stays as it is."""
    if not isinstance(error, JSONRPCError | A2AError):
        return error
    code = error.code if isinstance(error, JSONRPCError) else JSON_RPC_ERROR_CODE_MAP.get(type(error), 0)
    if code not in _ACCEPTED or (error.data is None and code != -32601):
        return error
    message = f"{error.message}: {_ACCEPTED[code]}"
    if isinstance(error, JSONRPCError):
        return error.model_copy(update={"message": message})
    return type(error)(message, error.data)


class _Dispatcher(JsonRpcDispatcher):
    """The SDK's dispatcher, whose errors name no accepted form: these do."""

    def _generate_error_response(self, request_id: str | int | None, error: Exception | JSONRPCError) -> JSONResponse:
        return super()._generate_error_response(request_id, _refused(error))


class _Adapter03(JSONRPC03Adapter):
    """The SDK's 0.3 adapter, with two corrections by JSON-RPC 2.0, and the accepted form in its errors.

    The SDK answers invalid params of a known method with -32600 instead of -32602 (section 5.1), and leaves the result
    out of a success without a value (section 5).
    """

    async def _process_non_streaming_request(
        self,
        request_id: str | int | None,
        request_obj: Any,  # noqa: ANN401 - the SDK's signature
        context: ServerCallContext,
    ) -> JSONResponse:
        response = await super()._process_non_streaming_request(request_id, request_obj, context)
        if request_obj.method == "tasks/pushNotificationConfig/delete":
            return JSONResponse({"jsonrpc": "2.0", "id": request_id, "result": None})
        return response

    def _generate_error_response(self, request_id: str | int | None, error: Exception | JSONRPCError) -> JSONResponse:
        if isinstance(error, InvalidRequestError):
            error = InvalidParamsError(data=error.data)
        return super()._generate_error_response(request_id, _refused(error))


class _Executor(AgentExecutor):
    """Adapts a handler to the SDK's executor."""

    def __init__(self, handler: Handler, records: TaskRecords | None) -> None:
        self._handler = handler
        self._records = records
        self._running: dict[str, TaskHandle] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        current = context.current_task
        # For a follow-up that names only its task, the SDK generates a new context id: use the task's.
        context_id = current.context_id if current is not None else context.context_id or ""
        task_id = context.task_id or ""
        if current is None:
            await event_queue.enqueue_event(_submitted(task_id, context_id, context.message))
        abandoned = abandoned_task(context)
        task = TaskHandle(
            TaskUpdater(event_queue, task_id, context_id),
            self._records,
            owner=context.call_context.user.user_name,
            resumed=abandoned is not None,
            checkpoint=None if abandoned is None else abandoned.checkpoint,
        )
        self._running[task_id] = task
        try:
            await self._handler(_incoming(context, task_id, context_id), task)
        except Exception as error:
            # Otherwise the SDK would fail the task without a message.
            logger.exception("task %s failed", task_id)
            await task.fail(f"internal error: {type(error).__name__}: {error}")
        finally:
            del self._running[task_id]

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        task = context.current_task
        if task is not None:
            if (running := self._running.get(task.id)) is not None:
                running.canceled = True
            await TaskUpdater(event_queue, task.id, task.context_id).cancel()


def _submitted(task_id: str, context_id: str, message: pb.Message | None) -> pb.Task:
    task = pb.Task(
        id=task_id,
        context_id=context_id,
        status=pb.TaskStatus(state=pb.TaskState.TASK_STATE_SUBMITTED),
        history=[] if message is None else [message],
    )
    for sent in task.history:
        forget_token(sent)
    return task


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
