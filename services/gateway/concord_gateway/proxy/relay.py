"""The relay: sends one request to the callee, and streams the answer to the caller while reading it."""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from starlette.types import Send

from concord.a2a.body_values import MAX_VALUES, values_in
from concord.a2a.event_stream import MAX_EVENT_BYTES, EventReader, LineSplitter, parse_json
from concord.trust.redaction import redact
from concord.wire.extensions import TRACEPARENT_KEY
from concord_gateway.proxy.byte_budget import BudgetExhaustedError, Reservation
from concord_gateway.proxy.upstream import Answer, Header, Upstream

_HOP_BY_HOP: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""RFC 9110, section 7.6.1, and the obsolete ones."""

_OURS_ON_THE_WAY_OUT: Final = _HOP_BY_HOP | {b"host", b"content-length", b"accept-encoding", b"cookie", b"expect"}
_OURS_ON_THE_WAY_BACK: Final = _HOP_BY_HOP | {b"content-length", b"date", b"server", b"location", b"set-cookie"}
"""A redirect would bypass the proxy, and a cookie would apply to all agents behind it."""

_TRACE_CONTEXT: Final = frozenset({TRACEPARENT_KEY.encode(), b"tracestate"})
"""W3C Trace Context. `tracestate` belongs to the `traceparent` beside it."""


def to_callee(headers: Iterable[Header], token: str, traceparent: str | None) -> list[Header]:
    """The caller's headers for the callee: without the caller's token, with the call's trace context.

    A call's `traceparent` replaces the caller's, and its `tracestate` goes with it. Where the caller is in the trial's
    trace, the call's step has the id of the caller's span, so that both are the same. A context of another trace would
    take the callee's spans out of the trial. Requests an uncompressed answer, so that the proxy can read it.
    """
    secret = token.encode()
    dropped = _OURS_ON_THE_WAY_OUT if traceparent is None else _OURS_ON_THE_WAY_OUT | _TRACE_CONTEXT
    kept = [(name, value) for name, value in headers if name not in dropped and secret not in value]
    kept.append((b"accept-encoding", b"identity"))
    if traceparent is not None:
        kept.append((TRACEPARENT_KEY.encode(), traceparent.encode()))
    return kept


def to_caller(headers: Iterable[Header]) -> list[Header]:
    """The callee's headers for the caller."""
    lowered = ((name.lower(), value) for name, value in headers)
    return [(name, value) for name, value in lowered if name not in _OURS_ON_THE_WAY_BACK]


def named(headers: Iterable[Header]) -> Mapping[str, str]:
    """Headers by lower-case name; the last value of a name wins."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


OnDocument = Callable[[object], None]
"""Called with each JSON document of the answer after it was passed on."""

Rewrite = Callable[[dict[str, Any]], dict[str, Any]]

_PIECE: Final = 64 * 1024
"""The size of the pieces in which an answer is sent: the server copies each, and blocks on a full buffer."""


class UncarriedAnswerError(Exception):
    """The callee's answer cannot be relayed; the message says why."""


class AnswerOverBudgetError(UncarriedAnswerError):
    """The byte budget has no room for the callee's answer."""


class CallerStalledError(Exception):
    """The caller does not read its answer."""


