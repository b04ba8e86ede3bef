"""The A2A client: one agent, reached by its URL, in whichever protocol version it speaks."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any, Final, Self

import httpx
from a2a.client import A2ACardResolver, Client, ClientCallContext, ClientConfig, ClientFactory
from a2a.client.service_parameters import ServiceParametersFactory, with_a2a_extensions
from a2a.types import a2a_pb2 as pb
from pydantic import JsonValue

from concord.a2a.answer_reader import AnswerReader, answer_of
from concord.a2a.body_values import MAX_VALUES
from concord.a2a.card_guard import CardGuard
from concord.a2a.errors import AgentUnreachableError, RemoteError, fault_of
from concord.a2a.http import http_client
from concord.a2a.messages import Answer, CardSummary, TaskState, TaskUpdate, data_part, new_message, state_of, text_part
from concord.trust.urls import PeerUrls
from concord.wire.platform import SILENCE_S

CONNECT_TIMEOUT_S: Final = 10.0
CARD_TIMEOUT_S: Final = 10.0

OUTPUT_MODES: Final = ("text/plain", "application/json")
"""The accepted output modes. fasta2a requires that a client names modes."""

_POLL_S: Final = (0.1, 1.0)
"""The first and the longest pause between two requests for a task's state (seconds)."""


class A2AClient:
    """A client for one agent. It keeps connections open: close it, or use it as a context manager."""

    def __init__(self, client: Client, card: pb.AgentCard, http: httpx.AsyncClient) -> None:
        self._client = client
        self._http = http
        self._card = card

    @classmethod
    async def connect(
        cls,
        url: str,
        *,
        timeout_s: float = SILENCE_S,
        protocol_version: str | None = None,
        peer_urls: PeerUrls | None = None,
        max_values: int | None = None,
        card: CardSummary | None = None,
    ) -> Self:
        """Fetches the card at `url`, unless it is given, and selects an interface from it.

        `protocol_version` ("0.3") insists on that version; by default the newest common version is used. `timeout_s`
        limits the wait for an answer, or between two events of a stream. `peer_urls` restricts where the card may lead,
        apart from URLs below `url`: instead of a forbidden interface, `url` is used. `max_values`: limit on the JSON
        values of each answer. Raises AgentUnreachableError, RemoteError.
        """
        http = http_client(httpx.Timeout(timeout_s, connect=CONNECT_TIMEOUT_S), max_values)
        try:
            guard = None if peer_urls is None else CardGuard(url, peer_urls)
            if guard is not None:
                http.event_hooks["request"].append(guard.pin)
            whole = pb.AgentCard.FromString(card.whole) if card is not None else await _card(http, url)
            if guard is not None:
                await guard.replace_forbidden_urls(whole)
            offered = _interfaces(whole, protocol_version)
            config = ClientConfig(streaming=True, httpx_client=http, accepted_output_modes=list(OUTPUT_MODES))
            factory = ClientFactory(config)
            return cls(factory.create(offered), whole, http)
        except ValueError as error:
            await http.aclose()
            raise RemoteError(f"{url}: its card offers no supported interface: {error}") from error
        except BaseException:
            await http.aclose()
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()
        await self._http.aclose()

    @property
    def card(self) -> CardSummary:
        """The agent's card, as fetched on connecting."""
        return summarise(self._card)

    async def stream(
        self,
        *,
        text: str | None = None,
        data: JsonValue = None,
        metadata: Mapping[str, Any] | None = None,
        extensions: Sequence[str] = (),
        task_id: str = "",
        context_id: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[TaskUpdate | Answer, None]:
        """Sends one message; yields the updates of its task as they arrive, and the answer last.

        Streams if the card says that the agent can, and then asks for no history, in which the first event would repeat
        the message. `headers`: further HTTP headers of the request. Raises AgentUnreachableError, RemoteError.
        """
        parts = [text_part(text)] if text is not None else []
        if data is not None:
            parts.append(data_part(data))
        message = new_message(
            pb.Role.ROLE_USER,
            parts,
            metadata=metadata,
            extensions=extensions,
            task_id=task_id,
            context_id=context_id,
        )
        parameters = ServiceParametersFactory.create([with_a2a_extensions(list(extensions))]) | dict(headers or {})
        context = ClientCallContext(service_parameters=parameters)
        request = pb.SendMessageRequest(message=message)
        if self._card.capabilities.streaming:
            request.configuration.history_length = 0
        events, reader = self._client.send_message(request, context=context), AnswerReader()
        async with aclosing(_read(events, reader)) as updates:
            async for update in updates:
                if isinstance(update, Answer) and self._must_ask(update):
                    break
                yield await self._whole(update, reader) if isinstance(update, Answer) else update
            else:
                return
        async for later in self._asked(update.task_id):
            yield later

    def _must_ask(self, answer: Answer) -> bool:
        """Whether an agent without streaming answered before its task ended, although the request asked it to wait."""
        waits = answer.state in {TaskState.SUBMITTED, TaskState.WORKING}
        return waits and answer.is_task and not self._card.capabilities.streaming

    async def _whole(self, answer: Answer, reader: AnswerReader) -> Answer:
        """The answer of a task. A streamed one without a text may have it in the history, which we did not ask for."""
        if not self._card.capabilities.streaming or not answer.is_task or answer.text or answer.data_parts:
            return answer
        with suppress(AgentUnreachableError, RemoteError):
            return answer_of(await self._task(answer.task_id), reader.progress)
        return answer

    async def _asked(self, task_id: str) -> AsyncGenerator[TaskUpdate | Answer, None]:
        """Asks for a task until it has ended or waits for input. Yields changes of its state, and the answer last."""
        pause_s, longest_s = _POLL_S
        state = TaskState.SUBMITTED
        while True:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, longest_s)
            task = await self._task(task_id)
            answer = answer_of(task)
            if not self._must_ask(answer):
                yield answer
                return
            if answer.state != state:
                state = answer.state
                yield TaskUpdate(state, task_id, answer.status_text, answer.status_data)

    async def follow(self, task_id: str) -> AsyncGenerator[TaskUpdate | Answer, None]:
        """Yields the updates of a task that was created earlier, and its answer last.

        Raises AgentUnreachableError; RemoteError, for instance if the agent does not know the task.
        """
        task = await self._task(task_id)
        if not state_of(task.status.state).terminal:
            events = self._client.subscribe(pb.SubscribeToTaskRequest(id=task_id))
            try:
                async with aclosing(_read(events, AnswerReader())) as updates:
                    async for update in updates:
                        yield update
                return
            except RemoteError:
                # A task that has ended meanwhile cannot be subscribed to.
                task = await self._task(task_id)
                if not state_of(task.status.state).terminal:
                    raise
        yield answer_of(task)

    async def _task(self, task_id: str) -> pb.Task:
        try:
            return await self._client.get_task(pb.GetTaskRequest(id=task_id))
        except Exception as error:
            raise fault_of(error) from error

    async def cancel(self, task_id: str) -> None:
        """Asks the agent to cancel a task. Raises AgentUnreachableError, RemoteError."""
        try:
            await self._client.cancel_task(pb.CancelTaskRequest(id=task_id))
        except Exception as error:
            raise fault_of(error) from error


