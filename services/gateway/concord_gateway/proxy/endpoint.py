"""The proxy's endpoint, `/a2a/<caller's token>/<callee's id>/`: receives, authorises and answers requests."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from concord.errors import StorageUnavailableError
from concord.loopback import LOOPBACK
from concord.trust.proxy_urls import proxy_url
from concord.trust.redaction import REDACTED
from concord.trust.tokens import Claims, ClosedTrials, TokenKeys, TokenRejectedError
from concord.trust.urls import is_loopback, lies_under
from concord.wire.roster import CARD_PATH, RosterEntry, normalise_url
from concord_gateway.calls import NOT_FOUND, UNSUPPORTED, CallWire, Channels, TrialChannel
from concord_gateway.proxy.call_recorder import CallRecorder
from concord_gateway.proxy.callees import Callees, CardFailedError, UnusableCardError, interface_url, rewritten
from concord_gateway.proxy.carrier import RETRY_LATER, AuthorisedRequest, BrokenOffError, Carrier, Refusal, texts_of
from concord_gateway.proxy.limits import ANSWER_IS_LATE, LATE, REFUSED_BODY_S, BudgetExhaustedError, Reservation
from concord_gateway.proxy.rpc_request import RpcFaultError, RpcRequest, read_request
from concord_gateway.proxy.upstream import CLOSED

# Calls between seats: what the proxy refuses of them, and into which contexts it places them.

_KEPT: Final = (
    "url",
    "preferredTransport",
    "additionalInterfaces",
    "supportedInterfaces",
    "protocolVersion",
    "defaultInputModes",
    "defaultOutputModes",
)


def place_between_seats(request: AuthorisedRequest, rpc: RpcRequest, calls: CallRecorder) -> None:
    """Places a request between seats into the callee's context.

    Raises RpcFaultError for a request that is refused, and Refusal for one that never arrives; a message of either is
    recorded as a failed call. Requests that are neither messages nor about a task of an open call are refused, since
    their answers would be messages that nobody records.
    """
    channel, caller, callee = request.channel, request.claims.agent_id, request.callee.id
    if channel is None:
        return
    addressed = channel.wire.addressee(caller, callee)
    try:
        _expect_allowed(request, channel, rpc, calls)
        _expect_arrival(channel.wire, caller, addressed)
    except (RpcFaultError, Refusal) as error:
        if rpc.message is not None:
            texts = texts_of(rpc, between_seats=True)
            calls.record_unsent(request.claims, request.callee, str(error), texts)
        raise
    rpc.place_in(channel.places[callee].context_id)
    if channel.wire.changes(caller, addressed) and isinstance(rpc.parts, list):
        rpc.replace_parts(channel.wire.parts(caller, addressed, rpc.parts))


def arriving_at(request: AuthorisedRequest) -> AuthorisedRequest:
    """The request with the seat at which the wire lets it arrive, as its callee."""
    if request.channel is None:
        return request
    name = request.channel.wire.addressee(request.claims.agent_id, request.callee.id)
    return replace(request, callee=request.channel.places[name].entry)


def _expect_arrival(wire: CallWire, caller: str, addressed: str) -> None:
    """Raises what a caller learns whose request never arrives: no more than the network tells."""
    if wire.is_cut(caller, addressed):
        raise Refusal(502, CLOSED)
    if wire.is_lost(caller, addressed):
        raise Refusal(LATE, ANSWER_IS_LATE)


def _expect_allowed(request: AuthorisedRequest, channel: TrialChannel, rpc: RpcRequest, calls: CallRecorder) -> None:
    callee = request.callee.id
    addressed = channel.wire.addressee(request.claims.agent_id, callee)
    if (reason := channel.refusal(request.claims.agent_id, addressed)) is not None:
        raise RpcFaultError(UNSUPPORTED, reason)
    if not rpc.asks_for_task and not rpc.sends_message:
        raise RpcFaultError(UNSUPPORTED, "seats send each other messages of text and data, and nothing else")
    if rpc.asks_for_task:
        known = calls.is_open_task(request.claims, callee, rpc.task_id, left=not rpc.cancels_task)
    else:
        known = not rpc.task_id or calls.has_task(request.claims, callee, rpc.task_id)
    if not known:
        raise RpcFaultError(NOT_FOUND, f"{callee} works on no such task for you in this trial")


def card_of_seat(card: Mapping[str, Any], seat: str) -> dict[str, Any]:
    """The card of a seat: how to reach it. It leaves out every text of its agent's own, which could carry facts."""
    capabilities = card.get("capabilities")
    streaming = isinstance(capabilities, dict) and capabilities.get("streaming") is True
    return {key: card[key] for key in _KEPT if key in card} | {
        "name": seat,
        "description": "A seat of the team.",
        "version": "1",
        "capabilities": {"streaming": streaming},
        "skills": [],
    }


