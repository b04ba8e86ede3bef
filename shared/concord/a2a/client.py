"""The A2A client: one agent, reached by its URL, in whichever protocol version it speaks."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final, Self

import httpx
from a2a.client import A2ACardResolver, Client, ClientCallContext, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientTimeoutError
from a2a.client.service_parameters import ServiceParametersFactory, with_a2a_extensions
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import A2AError
from google.protobuf.json_format import MessageToDict
from pydantic import JsonValue

from concord.a2a.http import http_client
from concord.a2a.messages import (
    Answer,
    CardSummary,
    TaskState,
    TaskUpdate,
    data_of,
    data_part,
    new_message,
    state_of,
    text_part,
    texts_of,
)
from concord.trust.redaction import redact
from concord.trust.urls import NoAddressError, PeerUrls, UrlRefusedError, lies_under
from concord.wire.platform import SILENCE_S

logger = logging.getLogger(__name__)

CONNECT_TIMEOUT_S: Final = 10.0
CARD_TIMEOUT_S: Final = 10.0

OUTPUT_MODES: Final = ("text/plain", "application/json")
"""The accepted output modes. fasta2a requires that a client names modes."""

_POLL_S: Final = (0.1, 1.0)
"""The first and the longest pause between two requests for a task's state (seconds)."""

_PROXY_STATUS: Final = frozenset({502, 503, 504})
_FAULTS: Final = (A2AError, UrlRefusedError, httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, ExceptionGroup)
"""httpx raises the latter for a URL with an impossible host or port."""


class AgentUnreachableError(Exception):
    """The agent cannot be reached: no connection, or a gateway error from a proxy in between."""


class AgentTimeoutError(AgentUnreachableError):
    """The agent was reached, and did not answer in time."""


class RemoteError(Exception):
    """The agent answered with a protocol error or with something other than A2A."""


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
    ) -> Self:
        """Fetches the card at `url` and selects an interface from it.

        `protocol_version` ("0.3") insists on that version; by default the newest common version is used. `timeout_s`
        limits the wait for an answer, or between two events of a stream. `peer_urls` restricts where the card may lead,
        apart from URLs below `url`: instead of a forbidden interface, `url` is used. Raises AgentUnreachableError,
        RemoteError.
        """
        http = http_client(httpx.Timeout(timeout_s, connect=CONNECT_TIMEOUT_S))
        try:
            guard = None if peer_urls is None else _Guard(url, peer_urls)
            if guard is not None:
                http.event_hooks["request"].append(guard.pin)
            card = await _card(http, url)
            if guard is not None:
                await guard.replace_forbidden_urls(card)
            offered = _interfaces(card, protocol_version)
            config = ClientConfig(streaming=True, httpx_client=http, accepted_output_modes=list(OUTPUT_MODES))
            factory = ClientFactory(config)
            return cls(factory.create(offered), card, http)
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

        Streams if the card says that the agent can. `headers`: further HTTP headers of the request. Raises
        AgentUnreachableError, RemoteError.
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
        events = self._client.send_message(pb.SendMessageRequest(message=message), context=context)
        async with aclosing(_read(events)) as updates:
            async for update in updates:
                if isinstance(update, Answer) and self._must_ask(update):
                    break
                yield update
            else:
                return
        async for later in self._asked(update.task_id):
            yield later

    def _must_ask(self, answer: Answer) -> bool:
        """Whether an agent without streaming answered before its task ended, although the request asked it to wait."""
        waits = answer.state in {TaskState.SUBMITTED, TaskState.WORKING}
        return waits and answer.is_task and not self._card.capabilities.streaming

    async def _asked(self, task_id: str) -> AsyncGenerator[TaskUpdate | Answer, None]:
        """Asks for a task until it has ended or waits for input. Yields changes of its state, and the answer last."""
        pause_s, longest_s = _POLL_S
        state = TaskState.SUBMITTED
        while True:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, longest_s)
            task = await self._task(task_id)
            answer = _of_task(task)
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
                async with aclosing(_read(events)) as updates:
                    async for update in updates:
                        yield update
                return
            except RemoteError:
                # A task that has ended meanwhile cannot be subscribed to.
                task = await self._task(task_id)
                if not state_of(task.status.state).terminal:
                    raise
        yield _of_task(task)

    async def _task(self, task_id: str) -> pb.Task:
        try:
            return await self._client.get_task(pb.GetTaskRequest(id=task_id))
        except Exception as error:
            raise _ours(error) from error

    async def cancel(self, task_id: str) -> None:
        """Asks the agent to cancel a task. Raises AgentUnreachableError, RemoteError."""
        try:
            await self._client.cancel_task(pb.CancelTaskRequest(id=task_id))
        except Exception as error:
            raise _ours(error) from error


