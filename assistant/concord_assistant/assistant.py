"""The assistant under test, over A2A: messages to it, and its replies."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Final, Protocol

from pydantic import JsonValue, ValidationError

from concord.a2a import Answer, TaskState
from concord.agent.messenger import Messenger
from concord.trust.redaction import redact
from concord_assistant.messages import REPLY, Message, Reply

MAX_REPLY: Final = 100_000
"""Characters of a text that may contain a reply."""

MAX_ERROR: Final = 500

_TYPES: Final = ("turn_complete", "early_completion")


class InvalidReplyError(Exception):
    """The assistant's answer is not a reply of the protocol."""


class PurpleClient(Protocol):
    """A connection to the assistant."""

    @property
    def url(self) -> str:
        """The assistant's address, for people."""

    async def send(self, message: Message) -> Answer:
        """Sends a message and returns the answer. Raises AgentUnreachableError, AgentTimeoutError, RemoteError."""


SendData = Callable[[JsonValue, str, str], Awaitable[Answer]]
"""Sends a data part in the A2A task and context of these ids, each "" at first."""


class A2AAssistant:
    """A connection over A2A, in one A2A context for as long as the assistant stays in it."""

    def __init__(self, url: str, send: SendData) -> None:
        self.url = url
        self._send = send
        self._context_id = ""
        self._task_id = ""

    @classmethod
    @asynccontextmanager
    async def connect(cls, url: str) -> "AsyncIterator[A2AAssistant]":
        """A connection to the agent at `url`."""
        async with Messenger(lambda _step, _assignment: None) as messenger:

            async def send(data: JsonValue, task_id: str, context_id: str) -> Answer:
                return await messenger.send(url, data=data, task_id=task_id, context_id=context_id)

            yield cls(url, send)

    async def send(self, message: Message) -> Answer:
        """See `PurpleClient.send`. A call that fails ends the A2A task."""
        task_id, self._task_id = self._task_id, ""
        answer = await self._send(message.data(), task_id, self._context_id)
        self._context_id = answer.context_id or self._context_id
        self._task_id = answer.task_id if answer.state is TaskState.INPUT_REQUIRED else ""
        return answer


def expect_success(answer: Answer) -> None:
    """Raises InvalidReplyError if the assistant's task failed."""
    if not answer.succeeded:
        raise InvalidReplyError(_short(f"the assistant's task ended with {answer.state}: {answer.status_text}"))


def read_reply(answer: Answer) -> Reply:
    """The reply in an answer: one data part, or a text that is the same JSON. Raises InvalidReplyError."""
    expect_success(answer)
    found = [each for each in _objects(answer) if each.get("message_type") in _TYPES]
    if len(found) != 1:
        raise InvalidReplyError(
            f"the answer has {len(found)} data parts of type turn_complete or early_completion, not one"
        )
    try:
        return REPLY.validate_python(found[0])
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, fault["loc"]))
        raise InvalidReplyError(_short(f"{field}: {fault['msg']}")) from error


def _objects(answer: Answer) -> Iterator[dict[str, JsonValue]]:
    data = (*answer.data_parts, *answer.status_data)
    for each in data:
        if isinstance(each, dict):
            yield each
    if data:
        return
    for text in answer.text_parts or (answer.status_text,):
        try:
            document = json.loads(text) if len(text) <= MAX_REPLY else None
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            yield document


def _short(text: str) -> str:
    text = redact(text)
    return text if len(text) <= MAX_ERROR else f"{text[:MAX_ERROR]}…"