async def _read(
    events: AsyncIterator[pb.StreamResponse], reader: AnswerReader
) -> AsyncGenerator[TaskUpdate | Answer, None]:
    """Yields the updates in a stream of events, and the answer at its end."""
    try:
        async with aclosing(events) as stream:  # type: ignore[type-var]  # an async generator, typed as iterator
            async for event in stream:
                if (update := reader.read(event)) is not None:
                    yield update
        answer = reader.answer()
    except RemoteError:
        raise
    except Exception as error:
        raise fault_of(error) from error
    yield answer


async def fetch_card(url: str, *, timeout_s: float = CARD_TIMEOUT_S, peer_urls: PeerUrls | None = None) -> CardSummary:
    """The card of the agent at `url`. Raises AgentUnreachableError, RemoteError."""
    async with http_client(httpx.Timeout(timeout_s), MAX_VALUES) as http:
        if peer_urls is not None:
            http.event_hooks["request"].append(CardGuard(url, peer_urls).pin)
        return summarise(await _card(http, url, timeout_s))


async def _card(http: httpx.AsyncClient, url: str, timeout_s: float = CARD_TIMEOUT_S) -> pb.AgentCard:
    try:
        return await A2ACardResolver(http, url).get_agent_card(http_kwargs={"timeout": timeout_s})
    except Exception as error:
        raise fault_of(error) from error


def _interfaces(card: pb.AgentCard, protocol_version: str | None) -> pb.AgentCard:
    if protocol_version is None:
        return card
    offered = pb.AgentCard()
    offered.CopyFrom(card)
    del offered.supported_interfaces[:]
    offered.supported_interfaces.extend(
        interface for interface in card.supported_interfaces if interface.protocol_version.startswith(protocol_version)
    )
    return offered


def summarise(card: pb.AgentCard) -> CardSummary:
    """A card without the SDK's types."""
    return CardSummary(
        name=card.name,
        urls=tuple(dict.fromkeys(interface.url for interface in card.supported_interfaces)),
        skill_ids=tuple(skill.id for skill in card.skills),
        streaming=card.capabilities.streaming,
        extensions=tuple(extension.uri for extension in card.capabilities.extensions),
        whole=card.SerializeToString(),
    )
