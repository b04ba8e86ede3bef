"""The A2A client: one agent, reached by its URL, in whichever version and binding it speaks.

It does without the SDK's client, which refuses an answer as a whole where one event or part has a form that it does
not know: an assessor has to read what agents send.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any, Final, Self
from urllib.parse import quote, urljoin
from uuid import uuid4

import httpx
from pydantic import JsonValue

from concord.a2a.agent_card import JSONRPC, CardGuard, CardSummary, Interface, chosen_interface, read_card
from concord.a2a.answer_reader import AnswerReader
from concord.a2a.errors import AgentFaultError, RemoteError, fault_of, status_fault
from concord.a2a.http import MAX_ANSWER_BYTES, MAX_VALUES, EventReader, LineSplitter, http_client, parse_json
from concord.a2a.messages import Answer, TaskState, TaskUpdate
from concord.trust.credentials import Credentials, origin_of
from concord.trust.urls import PeerUrls
from concord.wire.platform import SILENCE_S
from concord.wire.roster import CARD_PATH

CONNECT_TIMEOUT_S: Final = 10.0
CARD_TIMEOUT_S: Final = 10.0

OUTPUT_MODES: Final = ("text/plain", "application/json")
"""The accepted output modes. fasta2a requires that a client names modes."""

OLD_CARD_PATH: Final = "/.well-known/agent.json"
"""Where agents of A2A 0.2 serve their cards."""

MAX_REDIRECTS: Final = 3

NO_CREDENTIALS: Final = Credentials()

MAX_DEPTH: Final = 100
"""Levels of JSON in an answer, as many as the SDK's servers write."""

_POLL_S: Final = (0.1, 1.0)
"""The first and the longest pause between two requests for a task's state (seconds)."""

_EXTENSIONS_HEADERS: Final = ("A2A-Extensions", "X-A2A-Extensions")
"""The names of 1.0 and of 0.3. Some servers read only one, whatever version their card states."""

_STREAM_END: Final = b"[DONE]"
"""What some servers send last, as OpenAI's do."""

_METHODS: Final = {
    "send": ("SendMessage", "message/send"),
    "stream": ("SendStreamingMessage", "message/stream"),
    "get": ("GetTask", "tasks/get"),
    "cancel": ("CancelTask", "tasks/cancel"),
    "subscribe": ("SubscribeToTask", "tasks/resubscribe"),
}
"""The methods in JSON-RPC of 1.0, and of 0.3."""

_PATHS: Final = {
    "send": ("POST", "/message:send"),
    "stream": ("POST", "/message:stream"),
    "get": ("GET", "/tasks/{id}"),
    "cancel": ("POST", "/tasks/{id}:cancel"),
    "subscribe": ("POST", "/tasks/{id}:subscribe"),
}
"""The same in REST; of 0.3 below `/v1`."""


