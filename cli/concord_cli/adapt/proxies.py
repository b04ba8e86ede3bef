"""The two proxies of an adapted agent: for requests to the agent, which contain its trials, and for its requests."""

import asyncio
import re
import secrets
from base64 import b64encode
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, urlsplit

from concord.wire.assignment import TRACEPARENT_KEY
from concord_cli.adapt.connection import HttpConnection, HttpRequest
from concord_cli.adapt.trials import Trials, without_query
from concord_cli.isolation.relay import joined
from concord_gateway.proxy.upstream import Upstream

_CARD: Final = re.compile(r"/\.well-known/agent(-card)?\.json(\?.*)?$")
_CONNECT_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class IncomingProxy:
    """Forwards requests to the agent at `agent_url`. The agent's card gets the address `own_url`, at which others reach
    it."""

    agent_url: str
    own_url: str
    trials: Trials
    upstream: Upstream

    async def answer(self, connection: HttpConnection, request: HttpRequest) -> None:
        """Forwards one request."""
        self.trials.learn(request.body)
        change = self._with_own_address if _CARD.search(request.target) else None
        await connection.relay(self.upstream, f"{self.agent_url.rstrip('/')}{request.target}", request, change)

    def _with_own_address(self, card: bytes) -> bytes:
        inner, port = self.agent_url.rstrip("/"), urlsplit(self.agent_url).port
        spelt = {inner, *(f"http://{name}:{port}" for name in ("127.0.0.1", "localhost", "0.0.0.0"))}  # noqa: S104  # nosec B104 - in text
        for address in spelt:
            card = re.sub(re.escape(address.encode()) + rb"(?!\d)", self.own_url.rstrip("/").encode(), card)
        return card


@dataclass(frozen=True, slots=True)
class OutgoingProxy:
    """A forward proxy for the holder of its credential. Calls to participants go through the gateway."""

    role: str
    trials: Trials
    upstream: Upstream
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def url(self, port: int) -> str:
        """The proxy's URL with its credential, for `HTTP_PROXY`."""
        return f"http://{quote(self.role, safe='')}:{self.secret}@127.0.0.1:{port}"

    async def answer(self, connection: HttpConnection, request: HttpRequest) -> None:
        """Answers one request of the agent."""
        given = request.header(b"proxy-authorization").partition(" ")[2].strip()
        if not secrets.compare_digest(given.encode(), b64encode(f"{self.role}:{self.secret}".encode())):
            await connection.reply(407, "the credential is missing", {"proxy-authenticate": 'Basic realm="concord"'})
        elif request.method == "CONNECT":
            await _tunnel(connection, request.target)
        elif not request.target.lower().startswith(("http://", "https://")):
            await connection.reply(400, "this is a proxy: send whole URLs")
        else:
            await connection.relay(self.upstream, await self._place(request), request)

    async def _place(self, request: HttpRequest) -> str:
        if request.method != "POST":
            return request.target
        traceparent = request.header(TRACEPARENT_KEY.encode())
        return await self.trials.place_of(without_query(request.target), traceparent) or request.target


async def _tunnel(connection: HttpConnection, target: str) -> None:
    """Relays bytes between the client and `host:port` without reading them."""
    host, _, port = target.rpartition(":")
    try:
        async with asyncio.timeout(_CONNECT_S):
            there = await asyncio.open_connection(host.strip("[]"), int(port))
    except (OSError, ValueError, TimeoutError):
        await connection.reply(502, "the host cannot be reached")
        return
    connection.writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    opened = asyncio.get_running_loop().create_future()
    opened.set_result(there)
    await joined((connection.reader, connection.writer), opened)
