"""The route of an agent's card. Without a URL of its own, the card has the address by which each request came."""

import re
from dataclasses import replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from a2a.server.routes.agent_card_routes import create_agent_card_routes
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from concord.a2a.cards import AgentProfile, card_of
from concord.loopback import LOOPBACK
from concord.wire.cards import CARD_PATH

if TYPE_CHECKING:
    # An agent without a key for its card does not install what it needs.
    from concord.a2a.card_signing import CardKey

_CACHE: Final = "public, max-age=60"
_HOST: Final = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::([1-9][0-9]{0,4}))?")
_MAX_PORT: Final = 65535


def card_route(
    profile: AgentProfile, *, with_keys: bool, with_webhooks: bool = False, key: "CardKey | None" = None
) -> Route:
    """The route of the card. A request whose Host header names no host gets 400 if the card depends on it.

    `key` signs the card of an agent with a URL of its own.
    """
    if profile.url is not None:
        card = card_of(profile, with_keys=with_keys, with_webhooks=with_webhooks)
        signed = card if key is None else key.sign(card, profile.url)
        [route] = create_agent_card_routes(signed, cache_control=_CACHE)
        return route

    async def requested_card(request: Request) -> Response:
        if (url := requested_url(request)) is None:
            return JSONResponse({"detail": "the Host header names no host"}, 400)
        asked = card_of(replace(profile, url=url), with_keys=with_keys, with_webhooks=with_webhooks)
        [route] = create_agent_card_routes(asked, cache_control="no-store")
        answer: Response = await route.endpoint(request)
        return answer

    return Route(CARD_PATH, requested_card, methods=["GET"])


def requested_url(request: Request) -> str | None:
    """The base URL by which a request came; None if its Host header names no host.

    An address that stands for every interface is not an address for a client: the loopback takes its place.
    """
    hosts = request.headers.getlist("host") or [_connected_to(request)]
    if len(hosts) != 1 or (match := _HOST.fullmatch(hosts[0])) is None:
        return None
    host, port = match[1], match[2]
    if port is not None and int(port) > _MAX_PORT:
        return None
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        if host.startswith("["):
            return None
    else:
        if address.is_unspecified:
            host = LOOPBACK if address.version == 4 else "[::1]"
    return f"{request.url.scheme}://{host}{'' if port is None else f':{port}'}/"


def _connected_to(request: Request) -> str:
    """The address of the connection, for HTTP/1.0 requests, which need no Host header."""
    host, port = request.scope.get("server") or ("", None)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
