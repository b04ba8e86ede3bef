"""The proxy's endpoint, `/a2a/<caller's token>/<callee's id>/`: who calls whom, whether they may, and what they get."""

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive, Scope, Send

from concord.assessment.roster import RosterEntry
from concord.storage import StorageUnavailableError
from concord.trust.closed_trials import ClosedTrials
from concord.trust.keyring import Keyring
from concord.trust.proxy_urls import proxy_url
from concord.trust.redaction import REDACTED
from concord.trust.tokens import Claims, TokenRejectedError
from concord_gateway.proxy.bodies import Held, NoRoomError
from concord_gateway.proxy.callees import Callees, CardFailedError
from concord_gateway.proxy.cards import CARD_PATH, UnusableCardError, rewritten
from concord_gateway.proxy.carrier import RETRY_LATER, Carrier, Delivery
from concord_gateway.proxy.refusal import BrokenOffError, Refusal
from concord_gateway.proxy.requests import UnreadableRequestError, read_request

MAX_CALLS: Final = 2048
MAX_CALLS_OF_ONE: Final = 256
"""Exchanges under way at once, in all and of one caller: one that floods is told to wait, and delays no other."""

_OVER: Final = "the trial is closed, and its tokens with it"
_DRAIN_S: Final = 5.0
"""How long a caller is listened to that was refused and still sends."""

_INTERFACE: Final = re.compile(r"(\d?)/?")


class ProxyEndpoint:
    """An ASGI app whose path has `token`, `callee` and perhaps `rest`. Nothing here logs that path: it has a token."""

    def __init__(
        self, keyring: Keyring, callees: Callees, carrier: Carrier, closed: ClosedTrials, public_url: str
    ) -> None:
        self._keyring = keyring
        self._callees = callees
        self._carrier = carrier
        self._closed = closed
        self._public_url = public_url
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        request = Request(scope, receive)
        try:
            claims = await self._claims(request.path_params["token"])
            await self._expect_open(claims)
            callee = await self._callees.find(claims, request.path_params["callee"])
            if callee is None:
                raise Refusal(404, "no such agent in this assessment")
            with self._counted(f"{claims.trace_id}/{claims.agent_id}"):
                await self._answer(_Visit(request, send, claims, callee))
        except Refusal as refusal:
            await _send_json(send, refusal.status, {"detail": str(refusal)}, refusal.headers)
        except StorageUnavailableError:
            await _send_json(send, 503, {"detail": "storage is away"}, {"retry-after": "1"})
        except (BrokenOffError, ClientDisconnect):
            # Returning without an end of the answer closes the connection, as the callee did with ours.
            return

    async def _claims(self, token: str) -> Claims:
        try:
            return await self._keyring.verify(token)
        except TokenRejectedError as error:
            raise Refusal(401, str(error), {"www-authenticate": "Bearer"}) from None

    async def _expect_open(self, claims: Claims) -> None:
        if await self._closed.contain(claims.trace_id):
            raise Refusal(403, _OVER)

    @contextmanager
    def _counted(self, caller: str) -> Iterator[None]:
        if self._under_way[caller] >= MAX_CALLS_OF_ONE or self._under_way.total() >= MAX_CALLS:
            raise Refusal(429, "too many calls are under way", {"retry-after": "1"})
        self._under_way[caller] += 1
        try:
            yield
        finally:
            self._under_way -= Counter([caller])

    async def _answer(self, visit: "_Visit") -> None:
        rest = visit.request.path_params.get("rest", "")
        if rest == CARD_PATH:
            _expect(visit.request, "GET")
            await self._card(visit)
        elif (interface := _INTERFACE.fullmatch(rest)) is not None:
            _expect(visit.request, "POST")
            await self._call(visit, int(interface[1] or "0"))
        else:
            raise Refusal(404, "only the agent's card and its JSON-RPC are carried")

    async def _card(self, visit: "_Visit") -> None:
        try:
            card = rewritten(await self._callees.card(visit.callee), visit.callee.url, self._own_url(visit))
        except CardFailedError as error:
            self._carrier.unreached(visit.claims, visit.callee, str(error))
            raise Refusal(error.status, str(error)) from None
        except UnusableCardError as error:
            raise Refusal(502, str(error)) from None
        await _send_json(visit.send, 200, card, {"cache-control": "no-store"})

    async def _call(self, visit: "_Visit", interface: int) -> None:
        if (url := await self._callees.rpc_url(visit.callee, interface)) is None:
            raise Refusal(404, "the agent has no such interface")
        with self._carrier.bodies.of(visit.claims.trace_id, visit.claims.agent_id) as held:
            await self._carry(visit, url, held)

    async def _carry(self, visit: "_Visit", url: str, held: Held) -> None:
        try:
            rpc = read_request(await self._body(visit, held))
        except UnreadableRequestError as error:
            fault = {"code": error.code, "message": str(error)}
            await _send_json(visit.send, 200, {"jsonrpc": "2.0", "id": None, "error": fault}, {})
            return
        delivery = Delivery(
            claims=visit.claims,
            token=visit.token,
            callee=visit.callee,
            url=url,
            own_url=self._own_url(visit),
            rpc=rpc,
            headers=visit.request.headers.raw,
            held=held,
        )
        # It may have ended while the request came in.
        await self._expect_open(visit.claims)
        begun = False

        async def send(message: Message) -> None:
            nonlocal begun
            begun = True
            await visit.send(message)

        carrying = asyncio.create_task(self._carrier.carry(delivery, send))
        with self._closed.leaving(visit.claims.trace_id, carrying.cancel):
            gone = await _while_connected(visit.request, carrying)
        if not gone and carrying.cancelled():
            raise BrokenOffError(_OVER) if begun else Refusal(403, _OVER)

    async def _body(self, visit: "_Visit", held: Held) -> bytes:
        """The request's body without its caller's token. Raises Refusal, ClientDisconnect."""
        now, idle_s = asyncio.get_running_loop().time, self._carrier.bodies.idle_s
        ends_at = now() + visit.claims.expires_at - time.time()
        body = bytearray()
        stream = visit.request.stream()
        try:
            async with asyncio.timeout_at(min(now() + idle_s, ends_at)) as pause:
                async for chunk in stream:
                    pause.reschedule(min(now() + idle_s, ends_at))
                    body += chunk
                    held.resize(len(body))
        except TimeoutError:
            raise Refusal(408, "the request stalled", {"connection": "close"}) from None
        except NoRoomError as error:
            body.clear()
            held.release()
            self._carrier.crowded_out(visit.claims, visit.callee, str(error))
            # A caller that still sends would see a reset and no answer.
            with suppress(TimeoutError):
                async with asyncio.timeout(_DRAIN_S):
                    async for _ in stream:
                        pass
            raise Refusal(429, str(error), RETRY_LATER) from None
        return bytes(body).replace(visit.token.encode(), REDACTED.encode())

    def _own_url(self, visit: "_Visit") -> str:
        return proxy_url(self._public_url, visit.callee.id, visit.token)


@dataclass(frozen=True, slots=True)
class _Visit:
    """A request that may be answered: who makes it, and whom it is for."""

    request: Request
    send: Send
    claims: Claims
    callee: RosterEntry

    @property
    def token(self) -> str:
        token: str = self.request.path_params["token"]
        return token


async def _while_connected(request: Request, carried: asyncio.Task[None]) -> bool:
    """Carries to the end, or until the caller is gone; returns whether it is."""
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


def _expect(request: Request, method: str) -> None:
    if request.method != method:
        raise Refusal(405, f"use {method}", {"allow": method})