# The endpoint.

MAX_CALLS: Final = 2048
MAX_CALLS_OF_ONE: Final = 256
"""Limits on concurrent requests, in all and per caller: a caller that floods is throttled alone."""

T = TypeVar("T")

_NOBODY: Final = "no such agent in this assessment"
_OVER: Final = "the trial is closed, and its tokens with it"
_INTERFACE: Final = re.compile(r"(\d?)/?")


MAX_ADDRESS: Final = 2048
NO_CALLEE: Final = "-"
"""In the place of a callee's id, none of which is like this."""


class ProxyEndpoint:
    """An ASGI app with the path parameters `token`, `callee` and optionally `rest`. It never logs the path."""

    def __init__(
        self,
        token_keys: TokenKeys,
        callees: Callees,
        channels: Channels,
        carrier: Carrier,
        closed: ClosedTrials,
        public_url: str,
    ) -> None:
        self._token_keys = token_keys
        self._callees = callees
        self._channels = channels
        self._carrier = carrier
        self._closed = closed
        self._public_url = public_url
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        request = Request(scope, receive)
        try:
            response = await self._answered(request, lambda claims: self._carried(request, claims, send))
        except (BrokenOffError, ClientDisconnect):
            # Returning mid-answer closes the connection, as the callee closed its own.
            return
        if response is not None:
            await response(scope, receive, send)

    async def _answered(self, request: Request, answer: Callable[[Claims], Awaitable[T]]) -> T | Response:
        """What `answer` returns to the holder of a valid token, else the response that refuses the request."""
        try:
            return await answer(await self._verified(request))
        except Refusal as refusal:
            return _json({"detail": str(refusal)}, refusal.status, refusal.headers)
        except StorageUnavailableError:
            return _json({"detail": "storage is away"}, 503, RETRY_LATER)

    async def _carried(self, request: Request, claims: Claims, send: Send) -> Response | None:
        try:
            authorised = await self._authorise(request, claims)
            structlog.contextvars.bind_contextvars(assessment_id=claims.assessment_id, trace_id=claims.trace_id)
            with self._counted(f"{claims.trace_id}/{claims.agent_id}"):
                return await self._answer(request, authorised, send)
        except StorageUnavailableError as error:
            self._carrier.calls.lose(claims.trace_id, error)
            raise

    async def _verified(self, request: Request) -> Claims:
        """The claims of a request's token. Raises Refusal if it is not valid."""
        try:
            return await self._token_keys.verify(request.path_params["token"])
        except TokenRejectedError as error:
            raise Refusal(401, str(error), {"www-authenticate": "Bearer"}) from None

    async def _authorise(self, request: Request, claims: Claims) -> AuthorisedRequest:
        """Identifies the callee of a request. Raises Refusal if the caller is not allowed to call it."""
        token = request.path_params["token"]
        await self._expect_open(claims)
        name, rest = request.path_params["callee"], request.path_params.get("rest", "")
        if (channel := await self._channels.of(claims)) is None:
            callee = (await self._callees.roster(claims)).get(name)
        else:
            name, rest = channel.addressed(name, rest)
            callee = channel.places[name].entry if name in channel.places else None
        if callee is None:
            if channel is not None:
                wanted = f"{name}/{rest}".removesuffix(CARD_PATH).strip("/")
                self._carrier.calls.record_unsent(claims, RosterEntry(id=wanted[:64], url=""), _NOBODY)
            raise Refusal(404, _NOBODY)
        return AuthorisedRequest(
            claims=claims,
            ends_at=asyncio.get_running_loop().time() + claims.expires_at - await self._token_keys.now(),
            token=token,
            callee=callee,
            proxy_url=proxy_url(self._public_url, callee.id, token),
            headers=request.headers.raw,
            rest=rest,
            channel=channel,
        )

    async def _expect_open(self, claims: Claims) -> None:
        if await self._closed.is_closed(claims.trace_id):
            raise Refusal(403, _OVER)

    @contextmanager
    def _counted(self, caller: str) -> Iterator[None]:
        if self._under_way[caller] >= MAX_CALLS_OF_ONE or self._under_way.total() >= MAX_CALLS:
            raise Refusal(429, "too many calls at the same time", RETRY_LATER)
        self._under_way[caller] += 1
        try:
            yield
        finally:
            self._under_way -= Counter([caller])

    async def _answer(self, request: Request, authorised: AuthorisedRequest, send: Send) -> Response | None:
        """Sends the callee's answer, or returns one of the proxy's own."""
        rest = authorised.rest
        if f"/{rest}" == CARD_PATH:
            _expect(request, "GET")
            return await self._card(authorised)
        if (interface := _INTERFACE.fullmatch(rest)) is not None:
            _expect(request, "POST")
            return await self._call(request, authorised, int(interface[1] or "0"), send)
        raise Refusal(404, "the proxy carries only the agent's card and its JSON-RPC")

    async def _card(self, authorised: AuthorisedRequest) -> Response:
        callee = authorised.callee
        try:
            card = rewritten(await self._callees.card(callee), callee.url, authorised.proxy_url)
            if authorised.channel is not None:
                card = card_of_seat(card, callee.id)
        except CardFailedError as error:
            self._carrier.calls.record_unsent(authorised.claims, callee, str(error))
            raise Refusal(error.status, str(error)) from None
        except UnusableCardError as error:
            raise Refusal(502, str(error)) from None
        return _json(card, headers={"cache-control": "no-store"})

    async def _call(
        self, request: Request, authorised: AuthorisedRequest, interface: int, send: Send
    ) -> Response | None:
        claims, authorised = authorised.claims, arriving_at(authorised)
        if (url := await self._callees.rpc_url(authorised.callee, interface)) is None:
            raise Refusal(404, "the agent has no such interface")
        with self._carrier.budget.of(claims.trace_id, claims.agent_id) as held:
            rpc: RpcRequest | None = None
            try:
                body = await self._body(request, authorised, held)
                async with self._carrier.calls.work(claims.trace_id).piece():
                    rpc = read_request(body)
                del body
                # The trial may have been closed while the request came in.
                await self._expect_open(claims)
                place_between_seats(authorised, rpc, self._carrier.calls)
            except RpcFaultError as fault:
                return _error(rpc, fault)
            begun = False

            async def forward(message: Message) -> None:
                nonlocal begun
                begun = True
                await send(message)

            carrying = asyncio.create_task(self._carrier.carry(authorised, url, rpc, held, forward))
            with self._closed.calling_on_close(claims.trace_id, carrying.cancel):
                gone = await while_connected(request, carrying)
            if not gone and carrying.cancelled():
                raise BrokenOffError(_OVER) if begun else Refusal(403, _OVER)
        return None

    async def _body(self, request: Request, authorised: AuthorisedRequest, held: Reservation) -> bytes:
        """Reads the request's body, without the caller's token. Raises Refusal, ClientDisconnect."""
        now, idle_s = asyncio.get_running_loop().time, self._carrier.budget.idle_s
        body = bytearray()
        stream = request.stream()
        try:
            async with asyncio.timeout_at(min(now() + idle_s, authorised.ends_at)) as pause:
                async for chunk in stream:
                    pause.reschedule(min(now() + idle_s, authorised.ends_at))
                    body += chunk
                    held.resize(len(body))
        except TimeoutError:
            raise Refusal(408, "the request stalled", {"connection": "close"}) from None
        except BudgetExhaustedError as error:
            body.clear()
            held.release()
            self._carrier.calls.record_unsent(authorised.claims, authorised.callee, str(error), refused=True)
            # A caller that is still sending would see a connection reset instead of the answer.
            with suppress(TimeoutError):
                async with asyncio.timeout(REFUSED_BODY_S):
                    async for _ in stream:
                        pass
            raise Refusal(429, str(error), RETRY_LATER) from None
        return bytes(body).replace(authorised.token.encode(), REDACTED.encode())

    async def address(self, request: Request) -> Response:
        """Answers `GET /a2a/<caller's token>/-?address=URL` with `{url}`, the proxy's of the participant there.

        401 for an invalid token, 403 after the trial, 404 for another address. Agents with configured peer addresses
        run behind a forward proxy of their own (`concord adapt`), which asks here where to send their calls. In trials
        with seats, none has an address: seats call each other at addresses of the trial. An agent that is without its
        peers gets their addresses, at which the proxy refuses its calls.
        """
        return await self._answered(request, lambda claims: self._address(request, claims))

    async def _address(self, request: Request, claims: Claims) -> Response:
        await self._expect_open(claims)
        seats = await self._channels.of(claims)
        roster = {} if seats is not None and not seats.alone else await self._callees.roster(claims)
        address = _spelt(request.query_params.get("address", "")[:MAX_ADDRESS])
        others = [entry for entry in roster.values() if entry.id != claims.agent_id]
        found = [entry for entry in others if lies_under(address, _spelt(entry.url))]
        interface = await self._interface(found[0], address) if len(found) == 1 else None
        if interface is None:
            raise Refusal(404, "no participant has this address")
        proxied = proxy_url(self._public_url, found[0].id, request.path_params["token"])
        return _json({"url": interface_url(proxied, interface)})

    async def _interface(self, entry: RosterEntry, address: str) -> int | None:
        """The number of the agent's interface at an address; None if it has no such interface."""
        number = 0
        while (url := await self._callees.rpc_url(entry, number)) is not None:
            if _spelt(url) == address:
                return number
            number += 1
        return 0 if address == _spelt(entry.url) else None