class A2AClient:
    """A client for one agent. It keeps connections open: close it, or use it as a context manager."""

    def __init__(self, interface: Interface, card: CardSummary, http: httpx.AsyncClient) -> None:
        self._interface = interface
        self._card = card
        self._http = http

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
        credentials: Credentials = NO_CREDENTIALS,
    ) -> Self:
        """Fetches the card at `url`, unless it is given, and selects an interface from it.

        `protocol_version` ("0.3") insists on that version; by default the newest common version is used. `timeout_s`
        limits the wait for an answer, or between two events of a stream. `peer_urls` restricts where the card may lead,
        apart from URLs below `url`: instead of a forbidden interface, `url` is used. `max_values`: limit on the JSON
        values of each answer. `credentials` are shown to their origins alone. Raises AgentUnreachableError,
        RemoteError.
        """
        http = http_client(httpx.Timeout(timeout_s, connect=CONNECT_TIMEOUT_S), max_values)
        try:
            guard = _guarded(http, url, peer_urls, credentials)
            whole = card or await _card(http, url)
            interface = chosen_interface(whole, protocol_version)
            if guard is not None:
                interface = await guard.allowed(interface)
            if whole.demands and credentials.of(interface.url) is None:
                raise RemoteError(f"its card demands {whole.demands}; callers can show a bearer token or an API key")
            return cls(interface, whole, http)
        except BaseException:
            await http.aclose()
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    @property
    def card(self) -> CardSummary:
        """The agent's card, as fetched on connecting."""
        return self._card

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
        message_id: str = "",
    ) -> AsyncGenerator[TaskUpdate | Answer, None]:
        """Sends one message; yields the updates of its task as they arrive, and the answer last.

        Streams if the card says that the agent can, and then asks for no history, in which the first event would repeat
        the message. `headers`: further HTTP headers of the request. `message_id` is new unless it is given. Raises
        AgentUnreachableError, RemoteError.
        """
        message = self._message(
            {"text": text, "data": data},
            {
                "messageId": message_id or uuid4().hex,
                "taskId": task_id,
                "contextId": context_id,
                "metadata": dict(metadata or {}),
                "extensions": list(extensions),
            },
        )
        streaming = self._card.streaming
        configuration: dict[str, JsonValue] = {"acceptedOutputModes": list(OUTPUT_MODES)}
        configuration |= {"historyLength": 0} if streaming else {} if self._interface.is_1_0 else {"blocking": True}
        body: dict[str, Any] = {"message": message, "configuration": configuration}
        named = {name: ", ".join(extensions) for name in _EXTENSIONS_HEADERS}
        sent = {name: value for name, value in {**named, **(headers or {})}.items() if value}
        reader = AnswerReader()
        events = self._call("stream" if streaming else "send", body, headers=sent)
        async with aclosing(_updates(events, reader)) as updates:
            async for update in updates:
                yield update
        if not streaming and reader.under_way:
            async for later in self._asked(reader.task_id):
                yield later
            return
        yield await self._whole(reader)

    def _message(self, content: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
        """A message in the form of the interface's version and binding."""
        old = not self._interface.is_1_0
        json_form = old and self._interface.binding == JSONRPC
        parts: list[dict[str, JsonValue]] = []
        if (text := content["text"]) is not None:
            parts.append({"kind": "text", "text": text} if json_form else {"text": text})
        if (data := content["data"]) is not None:
            in_rest: JsonValue = {"data": data} if old else data
            parts.append({"kind": "data", "data": data} if json_form else {"data": in_rest})
        known = {name: value for name, value in fields.items() if value}
        role = {"kind": "message", "role": "user"} if json_form else {"role": "ROLE_USER"}
        return {**role, ("content" if old and not json_form else "parts"): parts, **known}

    async def _whole(self, reader: AnswerReader) -> Answer:
        """The answer of an ended stream. One without a text may have it in the history, which we did not ask for."""
        if reader.state is None and not reader.is_task:
            raise RemoteError("it sent neither a task nor a message" + _also(reader))
        if self._card.streaming and reader.is_task and not (reader.state and reader.has_answer):
            with suppress(AgentFaultError):
                reader.read(await self._result("get", reader.task_id))
        if reader.state is None:
            reader.cannot_read("a stream that ended without a state of its task")
            reader.state = TaskState.COMPLETED
        return reader.answer()

    async def _asked(self, task_id: str) -> AsyncGenerator[TaskUpdate | Answer, None]:
        """Asks for a task until it has ended or waits for input. Yields changes of its state, and the answer last."""
        pause_s, longest_s = _POLL_S
        state: TaskState | None = TaskState.SUBMITTED
        while True:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, longest_s)
            reader = AnswerReader()
            said = reader.read(await self._result("get", task_id))
            if not reader.under_way:
                yield reader.answer()
                return
            if reader.state is not None and reader.state != state and said is not None:
                state = reader.state
                yield TaskUpdate(reader.state, task_id, said.text, tuple(said.data))

    async def follow(self, task_id: str) -> AsyncGenerator[TaskUpdate | Answer, None]:
        """Yields the updates of a task that was created earlier, and its answer last.

        Raises AgentUnreachableError; RemoteError, for instance if the agent does not know the task.
        """
        reader = AnswerReader()
        reader.read(await self._result("get", task_id))
        if reader.under_way:
            following = AnswerReader()
            try:
                async with aclosing(_updates(self._call("subscribe", {}, task_id), following)) as updates:
                    async for update in updates:
                        yield update
                yield following.answer()
                return
            except RemoteError:
                # A task that has ended meanwhile cannot be subscribed to.
                reader = AnswerReader()
                reader.read(await self._result("get", task_id))
                if reader.under_way:
                    raise
        yield reader.answer()

    async def cancel(self, task_id: str) -> None:
        """Asks the agent to cancel a task. Raises AgentUnreachableError, RemoteError."""
        await self._result("cancel", task_id)

    async def _result(self, method: str, task_id: str) -> object:
        async with aclosing(self._call(method, {}, task_id)) as results:
            async for result in results:
                return result
        raise RemoteError("it answered nothing")

    async def _call(
        self, method: str, body: dict[str, Any], task_id: str = "", headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator[object, None]:
        """Calls a method; yields its results. Raises AgentUnreachableError, RemoteError."""
        interface = self._interface
        rpc = interface.binding == JSONRPC
        sent = {"A2A-Version": "1.0" if interface.is_1_0 else "0.3", **(headers or {})}
        if method in {"stream", "subscribe"}:
            sent |= {"accept": "text/event-stream", "cache-control": "no-store"}
        if rpc:
            parameters = {**body, **({"id": task_id} if task_id else {})}
            parameters |= {"tenant": interface.tenant} if interface.tenant else {}
            name = _METHODS[method][0 if interface.is_1_0 else 1]
            verb, url = "POST", interface.url
            body = {"jsonrpc": "2.0", "id": uuid4().hex, "method": name, "params": parameters}
        else:
            verb, path = _PATHS[method]
            prefix = f"/{quote(interface.tenant, safe='')}" if interface.tenant else "" if interface.is_1_0 else "/v1"
            url = interface.url.rstrip("/") + prefix + path.format(id=quote(task_id, safe=""))
        try:
            async with _answered(self._http, verb, url, body if verb == "POST" else None, sent) as response:
                async for document in _documents(response):
                    result = _result_of(document) if rpc else _checked(document)
                    yield result if rpc or interface.is_1_0 else _with_parts(result)
        except AgentFaultError:
            raise
        except Exception as error:
            raise fault_of(error) from error


async def _updates(events: AsyncGenerator[object, None], reader: AnswerReader) -> AsyncGenerator[TaskUpdate, None]:
    """Reads events to their end, or to a bare message; yields the states of the task."""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, NoJson):
                reader.cannot_read(f"an event that is no JSON: {event.shown}")
                continue
            said = reader.read(event)
            if said is not None and reader.state is not None:
                yield TaskUpdate(reader.state, reader.task_id, said.text, tuple(said.data))
            if reader.state is not None and not reader.is_task:
                return


