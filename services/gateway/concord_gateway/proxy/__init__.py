"""The proxy: carries what participants send each other, and so knows who called whom, whatever anybody reports."""

from typing import Final

import httpx
from starlette.routing import Route

from concord.keyring import Keyring
from concord.proxy_urls import PROXY_PATH
from concord.storage import Storage
from concord_gateway.proxy.callees import Callees
from concord_gateway.proxy.carrier import Carrier
from concord_gateway.proxy.endpoint import ProxyEndpoint

__all__ = ["Carrier", "open_transport", "proxy_routes"]

_KEEPALIVE_S: Final = 2.0
"""Well below the five seconds after which uvicorn closes an idle connection: none may close on a call just sent."""


_KEEPALIVE: Final = 32
"""Idle connections kept. httpcore looks through all connections for each idle one, so many cost more than new ones."""


def open_transport() -> httpx.AsyncHTTPTransport:
    """The way to callees. A bare transport: no cookies, no redirects, no log of addresses, and half a client's cost."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=_KEEPALIVE, keepalive_expiry=_KEEPALIVE_S)
    return httpx.AsyncHTTPTransport(limits=limits)


def proxy_routes(
    keyring: Keyring, storage: Storage, http: httpx.AsyncBaseTransport, carrier: Carrier, public_url: str
) -> list[Route]:
    """The proxy's routes; `public_url` is where participants reach this gateway."""
    endpoint = ProxyEndpoint(keyring, Callees(storage.assessments, http), carrier, public_url)
    paths = (f"{PROXY_PATH}/{{token}}/{{callee}}", f"{PROXY_PATH}/{{token}}/{{callee}}/{{rest:path}}")
    return [Route(path, endpoint, include_in_schema=False) for path in paths]
