"""Callees: the agents that a token may call, and their cards, rewritten to lead through the proxy."""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from cachetools import LRUCache

from concord.storage import AssessmentStore
from concord.trust.tokens import Claims
from concord.trust.urls import lies_under
from concord.wire.roster import CARD_PATH, RosterEntry
from concord_gateway.proxy.limits import CARD_IS_LATE, CARD_S, LATE
from concord_gateway.proxy.upstream import AnswerTimeoutError, UnreachableError, Upstream

_CARRIED: Final = "JSONRPC"
_LINKS: Final = ("iconUrl", "documentationUrl")


class UnusableCardError(Exception):
    """The card offers no interface that the proxy supports."""


def rpc_urls(card: Mapping[str, Any], declared: str) -> list[str]:
    """The agent's JSON-RPC URLs, without duplicates, in the card's order.

    The client vouches for the declared address, and the agent only for URLs below it. A card that names another host or
    path leads to the declared address instead: otherwise an agent could direct its callers to any host that the gateway
    can reach.
    """
    return list(dict.fromkeys(_kept(url, declared) for _, _, url in _interfaces(card)))


def rewritten(card: Mapping[str, Any], declared: str, proxy: str) -> dict[str, Any]:
    """Rewrites a card: `proxy` becomes the first of `rpc_urls`, `proxy` + "1/" the second, and so on.

    Drops transports other than JSON-RPC, links to the agent's own host, and signatures, which no longer match. Raises
    UnusableCardError.
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
    """The proxy's URL for an agent's interface with this number."""
    return f"{proxy}{number}/" if number else proxy


def _interfaces(card: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The JSON-RPC interfaces: the card's list that contains each ("" for a 0.3 card itself), the interface, and its
    URL."""
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


MAX_CARD_BYTES: Final = 1024 * 1024

_HEADERS: Final = ((b"accept", b"application/json"), (b"accept-encoding", b"identity"))
_CARD_KEPT_S: Final = 30.0
_FAILURE_KEPT_S: Final = 2.0
_MAX_ROSTERS: Final = 64
_MAX_CARDS: Final = 512


class CardFailedError(Exception):
    """The callee's card cannot be fetched. `status` is the callee's HTTP status, or 502 or `LATE`."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(slots=True)
class _KeptCard:
    """A card, or the pending request for it."""

    document: asyncio.Task[dict[str, Any]]
    until: float


class Callees:
    """Looks up callees, and caches rosters and cards: every call needs both."""

    def __init__(self, assessments: AssessmentStore, upstream: Upstream) -> None:
        self._assessments = assessments
        self._upstream = upstream
        self._rosters: LRUCache[str, dict[str, RosterEntry]] = LRUCache(_MAX_ROSTERS)
        self._cards: LRUCache[str, _KeptCard] = LRUCache(_MAX_CARDS)

    async def roster(self, claims: Claims) -> Mapping[str, RosterEntry]:
        """The agents in the token's assessment, by id. Raises StorageUnavailableError."""
        roster = self._rosters.get(claims.assessment_id)
        if roster is None:
            if (plan := await self._assessments.plan(claims.assessment_id)) is None:
                return {}
            roster = self._rosters[claims.assessment_id] = {entry.id: entry for entry in plan.roster}
        return roster

    async def card(self, entry: RosterEntry) -> dict[str, Any]:
        """Fetches the callee's card, unchanged. Raises CardFailedError."""
        kept = self._cards.get(entry.url)
        if kept is None or kept.until < time.monotonic():
            kept = _KeptCard(asyncio.create_task(_fetch(self._upstream, entry.url)), time.monotonic() + _CARD_KEPT_S)
            # Retrieves the exception even if every caller has left: asyncio would log it otherwise.
            kept.document.add_done_callback(lambda fetched: fetched.cancelled() or fetched.exception())
            self._cards[entry.url] = kept
        try:
            return await asyncio.shield(kept.document)
        except CardFailedError:
            kept.until = min(kept.until, time.monotonic() + _FAILURE_KEPT_S)
            raise

    async def rpc_url(self, entry: RosterEntry, interface: int) -> str | None:
        """The URL of the callee's interface, or None if it has no such interface. Without a card, the declared URL."""
        try:
            urls = rpc_urls(await self.card(entry), entry.url)
        except CardFailedError:
            urls = [entry.url]
        return urls[interface] if interface < len(urls) else None


async def _fetch(upstream: Upstream, url: str) -> dict[str, Any]:
    body = bytearray()
    try:
        async with (
            asyncio.timeout(CARD_S),
            upstream.send("GET", f"{url.rstrip('/')}{CARD_PATH}", _HEADERS) as answer,
        ):
            async for piece in answer.pieces():
                body += piece
                if len(body) > MAX_CARD_BYTES:
                    raise CardFailedError(502, "the agent's card is too large")
        document = json.loads(body) if answer.status == 200 else None
    except (TimeoutError, AnswerTimeoutError) as error:
        raise CardFailedError(LATE, CARD_IS_LATE) from error
    except UnreachableError as error:
        raise CardFailedError(502, str(error)) from error
    except (ValueError, RecursionError) as error:
        raise CardFailedError(502, "the agent's card is not JSON") from error
    if not isinstance(document, dict):
        status = answer.status if answer.status != 200 else 502
        raise CardFailedError(status, f"the agent served no card: HTTP status {answer.status}")
    return document