class NoJson(bytes):
    """An event of a stream that is no JSON."""

    @property
    def shown(self) -> str:
        """Its first characters."""
        return " ".join(self[:200].decode(errors="replace").split())[:80]


async def _documents(response: httpx.Response) -> AsyncIterator[object]:
    """The JSON documents of a response: its events, or its body. Raises RemoteError for a body that is no JSON."""
    if "text/event-stream" not in response.headers.get("content-type", "").lower():
        body = await response.aread()
        if (document := parse_json(body)) is None:
            raise RemoteError(f"it answered no JSON: {NoJson(body).shown}" if body.strip() else "its answer is empty")
        yield _shallow(document)
        return
    lines, events = LineSplitter(), EventReader(MAX_ANSWER_BYTES)
    async for chunk in response.aiter_bytes():
        for event in events.read(lines.take(chunk)):
            if (read := _event(event)) is not None:
                yield read
    for event in (*events.read(lines.rest()), events.rest()):
        if (read := _event(event)) is not None:
            yield read


def _event(data: bytes) -> object:
    """The document of an event; None for one without content."""
    content = data.strip()
    if not content or content == _STREAM_END:
        return None
    document = parse_json(content)
    return NoJson(content) if document is None else _shallow(document)


def _shallow(document: object) -> object:
    """The same document. Raises RemoteError for one whose nesting would exhaust the stack of its readers."""
    level: list[object] = [document]
    for _ in range(MAX_DEPTH):
        level = [inner for each in level if isinstance(each, dict | list) for inner in _inner(each)]
        if not level:
            return document
    raise RemoteError(f"its answer is nested more than {MAX_DEPTH} levels deep")


def _inner(value: dict[str, object] | list[object]) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value


def _result_of(document: object) -> object:
    """The result of a JSON-RPC response. Raises RemoteError for an error."""
    if not isinstance(document, dict):
        return document
    if isinstance(error := document.get("error"), dict):
        raise RemoteError(f"JSON-RPC error {error.get('code')}: {error.get('message')}")
    return document.get("result", document)


def _checked(document: object) -> object:
    if isinstance(document, dict) and isinstance(error := document.get("error"), dict):
        raise RemoteError(f"error {error.get('code')}: {error.get('message')}")
    return document


def _with_parts(value: object) -> object:
    """JSON of 0.3's protobuf messages, which REST has there, with the names of its JSON-RPC."""
    if isinstance(value, list):
        return [_with_parts(each) for each in value]
    if not isinstance(value, dict):
        return value
    renamed = {_NAMES_OF_REST.get(name, name): _with_parts(each) for name, each in value.items() if name != "metadata"}
    if "metadata" in value:
        renamed["metadata"] = value["metadata"]
    if isinstance(data := value.get("data"), dict) and isinstance(data.get("data"), dict):
        renamed["data"] = data["data"]
    return renamed


