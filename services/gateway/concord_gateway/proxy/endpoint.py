"""The proxy's endpoint, `/a2a/<caller's token>/<callee's id>/`: receives, authorises and answers requests."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive, Scope, Send

from concord.errors import StorageUnavailableError
from concord.trust.closed_trials import ClosedTrials
from concord.trust.proxy_urls import proxy_url
from concord.trust.redaction import REDACTED
from concord.trust.token_keys import TokenKeys
from concord.trust.tokens import Claims, TokenRejectedError
from concord.wire.cards import CARD_PATH
from concord.wire.roster import RosterEntry
from concord_gateway.loop_shares import sharing
from concord_gateway.proxy.byte_budget import BudgetExhaustedError, Reservation
from concord_gateway.proxy.callees import Callees, CardFailedError, UnusableCardError, rewritten
from concord_gateway.proxy.carrier import RETRY_LATER, AuthorisedRequest, BrokenOffError, Carrier, Refusal
from concord_gateway.proxy.rpc_request import RpcRequest, UnreadableRequestError, read_request
from concord_gateway.proxy.seats import Fault, OpenChannels, arriving_at, between_seats, card_of_seat
from concord_gateway.proxy.time_limits import REFUSED_BODY_S

MAX_CALLS: Final = 2048
MAX_CALLS_OF_ONE: Final = 256
"""Limits on concurrent requests, in all and per caller: a caller that floods is throttled alone."""

_NOBODY: Final = "no such agent in this assessment"
_OVER: Final = "the trial is closed, and its tokens with it"
_INTERFACE: Final = re.compile(r"(\d?)/?")


class ProxyEndpoint:
    """An ASGI app with the path parameters `token`, `callee` and optionally `rest`. It never logs the path."""

    def __init__(
        self,
        token_keys: TokenKeys,
        callees: Callees,
        channels: OpenChannels,
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
        request, claims = Request(scope, receive), None
        try:
            claims = await self._verified(request)
            authorised = await self._authorise(request, claims)
            structlog.contextvars.bind_contextvars(assessment_id=claims.assessment_id, trace_id=claims.trace_id)
            share = self._carrier.calls.share(claims.trace_id)
            with self._counted(f"{claims.trace_id}/{claims.agent_id}"), sharing(share):
                await share.run(self._answer(request, authorised, send))
        except Refusal as refusal:
            await _send_json(send, refusal.status, {"detail": str(refusal)}, refusal.headers)
        except StorageUnavailableError as error:
            if claims is not None:
                self._carrier.calls.lose(claims.trace_id, error)
            await _send_json(send, 503, {"detail": "storage is away"}, {"retry-after": "1"})
        except (BrokenOffError, ClientDisconnect):
            # Returning mid-answer closes the connection, as the callee closed its own.
            return

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
            callee = await self._callees.find(claims, name)
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
            raise Refusal(429, "too many calls at the same time", {"retry-after": "1"})
        self._under_way[caller] += 1
        try:
            yield
        finally:
            self._under_way -= Counter([caller])

    async def _answer(self, request: Request, authorised: AuthorisedRequest, send: Send) -> None:
        rest = authorised.rest
        if f"/{rest}" == CARD_PATH:
            _expect(request, "GET")
            await self._card(authorised, send)
        elif (interface := _INTERFACE.fullmatch(rest)) is not None:
            _expect(request, "POST")
            await self._call(request, authorised, int(interface[1] or "0"), send)
        else:
            raise Refusal(404, "the proxy carries only the agent's card and its JSON-RPC")

    async def _card(self, authorised: AuthorisedRequest, send: Send) -> None:
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
        await _send_json(send, 200, card, {"cache-control": "no-store"})

    async def _call(self, request: Request, authorised: AuthorisedRequest, interface: int, send: Send) -> None:
        claims, authorised = authorised.claims, arriving_at(authorised)
        if (url := await self._callees.rpc_url(authorised.callee, interface)) is None:
            raise Refusal(404, "the agent has no such interface")
        with self._carrier.budget.of(claims.trace_id, claims.agent_id) as held:
            try:
                rpc = read_request(await self._body(request, authorised, held))
            except UnreadableRequestError as error:
                error_of = {"code": error.code, "message": str(error)}
                await _send_json(send, 200, {"jsonrpc": "2.0", "id": None, "error": error_of}, {})
                return
            # The trial may have been closed while the request came in.
            await self._expect_open(claims)
            if (fault := between_seats(authorised, rpc, self._carrier.calls)) is not None:
                await _send_error(send, rpc, fault)
                return
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


async def _send_json(send: Send, status: int, document: object, headers: Mapping[str, str]) -> None:
    body = json.dumps(document).encode()
    written = {"content-type": "application/json", "content-length": str(len(body))} | dict(headers)
    raw = [(name.encode(), value.encode()) for name, value in written.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


async def _send_error(send: Send, rpc: RpcRequest, fault: Fault) -> None:
    """Sends a JSON-RPC error, as an event if the request asks for a stream: SDKs read nothing else then."""
    document = {"jsonrpc": "2.0", "id": rpc.id, "error": {"code": fault.code, "message": fault.reason}}
    if not rpc.asks_for_stream:
        await _send_json(send, 200, document, {})
        return
    headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": f"data: {json.dumps(document)}\n\n".encode()})


def _expect(request: Request, method: str) -> None:
    if request.method != method:
        raise Refusal(405, f"use {method}", {"allow": method})
