"""Agent cards: what a caller is told of its callee, with the proxy's addresses in the place of the callee's own."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from concord.trust.urls import lies_under

CARD_PATH: Final = ".well-known/agent-card.json"

_CARRIED: Final = "JSONRPC"
_LINKS: Final = ("iconUrl", "documentationUrl")


class UnusableCardError(Exception):
    """The card offers nothing that the proxy can carry."""


def rpc_urls(card: Mapping[str, Any], declared: str) -> list[str]:
    """Where the agent takes JSON-RPC, each address once, the card's first one first.

    Whoever declared the agent vouches for its address, and the agent itself only for what lies under it: a card that
    names another host or path leads to the declared address, or it could send its callers anywhere that we can reach.
    """
    return list(dict.fromkeys(_kept(url, declared) for _, _, url in _interfaces(card)))


def rewritten(card: Mapping[str, Any], declared: str, proxy: str) -> dict[str, Any]:
    """The card with the proxy's addresses: `proxy` for the first of `rpc_urls`, `proxy` + "1/" for the next.

    Transports that the proxy does not carry are left out, and so are links to the agent's own host, and signatures,
    which would not hold any more. Raises UnusableCardError.
    """
    urls = rpc_urls(card, declared)
    if not urls:
        raise UnusableCardError("the agent offers no JSON-RPC interface")
    places = {url: interface_url(proxy, number) for number, url in enumerate(urls)}
    shown = {key: value for key, value in card.items() if key != "signatures"}
    for key in ("additionalInterfaces", "supportedInterfaces"):
        if key in card:
            shown[key] = [
                {**interface, "url": places[_kept(url, declared)]}
                for where, interface, url in _interfaces(card)
                if where == key
            ]
    if "url" in card:
        shown |= {"url": places[urls[0]], "preferredTransport": _CARRIED}
    return _without_links(shown, declared)


def interface_url(proxy: str, number: int) -> str:
    """The proxy's address for the `number`th of an agent's interfaces."""
    return f"{proxy}{number}/" if number else proxy


def _interfaces(card: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The JSON-RPC interfaces: the list each stands in ("" for the card itself, as in 0.3), itself, and its URL."""
    if isinstance(url := card.get("url"), str) and str(card.get("preferredTransport", _CARRIED)).upper() == _CARRIED:
        yield "", {}, url
    for key, transport in (("additionalInterfaces", "transport"), ("supportedInterfaces", "protocolBinding")):
        listed = card.get(key)
        for interface in listed if isinstance(listed, list) else ():
            if not isinstance(interface, dict) or not isinstance(url := interface.get("url"), str):
                continue
            if str(interface.get(transport, "")).upper() == _CARRIED:
                yield key, interface, url


def _kept(url: str, declared: str) -> str:
    return url if lies_under(url, declared) else declared


def _without_links(card: dict[str, Any], declared: str) -> dict[str, Any]:
    card = {key: value for key, value in card.items() if key not in _LINKS or not _same_host(value, declared)}
    provider = card.get("provider")
    if isinstance(provider, dict) and _same_host(provider.get("url"), declared):
        card["provider"] = {**provider, "url": ""}
    return card


def _same_host(url: object, declared: str) -> bool:
    if not isinstance(url, str):
        return False
    try:
        return urlsplit(urljoin(declared, url)).hostname == urlsplit(declared).hostname
    except ValueError:
        return True
