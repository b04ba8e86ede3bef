"""The carrier: forwards an authorised request to its callee, and streams the answer to the caller."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from starlette.types import Message, Send

from concord.a2a.http import MAX_EVENT_BYTES, MAX_VALUES, EventReader, LineSplitter, parse_json, values_in
from concord.trace.attributes import MAX_UNQUOTED, MAX_WHOLE, UNQUOTED_WORDS, WHOLE
from concord.trace.timing import MAX_QUOTED
from concord.trace.vocabulary import unquoted_words
from concord.trust.redaction import redact
from concord.trust.tokens import Claims
from concord.wire.assignment import TRACEPARENT_KEY, Assignment
from concord.wire.roster import RosterEntry
from concord_gateway.assignments import Assignments, OwnWork
from concord_gateway.calls import CallWire, TrialChannel
from concord_gateway.instruments import Instruments
from concord_gateway.proxy.call_recorder import CallAnswer, CallRecorder, SentTexts
from concord_gateway.proxy.callees import UnusableCardError, rewritten
from concord_gateway.proxy.limits import ANSWER_IS_LATE, LATE, BudgetExhaustedError, ByteBudget, Reservation
from concord_gateway.proxy.rpc_request import RpcRequest
from concord_gateway.proxy.upstream import AnswerTimeoutError, Header, UnreachableError, Upstream, UpstreamAnswer

# The relay: sends one request to the callee, and streams the answer to the caller while reading it.

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


class BrokenOffError(Exception):
    """The answer ended early, after a part of it was sent to the caller: the connection must be closed."""


@dataclass(slots=True)
class AnswerRelay:
    """Relays one request. The caller gets nothing before the callee has answered.

    An answer that is not a stream is buffered whole: only then can the proxy tell whether it is valid, and until then
    it can still send an error. `held` is its byte reservation, `idle_s` how long it may pause once it has begun
    (seconds). `rewrite` changes each document of the answer.
    """

    upstream: Upstream
    send: Send
    held: Reservation
    idle_s: float
    work: OwnWork
    on_document: OnDocument
    rewrite: Rewrite | None
    begun: bool = False
    """Whether a part of the answer was sent, so that no error response is possible."""

    async def run(self, url: str, headers: Iterable[Header], body: bytes) -> str | None:
        """Sends a request, and relays the answer. Returns why the answer is not JSON-RPC, None if it may be.

        Raises UnreachableError, UncarriedAnswerError, BudgetExhaustedError, BrokenOffError if the caller does not read.
        """
        async with self.upstream.send("POST", url, headers, body) as answer:
            if answer.header("content-encoding").lower() not in {"", "identity"}:
                raise UncarriedAnswerError("the agent's answer is compressed, but no compression was requested")
            if answer.header("content-type").partition(";")[0].strip().lower() == "text/event-stream":
                fault = await self._carry_stream(answer)
            else:
                fault = await self._carry_whole(answer)
            return fault if 200 <= answer.status < 300 else f"HTTP status {answer.status}"

    async def _carry_stream(self, answer: UpstreamAnswer) -> str | None:
        await self._begin(answer, to_caller(answer.headers))
        lines, events, values = LineSplitter(), EventReader(), 0
        try:
            async for chunk in answer.pieces():
                whole = lines.take(chunk)
                self.held.resize(lines.size + len(whole) + events.size)
                if lines.size > MAX_EVENT_BYTES:
                    raise UncarriedAnswerError("an event of the agent's answer is too large")
                values = _counted(whole, values if events.unfinished else 0)
                await self._carry_lines(whole, events)
            _counted(lines.rest(), values)
            await self._carry_lines(lines.rest(), events)
        finally:
            lines.clear()
        await self.send({"type": "http.response.body", "body": b""})
        return "no answer of A2A: a stream that ended within an event" if events.unfinished else None

    async def _carry_lines(self, lines: bytes, events: EventReader) -> None:
        if not lines:
            return
        async with self.work.piece():
            documents = [parse_json(data) for data in events.read(lines)]
            if self.rewrite is None:
                carried = redact(lines)
            else:
                documents = [self.rewrite(each) if isinstance(each, dict) else each for each in documents]
                rewritten = [json.dumps(each).encode() for each in documents if isinstance(each, dict)]
                carried = redact(b"".join(b"data: " + each + b"\n\n" for each in rewritten))
        if carried:
            await self.send({"type": "http.response.body", "body": carried, "more_body": True})
        for document in documents:
            self.on_document(document)

    async def _carry_whole(self, answer: UpstreamAnswer) -> str | None:
        whole = await self._whole(answer)
        async with self.work.piece():
            body = redact(whole)
            carried = body if self.rewrite is None else _rewritten(body, self.rewrite)
        del whole
        length = (b"content-length", str(len(carried)).encode())
        await self._begin(answer, [*to_caller(answer.headers), length])
        for start in range(0, len(carried) or 1, _PIECE):
            await self._pass_on(carried[start : start + _PIECE], more=start + _PIECE < len(carried))
        # Parsed only now: the document may take many times the memory, and the caller may read slowly. At once, because
        # a caller that has its answer may leave, which cancels what is awaited here.
        self.on_document(document := parse_json(carried))
        if document is None:
            return "no answer of A2A: no JSON" if body.strip() else "no answer of A2A: an empty body"
        return None

    async def _whole(self, answer: UpstreamAnswer) -> bytes:
        body = bytearray()
        try:
            async for chunk in answer.pieces(self.idle_s):
                body += chunk
                if len(body) > MAX_EVENT_BYTES:
                    raise UncarriedAnswerError("the agent's answer is too large")
                self.held.resize(len(body))
            _counted(body)
            return bytes(body)
        finally:
            # A traceback keeps its frames' objects alive until they are garbage-collected.
            body.clear()

    async def _pass_on(self, piece: bytes, *, more: bool) -> None:
        try:
            async with asyncio.timeout(self.idle_s):
                await self.send({"type": "http.response.body", "body": piece, "more_body": more})
        except TimeoutError as error:
            raise BrokenOffError("the caller does not read its answer") from error

    async def _begin(self, answer: UpstreamAnswer, headers: list[Header]) -> None:
        self.begun = True
        # Servers cannot send a status above 599 (RFC 9110, section 15).
        status = answer.status if answer.status <= 599 else 502
        await self.send({"type": "http.response.start", "status": status, "headers": headers})


def _counted(text: bytes | bytearray, before: int = 0) -> int:
    """The JSON values of an answer so far. Raises UncarriedAnswerError for more than its callers of Concord read."""
    values = before + values_in(text)
    if values > MAX_VALUES:
        raise UncarriedAnswerError(f"the agent's answer holds more than {MAX_VALUES} values")
    return values


def _rewritten(body: bytes, rewrite: Rewrite) -> bytes:
    document = parse_json(body)
    return json.dumps(rewrite(document)).encode() if isinstance(document, dict) else body


# One call, from its request to the end of its answer.

NOT_A2A: Final = "no answer of A2A: neither a task nor a message for this request"

RETRY_LATER: Final[Mapping[str, str]] = {"retry-after": "1"}


class Refusal(Exception):  # noqa: N818 - an answer, not an error of ours
    """The proxy's own error response. Its text never contains a token or an address."""

    def __init__(self, status: int, reason: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.headers = headers or {}


@dataclass(frozen=True, slots=True)
class AuthorisedRequest:
    """A request that passed authorisation. The token's claims identify the caller."""

    claims: Claims
    ends_at: float
    """When the token expires, by the clock of the event loop."""
    token: str
    callee: RosterEntry
    proxy_url: str
    """The callee's URL at the proxy, for this caller."""
    headers: Sequence[Header]
    rest: str = ""
    """The path below the callee's URL."""
    channel: TrialChannel | None = None
    """The channel of a trial with seats."""

    @property
    def wire(self) -> CallWire:
        """The wire between caller and callee."""
        return CallWire() if self.channel is None else self.channel.wire

    @property
    def is_doubled(self) -> bool:
        """Whether it arrives twice."""
        caller = self.claims.agent_id
        return self.wire.is_doubled(caller, self.wire.addressee(caller, self.callee.id))


Forward = Callable[[Assignment | None, OnDocument], Awaitable[str | None]]
"""Relays the request with the callee's assignment, and passes each document of the answer to the callback."""


class Carrier:
    """Carries requests. A message is a call and is recorded as an observed step; other requests are not recorded."""

    def __init__(
        self,
        upstream: Upstream,
        assignments: Assignments,
        instruments: Instruments,
        calls: CallRecorder,
        budget: ByteBudget,
    ) -> None:
        self.calls = calls
        self.budget = budget
        self._upstream = upstream
        self._assignments = assignments
        self._instruments = instruments

    async def carry(self, request: AuthorisedRequest, url: str, rpc: RpcRequest, held: Reservation, send: Send) -> None:
        """Forwards a request to its callee at `url`, and the answer to the caller.

        `held` is the byte reservation for the request's body. Raises Refusal, BrokenOffError, StorageUnavailableError.
        """
        forward = partial(self._forward, request, url, rpc, held, send)
        with self._instruments.under_way.track_inprogress():
            if rpc.message is None:
                await self._pass(request, forward)
                return
            if request.is_doubled:
                with suppress(Refusal, BrokenOffError):
                    copy = replace(rpc)
                    await self._call(request, copy, partial(self._forward, request, url, copy, held, _unread))
            await self._call(request, rpc, forward)

    async def _call(self, request: AuthorisedRequest, rpc: RpcRequest, forward: Forward) -> None:
        """Forwards a message, which is a call."""
        claims, callee = request.claims, request.callee
        token = await self._assignments.token(replace(claims, agent_id=callee.id))
        wanted = rpc.wanted_step_id(claims.trace_id, named(request.headers))
        between_seats = request.channel is not None
        answer = CallAnswer(rpc.id, MAX_WHOLE if between_seats else MAX_QUOTED)
        texts = texts_of(rpc, between_seats=between_seats)
        call = self.calls.begin(claims, callee, answer, wanted, texts, between_seats=between_seats)
        step_id = call.open_call.step_id
        own = self._assignments.own(claims.assessment_id, claims.trace_id, step_id)
        try:
            theirs = own.for_call(step_id, callee.id, token)
            with self.calls.traced(call):
                fault = await forward(theirs, call.answer.take)
            if call.answer.error is None:
                call.error = fault or (None if call.answer.known else NOT_A2A)
        except asyncio.CancelledError:
            call.error = "cancelled by the caller"
            raise
        except (Refusal, BrokenOffError) as error:
            call.error = str(error)
            call.refused = isinstance(error.__cause__, UncarriedAnswerError | BudgetExhaustedError)
            raise
        finally:
            self.calls.finish(call)

    async def _pass(self, request: AuthorisedRequest, forward: Forward) -> None:
        """Forwards a request other than a message. Its answer may report the end of a call whose caller left."""
        trace_id, callee_id = request.claims.trace_id, request.callee.id
        seen = CallAnswer()

        def follow(document: object) -> None:
            seen.take(document)
            self.calls.follow(trace_id, callee_id, seen.task_id, document)

        await forward(None, follow)

    async def _forward(
        self,
        request: AuthorisedRequest,
        url: str,
        rpc: RpcRequest,
        held: Reservation,
        send: Send,
        assignment: Assignment | None,
        on_document: OnDocument,
    ) -> str | None:
        """Relays a request with the callee's assignment. Returns as `AnswerRelay.run` does."""
        context = None if assignment is None else assignment.traceparent
        wire, caller, callee = request.wire, request.claims.agent_id, request.callee.id
        lost = wire.is_lost(callee, caller)
        rewrite: Rewrite | None = None
        if rpc.asks_for_card:
            rewrite = partial(_with_card, request)
        elif wire.changes(callee, caller):
            rewrite = partial(wire.answer, callee, caller)
        headers = to_callee(request.headers, request.token, context)
        async with (work := self.calls.work(request.claims.trace_id)).piece():
            body = rpc.rewritten(assignment)
        rpc.forget()
        with self.budget.of(request.claims.trace_id, request.callee.id) as answer_bytes:
            sending = _unread if lost else _late(send, wire.delay_s(callee, caller))
            reading = _unread_document if lost else on_document
            relay = AnswerRelay(self._upstream, sending, answer_bytes, self.budget.idle_s, work, reading, rewrite)
            try:
                held.resize(len(body))
                async with asyncio.timeout_at(request.ends_at):
                    await asyncio.sleep(wire.delay_s(caller, wire.addressee(caller, callee)))
                    fault = await relay.run(url, headers, body)
            except BudgetExhaustedError as error:
                raise _failed(relay, 503, str(error), RETRY_LATER) from error
            except (TimeoutError, AnswerTimeoutError) as error:
                raise _failed(relay, LATE, ANSWER_IS_LATE) from error
            except UncarriedAnswerError as error:
                raise (BrokenOffError(str(error)) if relay.begun else Refusal(502, str(error))) from error
            except (UnreachableError, UnusableCardError) as error:
                raise _failed(relay, 502, str(error)) from error
        if lost:
            raise Refusal(LATE, ANSWER_IS_LATE)
        return fault


def _late(send: Send, delay_s: float) -> Send:
    """Sends an answer `delay_s` later (seconds)."""

    async def later(message: Message) -> None:
        if message["type"] == "http.response.start":
            await asyncio.sleep(delay_s)
        await send(message)

    return later if delay_s else send


async def _unread(_: Message) -> None:
    """Sends an answer to nobody."""


def _unread_document(_: object) -> None:
    """Reads no document."""


def texts_of(rpc: RpcRequest, *, between_seats: bool) -> SentTexts:
    """What a request says: its quoted text, the words of the rest, and between seats all of it if it is more."""
    text, said = rpc.text[:MAX_QUOTED], rpc.said
    whole = "\n".join(said)[:MAX_WHOLE] if between_seats else ""
    told = {"text": text, UNQUOTED_WORDS: unquoted_words(said, text, MAX_UNQUOTED)}
    return {name: each for name, each in (told | {WHOLE: "" if whole == text else whole}).items() if each}


def _failed(
    relay: AnswerRelay, status: int, reason: str, headers: Mapping[str, str] | None = None
) -> Refusal | BrokenOffError:
    if relay.begun:
        return BrokenOffError("the agent broke off its answer")
    return Refusal(status, reason, headers)


def _with_card(request: AuthorisedRequest, document: dict[str, Any]) -> dict[str, Any]:
    card = document.get("result")
    if not isinstance(card, dict):
        return document
    return document | {"result": rewritten(card, request.callee.url, request.proxy_url)}
