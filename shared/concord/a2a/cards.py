"""The cards that an agent serves, valid for 1.0 and 0.3 clients, and their route."""

import re
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from a2a.types import a2a_pb2 as pb
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from concord.loopback import LOOPBACK
from concord.trust.credentials import KEY_HEADER
from concord.wire.assignment import SUPPORTED_URIS
from concord.wire.roster import CARD_PATH

if TYPE_CHECKING:
    from concord.a2a.card_signing import CardKey


# Agent cards, valid for 1.0 and 0.3 clients.

_PLACEHOLDER: Final = "http://localhost/"
"""Stands in a card that nobody sees, because its agent has no URL of its own. The SDK demands one."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill in an agent's card."""

    id: str
    name: str
    description: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """The contents of an agent's card.

    `url` is where clients post to: it must be reachable for them. None: the address by which they request the card.
    """

    name: str
    description: str
    version: str
    url: str | None
    skills: tuple[Skill, ...]
    extensions: tuple[str, ...] = SUPPORTED_URIS
    rest: bool = False
    """Whether the agent is also served by HTTP+JSON."""


def card_of(profile: AgentProfile, *, with_keys: bool, with_webhooks: bool = False) -> pb.AgentCard:
    """The card. `with_keys` says that clients need an API key, `with_webhooks` that tasks can have webhooks."""
    bindings = ("JSONRPC", "HTTP+JSON") if profile.rest else ("JSONRPC",)
    card = pb.AgentCard(
        name=profile.name,
        description=profile.description,
        version=profile.version,
        supported_interfaces=[
            pb.AgentInterface(url=profile.url or _PLACEHOLDER, protocol_binding=binding, protocol_version=version)
            for binding in bindings
            for version in ("1.0", "0.3")
        ],
        capabilities=pb.AgentCapabilities(
            streaming=True,
            push_notifications=with_webhooks,
            extensions=[pb.AgentExtension(uri=uri) for uri in profile.extensions],
        ),
        default_input_modes=["text/plain", "application/json"],
        default_output_modes=["text/plain", "application/json"],
        skills=[
            pb.AgentSkill(id=skill.id, name=skill.name, description=skill.description, tags=skill.tags)
            for skill in profile.skills
        ],
    )
    if with_keys:
        bearer = pb.HTTPAuthSecurityScheme(scheme="Bearer", description="One of the server's API keys.")
        header = pb.APIKeySecurityScheme(
            location="header", name=KEY_HEADER, description="The same key without a prefix."
        )
        card.security_schemes["bearer"].http_auth_security_scheme.CopyFrom(bearer)
        card.security_schemes["api_key"].api_key_security_scheme.CopyFrom(header)
        # Either one suffices (A2A 1.0, section 4.5.1).
        card.security_requirements.extend(
            pb.SecurityRequirement(schemes={name: pb.StringList()}) for name in ("bearer", "api_key")
        )
    return card


# The route of an agent's card. Without a URL of its own, the card has the address by which each request came.

_CACHE: Final = "public, max-age=60"
_HOST: Final = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::([1-9][0-9]{0,4}))?")
_MAX_PORT: Final = 65535


def card_route(
    profile: AgentProfile, *, with_keys: bool, with_webhooks: bool = False, key: "CardKey | None" = None
) -> Route:
    """The route of the card. A request whose Host header names no host gets 400 if the card depends on it.

    `key` signs the card of an agent with a URL of its own.
    """
    from a2a.server.routes.agent_card_routes import create_agent_card_routes  # with all of the SDK's server

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