class _Guard:
    """Keeps a card from leading the client to a forbidden address."""

    def __init__(self, declared: str, peer_urls: PeerUrls) -> None:
        self._declared = declared
        self._peer_urls = peer_urls

    async def replace_forbidden_urls(self, card: pb.AgentCard) -> None:
        """Replaces forbidden URLs in a card by the declared URL."""
        for interface in card.supported_interfaces:
            if not lies_under(interface.url, self._declared):
                try:
                    await self._peer_urls.pin(interface.url)
                except UrlRefusedError as error:
                    logger.warning("%s: ignoring a URL in its card: %s", redact(self._declared), error)
                    interface.url = self._declared

    async def pin(self, request: httpx.Request) -> None:
        """Sends a request to the address that was checked, since the name may resolve to another by now. Raises
        UrlRefusedError."""
        url = str(request.url)
        ours = lies_under(url, self._declared)
        pinned = await (self._peer_urls.pin_declared(url) if ours else self._peer_urls.pin(url))
        if pinned is not None:
            request.url = request.url.copy_with(host=str(pinned.address))
            request.extensions = {**request.extensions, "sni_hostname": pinned.host}


async def _read(events: AsyncIterator[pb.StreamResponse]) -> AsyncGenerator[TaskUpdate | Answer, None]:
    """Yields the updates in a stream of events, and the answer at its end."""
    reader = _AnswerReader()
    try:
        async with aclosing(events) as stream:  # type: ignore[type-var]  # an async generator, typed as iterator
            async for event in stream:
                if (update := reader.read(event)) is not None:
                    yield update
        answer = reader.answer()
    except RemoteError:
        raise
    except Exception as error:
        raise _ours(error) from error
    yield answer


class _AnswerReader:
    """Accumulates the events of one task into its answer."""

    def __init__(self) -> None:
        self._task = pb.Task()
        self._message: pb.Message | None = None
        self._progress: set[str] = set()
        """The ids of messages that told of work under way."""

    def read(self, event: pb.StreamResponse) -> TaskUpdate | None:
        """Takes one event; returns an update if the event changes the task's state."""
        if event.HasField("message"):
            self._message = event.message
            return None
        if event.HasField("task"):
            self._task.CopyFrom(event.task)
            return self._update()
        if event.HasField("status_update"):
            self._task.id = event.status_update.task_id
            self._task.context_id = event.status_update.context_id
            self._task.status.CopyFrom(event.status_update.status)
            return self._update()
        self._add(event.artifact_update)
        return None

    def answer(self) -> Answer:
        """The answer at the end of the stream. Raises RemoteError if there was none."""
        if self._message is not None:
            return _bare(self._message)
        if not self._task.id:
            raise RemoteError("the agent sent neither a task nor a message")
        return _of_task(self._task, self._progress)

    def _update(self) -> TaskUpdate:
        status = self._task.status
        if not state_of(status.state).terminal:
            self._progress.add(status.message.message_id)
        parts = status.message.parts
        return TaskUpdate(state_of(status.state), self._task.id, "\n".join(texts_of(parts)), data_of(parts))

    def _add(self, update: pb.TaskArtifactUpdateEvent) -> None:
        known = {artifact.artifact_id: artifact for artifact in self._task.artifacts}
        if update.append and (artifact := known.get(update.artifact.artifact_id)) is not None:
            artifact.parts.extend(update.artifact.parts)
        elif (artifact := known.get(update.artifact.artifact_id)) is not None:
            artifact.CopyFrom(update.artifact)
        else:
            self._task.artifacts.append(update.artifact)