_NAMES_OF_REST: Final = {"content": "parts", "fileWithBytes": "bytes", "fileWithUri": "uri"}


@asynccontextmanager
async def _answered(
    http: httpx.AsyncClient, verb: str, url: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]
) -> AsyncIterator[httpx.Response]:
    """Sends a request; yields its response, unread. Follows redirects within the origin.

    Raises RemoteError or AgentUnreachableError for another status than success, and what the HTTP client raises.
    """
    content = None if body is None else json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    typed = {} if content is None else {"content-type": "application/json"}
    for _ in range(MAX_REDIRECTS + 1):
        request = http.build_request(verb, url, content=content, headers={**typed, **headers})
        response = await http.send(request, stream=True)
        try:
            if response.has_redirect_location:
                url = _redirected(response, url, verb)
                continue
            if not response.is_success:
                with suppress(httpx.HTTPError, ValueError):
                    await response.aread()
                raise _refusal(response)
            yield response
            return
        finally:
            await response.aclose()
    raise RemoteError(f"it redirects more than {MAX_REDIRECTS} times, last to {url}")


def _refusal(response: httpx.Response) -> AgentFaultError:
    """The error for a response without success, in the agent's words if it has A2A's form."""
    body = response.content if response.is_stream_consumed else b""
    document = parse_json(body) if len(body) <= MAX_ANSWER_BYTES else None
    fault = status_fault(response, body)
    if isinstance(document, dict) and isinstance(error := document.get("error"), dict) and error.get("message"):
        told = RemoteError(f"error {error.get('code')}: {error['message']}")
        if fault.again_after_s is None and type(fault) is RemoteError:
            told.wants_credential = fault.wants_credential
            return told
    return fault


def _redirected(response: httpx.Response, url: str, verb: str) -> str:
    """Where a redirect leads. Raises RemoteError if that is another origin, or the request would lose its body."""
    target = urljoin(url, response.headers["location"])
    try:
        same = origin_of(target) == origin_of(url)
    except ValueError as error:
        raise RemoteError(f"it redirects to {target}: {error}") from error
    if not same:
        raise RemoteError(f"it redirects to {target}, another origin, which is not followed")
    if verb == "POST" and response.status_code not in {307, 308}:
        raise RemoteError(
            f"it redirects a POST to {target} by HTTP {response.status_code}: only 307 and 308 keep its body"
        )
    return target


def _also(reader: AnswerReader) -> str:
    return f", but {'; '.join(reader.unread)}" if reader.unread else ""


async def fetch_card(
    url: str,
    *,
    timeout_s: float = CARD_TIMEOUT_S,
    peer_urls: PeerUrls | None = None,
    credentials: Credentials = NO_CREDENTIALS,
) -> CardSummary:
    """The card of the agent at `url`. Raises AgentUnreachableError, RemoteError."""
    async with http_client(httpx.Timeout(timeout_s), MAX_VALUES) as http:
        _guarded(http, url, peer_urls, credentials)
        return await _card(http, url)


def _guarded(
    http: httpx.AsyncClient, url: str, peer_urls: PeerUrls | None, credentials: Credentials
) -> CardGuard | None:
    """Has each request show its origin's credential, and then go to the address that was checked."""

    async def show(request: httpx.Request) -> None:
        if (credential := credentials.of(str(request.url))) is None:
            return
        if credential.in_query:
            request.url = request.url.copy_set_param(credential.name, credential.value)
        else:
            request.headers[credential.name] = credential.value

    guard = None if peer_urls is None else CardGuard(url, peer_urls)
    http.event_hooks["request"] += [show] if guard is None else [show, guard.pin]
    return guard


async def _card(http: httpx.AsyncClient, url: str) -> CardSummary:
    """The card at the path of today, else at that of A2A 0.2. The error is that of the first."""
    try:
        return await _card_at(http, url.rstrip("/") + CARD_PATH)
    except RemoteError:
        with suppress(RemoteError):
            return await _card_at(http, url.rstrip("/") + OLD_CARD_PATH)
        raise


async def _card_at(http: httpx.AsyncClient, url: str) -> CardSummary:
    try:
        async with _answered(http, "GET", url, None, {}) as response:
            body = await response.aread()
    except AgentFaultError:
        raise
    except Exception as error:
        raise fault_of(error) from error
    if (document := parse_json(body)) is None:
        raise RemoteError(f"its card is no JSON: {NoJson(body).shown}")
    return read_card(document)