async def while_connected(request: Request, carried: asyncio.Task[None]) -> bool:
    """Runs the task until it ends or the caller disconnects; returns whether the caller disconnected."""
    gone = asyncio.ensure_future(request.receive())
    left = False
    try:
        await asyncio.wait({carried, gone}, return_when=asyncio.FIRST_COMPLETED)
        left = not carried.done()
    finally:
        carried.cancel()
        gone.cancel()
        await asyncio.gather(carried, gone, return_exceptions=True)
    with suppress(asyncio.CancelledError):
        carried.result()
    return left


def _json(document: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(json.dumps(document), status, headers, "application/json")


def _error(rpc: RpcRequest | None, fault: RpcFaultError) -> Response:
    """A JSON-RPC error, as an event if the request asks for a stream: SDKs read nothing else then.

    `rpc`: None for a request that cannot be read.
    """
    error = {"code": fault.code, "message": str(fault)}
    document = {"jsonrpc": "2.0", "id": None if rpc is None else rpc.id, "error": error}
    if rpc is None or not rpc.asks_for_stream:
        return _json(document)
    return Response(f"data: {json.dumps(document)}\n\n", 200, {"cache-control": "no-store"}, "text/event-stream")


def _expect(request: Request, method: str) -> None:
    if request.method != method:
        raise Refusal(405, f"use {method}", {"allow": method})


def _spelt(url: str) -> str:
    """The canonical spelling of an address, also for the names of the loopback interface."""
    address = normalise_url(url)
    parts = urlsplit(address)
    if parts.hostname is None or not is_loopback(parts.hostname):
        return address
    port = f":{parts.port}" if parts.port is not None else ""
    return f"{parts.scheme}://{LOOPBACK}{port}{parts.path}"
