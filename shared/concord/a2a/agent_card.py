"""An agent's card as its callers read it, of A2A 0.2 to 1.0: how to reach the agent, and where it may lead them."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import httpx

from concord.a2a.errors import RemoteError
from concord.trust.redaction import redact
from concord.trust.urls import PeerUrls, UrlRefusedError, lies_under

JSONRPC: Final = "JSONRPC"
REST: Final = "HTTP+JSON"

_DRIVEN: Final = (JSONRPC, REST)
_MOST: Final = 64
"""Interfaces, skills and extensions of a card that are read."""

_OLDEST: Final = (0, 2)

_UNSUPPORTED: Final = {
    "oauth2": "OAuth 2.0",
    "oauth2SecurityScheme": "OAuth 2.0",
    "openIdConnect": "OpenID Connect",
    "openIdConnectSecurityScheme": "OpenID Connect",
    "mutualTLS": "mutual TLS",
    "mtlsSecurityScheme": "mutual TLS",
}
"""The types of security schemes in cards of 0.3, and their keys in those of 1.0."""


@dataclass(frozen=True, slots=True)
class Interface:
    """An address of an agent. `binding` is in upper case; `version` is that of the protocol, such as "1.0"."""

    url: str
    binding: str
    version: str
    tenant: str = ""

    @property
    def is_1_0(self) -> bool:
        """Whether it speaks A2A 1.0 or newer, and not 0.3 or 0.2, which have one form."""
        return _major_minor(self.version) >= (1, 0)


@dataclass(frozen=True, slots=True)
class CardSummary:
    """The parts of an agent's card that matter here."""

    name: str
    interfaces: tuple[Interface, ...]
    skill_ids: tuple[str, ...]
    streaming: bool
    extensions: tuple[str, ...]
    demands: str = ""
    """What callers must show that neither a bearer token nor an API key is, such as "OAuth 2.0"; "" for nothing."""

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses, each once."""
        return tuple(dict.fromkeys(each.url for each in self.interfaces))


def read_card(document: object) -> CardSummary:
    """The summary of a card's JSON. Raises RemoteError for one that is no object or names no address."""
    if not isinstance(document, dict):
        raise RemoteError("its card is no JSON object")
    interfaces = tuple(dict.fromkeys(_interfaces(document)))
    if not interfaces:
        raise RemoteError("its card names no address at which the agent answers")
    can = document.get("capabilities")
    capabilities: Mapping[str, Any] = can if isinstance(can, dict) else {}
    return CardSummary(
        name=_text(document.get("name")),
        interfaces=interfaces,
        skill_ids=tuple(_text(skill.get("id")) for skill in _dicts(document.get("skills"))),
        streaming=capabilities.get("streaming") is True,
        extensions=tuple(_text(each.get("uri")) for each in _dicts(capabilities.get("extensions"))),
        demands=_demands(document),
    )


def chosen_interface(card: CardSummary, version: str | None = None) -> Interface:
    """The interface to use: JSON-RPC before REST, and of these the newest version; only of `version`, if it is given.

    Raises RemoteError if there is none.
    """
    offered = [each for each in card.interfaces if version is None or each.version.startswith(version)]
    driven = [each for each in offered if each.binding in _DRIVEN]
    spoken = [each for each in driven if _major_minor(each.version) >= _OLDEST]
    if spoken:
        return min(spoken, key=lambda each: (_DRIVEN.index(each.binding), not each.is_1_0))
    if driven:
        raise RemoteError(f"it speaks A2A {driven[0].version}, and Concord speaks 0.2 to 1.0")
    if offered:
        names = ", ".join(sorted({each.binding for each in offered}))
        raise RemoteError(f"its card offers {names} only, and Concord speaks {' and '.join(_DRIVEN)}")
    raise RemoteError(f"its card offers no interface of A2A {version}")


def _interfaces(card: Mapping[str, Any]) -> Iterator[Interface]:
    for each in _dicts(card.get("supportedInterfaces")):
        if url := _text(each.get("url")):
            version = _text(each.get("protocolVersion")) or "1.0"
            yield Interface(url, _binding(each.get("protocolBinding")), version, _text(each.get("tenant")))
    version = _text(card.get("protocolVersion")) or "0.3"
    if url := _text(card.get("url")):
        yield Interface(url, _binding(card.get("preferredTransport")), version)
    for each in _dicts(card.get("additionalInterfaces")):
        if url := _text(each.get("url")):
            yield Interface(url, _binding(each.get("transport")), version)


def _demands(card: Mapping[str, Any]) -> str:
    """The scheme of a card that offers no alternative without one that its callers cannot satisfy."""
    schemes = card.get("securitySchemes")
    known: Mapping[str, Any] = schemes if isinstance(schemes, dict) else {}
    refused = {name: kind for name, scheme in known.items() if (kind := _unsupported(scheme))}
    alternatives = [
        each["schemes"] if isinstance(each.get("schemes"), dict) else each
        for each in _dicts(card.get("securityRequirements")) or _dicts(card.get("security"))
    ]
    met = [next((refused[name] for name in each if name in refused), "") for each in alternatives]
    return met[0] if met and all(met) else ""


def _unsupported(scheme: object) -> str:
    """The name of a security scheme, in either version's form, that takes more than a fixed credential; else ""."""
    if not isinstance(scheme, dict):
        return ""
    kind = _text(scheme.get("type"))
    return next((name for key, name in _UNSUPPORTED.items() if key == kind or key in scheme), "")


def _binding(value: object) -> str:
    return (_text(value) or JSONRPC).upper()[:60]


def _major_minor(version: str) -> tuple[int, int]:
    """The first two numbers of a version. One without numbers is taken as 0.3, which most agents speak."""
    major, _, rest = version.partition(".")
    minor = rest.partition(".")[0]
    return (int(major), int(minor) if minor.isdecimal() else 0) if major.isdecimal() else (0, 3)


def _dicts(values: object) -> list[Mapping[str, Any]]:
    return [value for value in values[:_MOST] if isinstance(value, dict)] if isinstance(values, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


# The addresses to which an agent's card may lead the client.

logger = logging.getLogger(__name__)


class CardGuard:
    """Keeps a card from leading the client to a forbidden address."""

    def __init__(self, declared: str, peer_urls: PeerUrls) -> None:
        self._declared = declared
        self._peer_urls = peer_urls

    async def allowed(self, interface: Interface) -> Interface:
        """An interface of the card, at the declared URL if its own is forbidden."""
        if not lies_under(interface.url, self._declared):
            try:
                await self._peer_urls.pin(interface.url)
            except UrlRefusedError as error:
                logger.warning("%s: ignoring a URL in its card: %s", redact(self._declared), error)
                return replace(interface, url=self._declared)
        return interface

    async def pin(self, request: httpx.Request) -> None:
        """Sends a request to the address that was checked, since the name may resolve to another by now. Raises
        UrlRefusedError."""
        url = str(request.url)
        ours = lies_under(url, self._declared)
        pinned = await (self._peer_urls.pin_declared(url) if ours else self._peer_urls.pin(url))
        if pinned is not None:
            request.url = request.url.copy_with(host=str(pinned.address))
            request.extensions = {**request.extensions, "sni_hostname": pinned.host}
