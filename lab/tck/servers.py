"""Two servers with the same behaviour: Concord's A2A server, and the SDK's own request handler.

The kit chooses the behaviour by the beginning of a message's id.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from a2a.helpers.proto_helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.routes.fastapi_routes import add_a2a_routes_to_fastapi
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import a2a_pb2 as pb
from fastapi import FastAPI
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value

from concord.a2a import AgentProfile, IncomingMessage, Skill, TaskHandle, mount_agent
from concord.a2a.cards import card_of
from tests.kit.serving import reserved, served, url_of

LONG_S: Final = 4.0
"""How long the task lasts to which the kit subscribes again (seconds)."""

TEXT: Final = pb.Part(text="a text")
FILE: Final = pb.Part(raw=b"content", media_type="text/plain", filename="file.txt")
LINK: Final = pb.Part(url="https://example.com/file.txt", media_type="text/plain", filename="file.txt")
DATA: Final = pb.Part(data=ParseDict({"key": "value", "count": 42}, Value()))

Behaviour = Callable[[TaskUpdater], Awaitable[None]]


def _with_artifact(part: pb.Part) -> Behaviour:
    async def behave(task: TaskUpdater) -> None:
        await task.start_work()
        await task.add_artifact([part])
        await task.complete()

    return behave


async def _in_chunks(task: TaskUpdater) -> None:
    await task.start_work()
    artifact = "chunked"
    await task.add_artifact([TEXT], artifact_id=artifact, append=False, last_chunk=False)
    await task.add_artifact([TEXT], artifact_id=artifact, append=True, last_chunk=True)
    await task.complete()


async def _long(task: TaskUpdater) -> None:
    await task.start_work()
    await asyncio.sleep(LONG_S)
    await task.complete()


async def _input(task: TaskUpdater) -> None:
    await task.requires_input()


async def _reject(task: TaskUpdater) -> None:
    await task.reject()


async def _complete(task: TaskUpdater) -> None:
    await task.complete(task.new_agent_message([TEXT]))


BEHAVIOURS: Final[tuple[tuple[str, Behaviour], ...]] = (
    ("tck-stream-artifact-chunked", _in_chunks),
    ("tck-stream-artifact-file", _with_artifact(FILE)),
    ("tck-stream-002", _complete),
    ("tck-stream", _with_artifact(TEXT)),
    ("tck-artifact-file-url", _with_artifact(LINK)),
    ("tck-artifact-file", _with_artifact(FILE)),
    ("tck-artifact-data", _with_artifact(DATA)),
    ("tck-artifact", _with_artifact(TEXT)),
    ("tck-input-required", _input),
    ("tck-reject-task", _reject),
    ("test-resubscribe", _long),
)
"""The first one whose name begins a message's id; other messages complete their tasks. A message in the place of a
task, which the kit asks for by `tck-message-response`, is nothing that Concord answers with: it always has a task."""


async def behave(message_id: str, task: TaskUpdater) -> None:
    """Behaves as the kit asks for by the id of a message."""
    await next((each for name, each in BEHAVIOURS if message_id.startswith(name)), _complete)(task)


@asynccontextmanager
async def concords_server() -> AsyncIterator[str]:
    """Concord's server with tasks in memory; yields its URL."""

    async def handle(message: IncomingMessage, task: TaskHandle) -> None:
        await behave(message.message_id, task._updater)

    holder, app = reserved(), FastAPI()
    agent = mount_agent(app, _profile(url_of(holder)), handle)
    try:
        async with served(app, holder) as url:
            yield url
    finally:
        await agent.aclose()


class _Executor(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        message = context.message or pb.Message()
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(message))
        await behave(message.message_id, TaskUpdater(event_queue, context.task_id or "", context.context_id or ""))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id or "", context.context_id or "").cancel()


@asynccontextmanager
async def sdks_server() -> AsyncIterator[str]:
    """The SDK's handler and routes with the same card; yields its URL."""
    holder, app = reserved(), FastAPI()
    card = card_of(_profile(url_of(holder)), with_keys=False)
    handler = DefaultRequestHandler(agent_executor=_Executor(), task_store=InMemoryTaskStore(), agent_card=card)
    add_a2a_routes_to_fastapi(
        app,
        agent_card_routes=create_agent_card_routes(card),
        jsonrpc_routes=create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
        rest_routes=create_rest_routes(handler, enable_v0_3_compat=True),
    )
    async with served(app, holder) as url:
        yield url


def _profile(url: str) -> AgentProfile:
    return AgentProfile(
        name="Conformance",
        description="Behaves as the compatibility kit asks for by the ids of messages.",
        version="1.0.0",
        url=f"{url}/",
        skills=(Skill("tck", "Conformance", "Behaves as asked.", ("tck",)),),
        rest=True,
    )