class Relay:
    """Relays one request. The caller gets nothing before the callee has answered.

    An answer that is not a stream is buffered whole: only then can the proxy tell whether it is valid, and until then
    it can still send an error. `held` is its byte reservation, `idle_s` how long it may pause once it has begun
    (seconds).
    """

    def __init__(self, upstream: Upstream, send: Send, held: Reservation, idle_s: float) -> None:
        self._upstream = upstream
        self._send = send
        self._held = held
        self._idle_s = idle_s
        self.begun = False
        """Whether a part of the answer was sent, so that no error response is possible."""

    async def run(
        self,
        url: str,
        headers: Iterable[Header],
        body: bytes,
        on_document: OnDocument,
        rewrite: Rewrite | None = None,
    ) -> str | None:
        """Sends a request, and relays the answer. Returns why the answer is not JSON-RPC, None if it may be.

        `rewrite` changes each document of the answer. Raises UnreachableError, UncarriedAnswerError,
        CallerStalledError.
        """
        try:
            return await self._run(url, headers, body, on_document, rewrite)
        except BudgetExhaustedError as error:
            raise AnswerOverBudgetError(str(error)) from error

    async def _run(
        self, url: str, headers: Iterable[Header], body: bytes, on_document: OnDocument, rewrite: Rewrite | None
    ) -> str | None:
        async with self._upstream.send("POST", url, headers, body) as answer:
            if answer.header("content-encoding").lower() not in {"", "identity"}:
                raise UncarriedAnswerError("the agent's answer is compressed, but no compression was requested")
            if answer.header("content-type").partition(";")[0].strip().lower() == "text/event-stream":
                fault = await self._carry_stream(answer, on_document, rewrite)
            else:
                fault = await self._carry_whole(answer, on_document, rewrite)
            return fault if 200 <= answer.status < 300 else f"HTTP status {answer.status}"

    async def _carry_stream(self, answer: Answer, on_document: OnDocument, rewrite: Rewrite | None) -> str | None:
        await self._begin(answer, to_caller(answer.headers))
        lines, events, values = LineSplitter(), EventReader(), 0
        try:
            async for chunk in answer.pieces():
                whole = lines.take(chunk)
                self._held.resize(lines.size + len(whole) + events.size)
                if lines.size > MAX_EVENT_BYTES:
                    raise UncarriedAnswerError("an event of the agent's answer is too large")
                values = _counted(whole, values if events.unfinished else 0)
                await self._carry_lines(whole, events, on_document, rewrite)
            _counted(lines.rest(), values)
            await self._carry_lines(lines.rest(), events, on_document, rewrite)
        finally:
            lines.clear()
        await self._send({"type": "http.response.body", "body": b""})
        return "no answer of A2A: a stream that ended within an event" if events.unfinished else None

    async def _carry_lines(
        self, lines: bytes, events: EventReader, on_document: OnDocument, rewrite: Rewrite | None
    ) -> None:
        if lines and rewrite is None:
            await self._send({"type": "http.response.body", "body": redact(lines), "more_body": True})
        for data in events.read(lines) if lines else ():
            document = parse_json(data)
            if rewrite is not None and isinstance(document, dict):
                document = rewrite(document)
                event = redact(b"data: " + json.dumps(document).encode() + b"\n\n")
                await self._send({"type": "http.response.body", "body": event, "more_body": True})
            on_document(document)

    async def _carry_whole(self, answer: Answer, on_document: OnDocument, rewrite: Rewrite | None) -> str | None:
        body = redact(await self._whole(answer))
        carried = body if rewrite is None else _rewritten(body, rewrite)
        length = (b"content-length", str(len(carried)).encode())
        await self._begin(answer, [*to_caller(answer.headers), length])
        for start in range(0, len(carried) or 1, _PIECE):
            await self._pass_on(carried[start : start + _PIECE], more=start + _PIECE < len(carried))
        # Parsed only now: the document may take many times the memory, and the caller may read slowly.
        on_document(document := parse_json(carried))
        if document is None:
            return "no answer of A2A: no JSON" if body.strip() else "no answer of A2A: an empty body"
        return None

    async def _whole(self, answer: Answer) -> bytes:
        body = bytearray()
        try:
            async for chunk in answer.pieces(self._idle_s):
                body += chunk
                if len(body) > MAX_EVENT_BYTES:
                    raise UncarriedAnswerError("the agent's answer is too large")
                self._held.resize(len(body))
            _counted(body)
            return bytes(body)
        finally:
            # A traceback keeps its frames' objects alive until they are garbage-collected.
            body.clear()

    async def _pass_on(self, piece: bytes, *, more: bool) -> None:
        try:
            async with asyncio.timeout(self._idle_s):
                await self._send({"type": "http.response.body", "body": piece, "more_body": more})
        except TimeoutError as error:
            raise CallerStalledError("the caller does not read its answer") from error

    async def _begin(self, answer: Answer, headers: list[Header]) -> None:
        self.begun = True
        # Servers cannot send a status above 599 (RFC 9110, section 15).
        status = answer.status if answer.status <= 599 else 502
        await self._send({"type": "http.response.start", "status": status, "headers": headers})


def _counted(text: bytes | bytearray, before: int = 0) -> int:
    """The JSON values of an answer so far. Raises UncarriedAnswerError for more than its callers of Concord read."""
    values = before + values_in(text)
    if values > MAX_VALUES:
        raise UncarriedAnswerError(f"the agent's answer holds more than {MAX_VALUES} values")
    return values


def _rewritten(body: bytes, rewrite: Rewrite) -> bytes:
    document = parse_json(body)
    return json.dumps(rewrite(document)).encode() if isinstance(document, dict) else body
