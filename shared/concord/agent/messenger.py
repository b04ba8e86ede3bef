"""The messenger: sends messages to other agents, and records a step for each."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from functools import partial
from typing import Any, Final, Self
from uuid import uuid4

from pydantic import JsonValue, SecretStr

from concord.a2a.agent_card import CardSummary
from concord.a2a.client import NO_CREDENTIALS, A2AClient
from concord.a2a.errors import AgentFaultError, AgentTimeoutError, AgentUnreachableError, RemoteError
from concord.a2a.http import MAX_VALUES
from concord.a2a.messages import Answer, TaskUpdate
from concord.trace.attributes import RESPONSE_TEXT, TASK_STATE
from concord.trace.step import AgentInvocation, InteractionStep
from concord.trace.timing import MAX_QUOTED, StepClock, call_step
from concord.trust.credentials import Credentials
from concord.trust.redaction import redact
from concord.trust.urls import PeerUrls
from concord.wire.assignment import (
    ASSIGNMENT_URI,
    TIMESTAMP_KEY,
    TIMESTAMP_URI,
    TRACEABILITY_URI,
    TRACEPARENT_KEY,
    Assignment,
)
from concord.wire.platform import SILENCE_S
from concord.wire.roster import new_step_id, normalise_url

logger = logging.getLogger(__name__)

StepSink = Callable[[InteractionStep, Assignment], None]
"""Called with the step of each call that ended, and the caller's assignment. Must not block."""

OnUpdate = Callable[[TaskUpdate], None]

_CANCEL_S: Final = 2.0
_EXTENSIONS: Final = (TRACEABILITY_URI, TIMESTAMP_URI, ASSIGNMENT_URI)


class Messenger:
    """Sends messages to agents, with one client per URL and one step per call, errors included.

    Create one per assessment. Close it, or use it as a context manager. `peer_urls` restricts where cards may lead (see
    `A2AClient.connect`). `cards` are those that were fetched before, by URL. `credentials`: what agents are shown.
    """

    def __init__(
        self,
        on_step: StepSink,
        *,
        timeout_s: float = SILENCE_S,
        peer_urls: PeerUrls | None = None,
        cards: Mapping[str, CardSummary] | None = None,
        credentials: Credentials = NO_CREDENTIALS,
    ) -> None:
        self._on_step = on_step
        self._credentials = credentials
        self._peer_urls = peer_urls
        self._timeout_s = timeout_s
        self._cards = {normalise_url(url): card for url, card in (cards or {}).items()}
        self._clients: dict[str, A2AClient] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all clients."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.close()

    async def send(
        self,
        url: str,
        *,
        text: str | None = None,
        data: JsonValue = None,
        assignment: Assignment | None = None,
        callee_id: str = "",
        task_id: str = "",
        context_id: str = "",
        on_update: OnUpdate | None = None,
        step_id: str = "",
        token: SecretStr | None = None,
        timeout_s: float | None = None,
        may_ask_again: Callable[[AgentFaultError], bool] = lambda _fault: False,
    ) -> Answer:
        """Sends a message to the agent at `url` and waits until its task ends or asks for input.

        `assignment` is the one under which the caller works: its `step_id` becomes the call's parent, and the callee
        gets one of its own with the call's step id. Without it the call leaves no step. To answer a question or go on
        with a task, give the answer's `task_id` and `context_id` back. `step_id` names the call where its id was known
        before; `token` is the callee's own, never the caller's; `timeout_s` limits this call further.
        `may_ask_again` decides whether the same message is sent once more after a failure, when `again_after_s` is
        over; the wait counts as the call's time. When the waiting task is cancelled, so is the callee's.
        Raises AgentUnreachableError (AgentTimeoutError where it did not answer in time), RemoteError.
        """
        theirs = None
        if assignment is not None:
            theirs = assignment.for_call(step_id or new_step_id(), callee_id or redact(url)[:64], token)
        call = _TimedCall(url, callee_id, theirs, {"text": text, "data": data})
        answer: Answer | None = None
        error: str | None = None
        limit_s = self._timeout_s if timeout_s is None else min(timeout_s, self._timeout_s)
        try:
            async with asyncio.timeout(limit_s):
                client = await self._client(url)
                message = partial(_MessageStream, client, call, task_id, context_id, uuid4().hex)
                try:
                    answer = await message().run(on_update)
                except (AgentUnreachableError, RemoteError) as fault:
                    if not may_ask_again(fault):
                        raise
                    await asyncio.sleep(fault.again_after_s or 0)
                    answer = await message().run(on_update)
            return answer
        except TimeoutError:
            error = f"no answer within {limit_s:g} s"
            raise AgentTimeoutError(error) from None
        except (AgentUnreachableError, RemoteError) as fault:
            error = f"{type(fault).__name__}: {fault}"
            raise
        except asyncio.CancelledError:
            error = "cancelled by the caller"
            raise
        finally:
            if assignment is not None and theirs is not None:
                self._on_step(call.step(assignment, theirs.step_id, answer, error), assignment)

    async def _client(self, url: str) -> A2AClient:
        key = normalise_url(url)
        async with self._locks[key]:
            if key not in self._clients:
                self._clients[key] = await A2AClient.connect(
                    url,
                    timeout_s=self._timeout_s,
                    peer_urls=self._peer_urls,
                    max_values=MAX_VALUES,
                    card=self._cards.get(key),
                    credentials=self._credentials,
                )
            return self._clients[key]


