"""A personal assistant as an A2A agent: one conversation of the assessment protocol per A2A context."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, Protocol, TypeVar

import httpx
from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    JsonValue,
    PositiveInt,
    TypeAdapter,
    ValidationError,
)

from concord.a2a import IncomingMessage, TaskHandle
from concord.files import first_fault
from concord.plain_http import NO_CERTIFICATES
from concord.trust.redaction import learn_secret
from concord_environment_client import AsyncUESClient, ServerError
from concord_environment_client.endpoints import Request

# The messages of the assessment protocol as an assistant receives and answers them (docs/assistants.md).

MAX_NOTES: Final = 10_000
"""Characters of notes or of a reason."""


class _PlatformMessage(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class AssessmentStart(_PlatformMessage):
    """The address of the user's environment and the key for it."""

    message_type: Literal["assessment_start"]
    ues_url: HttpUrl
    api_key: Annotated[str, Field(repr=False)]
    assessment_instructions: str = ""
    current_time: AwareDatetime


class TurnStart(_PlatformMessage):
    """The beginning of a turn."""

    message_type: Literal["turn_start"]
    turn_number: PositiveInt
    current_time: AwareDatetime
    events_processed: int = 0


class AssessmentComplete(_PlatformMessage):
    """The end of the assessment."""

    message_type: Literal["assessment_complete"]
    reason: str = ""


Incoming = AssessmentStart | TurnStart | AssessmentComplete

INCOMING: Final[TypeAdapter[Incoming]] = TypeAdapter(Annotated[Incoming, Field(discriminator="message_type")])
"""Parses a message. Raises pydantic.ValidationError."""


def message_in(data_parts: tuple[JsonValue, ...]) -> JsonValue:
    """The data part that is a message of the protocol. None if there is none."""
    return next((data for data in data_parts if isinstance(data, dict) and "message_type" in data), None)


class TurnComplete(_PlatformMessage):
    """Ends a turn. Time then moves by `time_step` (ISO 8601), by default the scenario's step."""

    message_type: Literal["turn_complete"] = "turn_complete"
    notes: str | None = None
    time_step: str | None = None


class EarlyCompletion(_PlatformMessage):
    """Ends the assessment, because the assistant has finished."""

    message_type: Literal["early_completion"] = "early_completion"
    reason: str | None = None


Reply = TurnComplete | EarlyCompletion


def reply_data(reply: Reply) -> dict[str, Any]:
    """The reply as the content of a data part, with shortened texts."""
    data = reply.model_dump(mode="json", exclude_none=True)
    return {name: value[:MAX_NOTES] for name, value in data.items()}


# An assistant as an A2A agent: one conversation of the assessment protocol per A2A context.

MAX_ASSESSMENTS: Final = 100
"""Assessments at a time. Beyond them, the oldest one ends."""

CALL_TIMEOUT_S: Final = 60.0

MAX_RETRIES: Final = 5
MAX_RETRY_AFTER_S: Final = 10

T = TypeVar("T")


class ProtocolError(Exception):
    """A message that the protocol does not permit at this point; the text says why."""


class RetryingClient(AsyncUESClient):
    """A client that sends a call again that was refused before it executed: a 503 that says when to retry."""

    async def send(self, request: Request[T]) -> T:
        """See `AsyncUESClient`."""
        for _ in range(MAX_RETRIES):
            try:
                return await super().send(request)
            except ServerError as error:
                if error.status_code != 503 or error.retry_after is None:
                    raise
                await asyncio.sleep(min(error.retry_after, MAX_RETRY_AFTER_S))
        return await super().send(request)


class Assistant(Protocol):
    """What an assistant does with its turns. One object serves one assessment."""

    async def take_turn(self, ues: AsyncUESClient, turn: TurnStart) -> Reply:
        """Acts in the environment and ends the turn. Raises UESClientError."""


class AssistantAgent:
    """Serves assessments with assistants that `new_assistant` makes."""

    def __init__(
        self, new_assistant: Callable[[], Assistant], transport: Callable[[], httpx.AsyncBaseTransport] | None = None
    ) -> None:
        """`transport`: makes what sends an assessment's calls, by default over the network."""
        self._new_assistant = new_assistant
        self._transport = transport
        self._assessments: OrderedDict[str, tuple[AsyncUESClient, Assistant]] = OrderedDict()

    async def __call__(self, message: IncomingMessage, task: TaskHandle, /) -> None:
        """Serves one A2A message: completes its task with the reply, or rejects it."""
        try:
            reply = await self.receive(message_in(message.data_parts), message.context_id)
        except ProtocolError as error:
            await task.reject(str(error))
            return
        await task.complete(data=reply)

    async def receive(self, data: JsonValue, context_id: str) -> dict[str, Any]:
        """Serves one message of the protocol in an A2A context. Returns the reply.

        Raises ProtocolError, UESClientError, and what the assistant raises.
        """
        try:
            message = INCOMING.validate_python(data)
        except ValidationError as error:
            raise ProtocolError(f"not a message of an assessment: {first_fault(error)}") from error
        if isinstance(message, AssessmentStart):
            await self._start(message, context_id)
            return {"message_type": "assessment_started"}
        if isinstance(message, TurnStart):
            if (found := self._assessments.get(context_id)) is None:
                raise ProtocolError("turn_start without assessment_start in this A2A context")
            ues, assistant = found
            return reply_data(await assistant.take_turn(ues, message))
        await self._end(context_id)
        return {"message_type": "assessment_ended"}

    async def close(self) -> None:
        """Ends all assessments."""
        for context_id in list(self._assessments):
            await self._end(context_id)

    async def _start(self, message: AssessmentStart, context_id: str) -> None:
        learn_secret(message.api_key)
        await self._end(context_id)
        while len(self._assessments) >= MAX_ASSESSMENTS:
            await self._end(next(iter(self._assessments)))
        transport = self._transport() if self._transport else None
        if transport is None and message.ues_url.scheme == "http":
            transport = httpx.AsyncHTTPTransport(verify=NO_CERTIFICATES)
        ues = RetryingClient(
            str(message.ues_url).rstrip("/"),
            message.api_key,
            timeout=CALL_TIMEOUT_S,
            transport=transport,
        )
        self._assessments[context_id] = (ues, self._new_assistant())

    async def _end(self, context_id: str) -> None:
        if (found := self._assessments.pop(context_id, None)) is not None:
            await found[0].close()