def _bare(message: pb.Message) -> Answer:
    said = texts_of(message.parts)
    return Answer(
        state=TaskState.COMPLETED,
        text="\n".join(said),
        status_text="",
        text_parts=said,
        data_parts=data_of(message.parts),
        artifacts=0,
        is_task=False,
        task_id=message.task_id,
        context_id=message.context_id,
        metadata=MessageToDict(message.metadata),
    )


def _of_task(task: pb.Task, progress: Collection[str] = ()) -> Answer:
    """The answer in a task. `progress`: the ids of messages in its history that are no answer."""
    parts = [part for artifact in task.artifacts for part in artifact.parts]
    if not parts and not task.status.message.parts:
        parts = _last_words(task, progress)
    status_text = "\n".join(texts_of(task.status.message.parts))
    metadata: dict[str, Any] = {}
    for source in (task.metadata, task.status.message.metadata, *(a.metadata for a in task.artifacts)):
        metadata |= MessageToDict(source)
    return Answer(
        state=state_of(task.status.state),
        text="\n".join(texts_of(parts)) or status_text,
        status_text=status_text,
        text_parts=texts_of(parts),
        data_parts=data_of(parts),
        artifacts=len(task.artifacts),
        is_task=True,
        task_id=task.id,
        context_id=task.context_id,
        metadata=metadata,
        status_data=data_of(task.status.message.parts),
    )


def _last_words(task: pb.Task, progress: Collection[str]) -> list[pb.Part]:
    """The last message of the agent in a task's history, where some servers put their answers."""
    said = [message for message in task.history if message.role == pb.Role.ROLE_AGENT]
    kept = [message for message in said if not message.message_id or message.message_id not in progress]
    return list(kept[-1].parts) if kept else []


async def fetch_card(url: str, *, timeout_s: float = CARD_TIMEOUT_S, peer_urls: PeerUrls | None = None) -> CardSummary:
    """The card of the agent at `url`. Raises AgentUnreachableError, RemoteError."""
    async with http_client(httpx.Timeout(timeout_s)) as http:
        if peer_urls is not None:
            http.event_hooks["request"].append(_Guard(url, peer_urls).pin)
        return summarise(await _card(http, url, timeout_s))


async def _card(http: httpx.AsyncClient, url: str, timeout_s: float = CARD_TIMEOUT_S) -> pb.AgentCard:
    try:
        return await A2ACardResolver(http, url).get_agent_card(http_kwargs={"timeout": timeout_s})
    except Exception as error:
        raise _ours(error) from error


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
    )


def _ours(error: Exception) -> AgentUnreachableError | RemoteError:
    reason = str(error) or type(error).__name__
    if isinstance(error, A2AClientTimeoutError | httpx.ReadTimeout) or isinstance(error.__cause__, httpx.ReadTimeout):
        return AgentTimeoutError(reason)
    lost = (httpx.TransportError, httpx.InvalidURL, NoAddressError, OSError, ExceptionGroup)
    no_connection = isinstance(error, lost) or isinstance(error.__cause__, httpx.RequestError)
    if no_connection or getattr(error, "status_code", None) in _PROXY_STATUS:
        return AgentUnreachableError(reason)
    # The SDK raises many kinds of errors on malformed answers. All of them are the agent's failure, and nobody else's.
    return RemoteError(reason if isinstance(error, _FAULTS) else f"what it sent cannot be read: {type(error).__name__}")