class _TimedCall:
    """One call: the callee's assignment, and the call's clock (durations from the monotonic clock)."""

    def __init__(
        self, url: str, callee_id: str, assignment: Assignment | None, request: Mapping[str, JsonValue]
    ) -> None:
        self.assignment = assignment
        self.request = request
        # A proxy URL contains its caller's token.
        self._url = redact(url)
        self._callee_id = callee_id
        self._clock = StepClock()

    def metadata(self) -> dict[str, Any]:
        stamped: dict[str, Any] = {TIMESTAMP_KEY: self._clock.started_at.isoformat()}
        return stamped if self.assignment is None else stamped | self.assignment.metadata()

    def headers(self) -> dict[str, str]:
        """The trace context, which the instrumentation of HTTP servers reads from the header alone."""
        context = None if self.assignment is None else self.assignment.traceparent
        return {} if context is None else {TRACEPARENT_KEY: context}

    def step(self, parent: Assignment, step_id: str, answer: Answer | None, error: str | None) -> InteractionStep:
        attributes: dict[str, str] = {}
        if answer is not None:
            attributes = {TASK_STATE: answer.state.value, RESPONSE_TEXT: answer.text[:MAX_QUOTED]}
            if not answer.succeeded:
                error = f"the agent ended with {answer.state}: {answer.status_text[:MAX_QUOTED]}"
        if error is not None:
            attributes["error"] = redact(error)[:MAX_QUOTED]
        call = AgentInvocation(
            agent_url=self._url,
            agent_name=self._callee_id,
            requests=_quoted(self.request),
            response_trace=None if answer is None else answer.response_trace,
        )
        return call_step(
            call,
            self._clock,
            step_id=step_id,
            trace_id=parent.trace_id,
            parent_step_id=parent.step_id,
            attributes=attributes,
        )


class _MessageStream:
    """A message in transit and its answer. The callee's task id is known once the callee has sent it."""

    def __init__(self, client: A2AClient, call: _TimedCall, task_id: str, context_id: str, message_id: str) -> None:
        text = call.request["text"]
        self._client = client
        self._task_id = task_id
        self._named = asyncio.Event()
        self._events: AsyncGenerator[TaskUpdate | Answer, None] = client.stream(
            text=text if isinstance(text, str) else None,
            data=call.request["data"],
            metadata=call.metadata(),
            extensions=_EXTENSIONS,
            task_id=task_id,
            context_id=context_id,
            headers=call.headers(),
            message_id=message_id,
        )

    async def run(self, on_update: OnUpdate | None) -> Answer:
        """The answer. If cancelled, cancels the callee's task as well, which keeps the stream open a little longer."""
        reading = asyncio.create_task(self._read(on_update))
        try:
            return await asyncio.shield(reading)
        except asyncio.CancelledError:
            with suppress(AgentUnreachableError, RemoteError, TimeoutError):
                await asyncio.wait_for(self._cancel(), _CANCEL_S)
            raise
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _read(self, on_update: OnUpdate | None) -> Answer:
        async with aclosing(self._events) as events:
            async for event in events:
                if isinstance(event, Answer):
                    return event
                self._task_id = event.task_id or self._task_id
                self._named.set()
                if on_update is not None:
                    on_update(event)
        raise RemoteError("the agent's stream ended without an answer")

    async def _cancel(self) -> None:
        if not self._task_id:
            await self._named.wait()
        await self._client.cancel(self._task_id)


def _quoted(request: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    text, data = request["text"], request["data"]
    quoted: dict[str, JsonValue] = {}
    if isinstance(text, str):
        quoted["text"] = text[:MAX_QUOTED]
    if isinstance(data, dict) and "kind" in data:
        quoted["kind"] = data["kind"]
    return quoted
