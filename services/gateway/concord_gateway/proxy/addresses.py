"""`GET /a2a/<caller's token>/-?address=URL`: the proxy's URL of the participant at an address.

Agents with configured peer addresses run behind a forward proxy of their own (`concord adapt`), which asks here where
to send their calls.
"""

from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from concord.errors import StorageUnavailableError
from concord.loopback import LOOPBACK
from concord.trust.closed_trials import ClosedTrials
from concord.trust.declared_hosts import is_loopback
from concord.trust.proxy_urls import proxy_url
from concord.trust.token_keys import TokenKeys
from concord.trust.tokens import TokenRejectedError
from concord.trust.urls import lies_under
from concord.wire.roster import RosterEntry, normalise_url
from concord_gateway.proxy.callees import Callees, interface_url
from concord_gateway.proxy.seats import OpenChannels

MAX_ADDRESS: Final = 2048
NO_CALLEE: Final = "-"
"""In the place of a callee's id, none of which is like this."""


class Addresses:
    """The endpoint. In trials with seats, it returns no address: seats call each other at addresses of the trial. To an
    agent that is without its peers it returns their addresses, at which the proxy refuses its calls."""

    def __init__(
        self, token_keys: TokenKeys, callees: Callees, channels: OpenChannels, closed: ClosedTrials, public_url: str
    ) -> None:
        self._token_keys = token_keys
        self._callees = callees
        self._channels = channels
        self._closed = closed
        self._public_url = public_url

    async def answer(self, request: Request) -> Response:
        """Answers `{url}`; 401 for an invalid token, 403 after the trial, 404 for another address."""
        token = request.path_params["token"]
        try:
            claims = await self._token_keys.verify(token)
            if await self._closed.is_closed(claims.trace_id):
                return JSONResponse({"detail": "the trial is closed"}, 403)
            seats = await self._channels.of(claims)
            roster = [] if seats is not None and not seats.alone else await self._callees.all(claims)
        except TokenRejectedError as error:
            return JSONResponse({"detail": str(error)}, 401, {"www-authenticate": "Bearer"})
        except StorageUnavailableError:
            return JSONResponse({"detail": "storage is away"}, 503, {"retry-after": "1"})
        address = _spelt(request.query_params.get("address", "")[:MAX_ADDRESS])
        found = [entry for entry in roster if entry.id != claims.agent_id and lies_under(address, _spelt(entry.url))]
        interface = await self._interface(found[0], address) if len(found) == 1 else None
        if interface is None:
            return JSONResponse({"detail": "no participant has this address"}, 404)
        return JSONResponse({"url": interface_url(proxy_url(self._public_url, found[0].id, token), interface)})

    async def _interface(self, entry: RosterEntry, address: str) -> int | None:
        """The number of the agent's interface at an address; None if it has no such interface."""
        number = 0
        while (url := await self._callees.rpc_url(entry, number)) is not None:
            if _spelt(url) == address:
                return number
            number += 1
        return 0 if address == _spelt(entry.url) else None


def _spelt(url: str) -> str:
    """The canonical spelling of an address, also for the names of the loopback interface."""
    address = normalise_url(url)
    parts = urlsplit(address)
    if parts.hostname is None or not is_loopback(parts.hostname):
        return address
    port = f":{parts.port}" if parts.port is not None else ""
    return f"{parts.scheme}://{LOOPBACK}{port}{parts.path}"
