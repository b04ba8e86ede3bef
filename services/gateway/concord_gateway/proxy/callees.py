"""Whom a token's holder may reach: the agents of its own assessment, and what their cards say of where they are."""

import asyncio
import json
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

import httpx

from concord.identity import RosterEntry
from concord.storage import AssessmentStore
from concord.tokens import Claims
from concord_gateway.proxy.cards import CARD_PATH, rpc_urls

CARD_TIMEOUT_S: Final = 10.0
MAX_CARD_BYTES: Final = 1024 * 1024

_CARD_KEPT_S: Final = 30.0
_MAX_ROSTERS: Final = 64
_MAX_CARDS: Final = 512


class CardFailedError(Exception):
    """The callee has no card for us: `status` is its own answer's, or a gateway's where it gave none."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True, slots=True)
class _KeptCard:
    """A card, or the one request for it that is under way."""

    document: asyncio.Task[dict[str, Any]]
    until: float


class Callees:
    """Finds callees, and remembers rosters and cards for a while: both are asked for with every call."""

    def __init__(self, assessments: AssessmentStore, http: httpx.AsyncBaseTransport) -> None:
        self._assessments = assessments
        self._http = http
        self._rosters: OrderedDict[str, dict[str, RosterEntry]] = OrderedDict()
        self._cards: OrderedDict[str, _KeptCard] = OrderedDict()

    async def find(self, claims: Claims, callee_id: str) -> RosterEntry | None:
        """The agent of that id in the token's assessment; None where it has none. Raises StorageUnavailableError."""
        if claims.assessment_id not in self._rosters:
            if (plan := await self._assessments.plan(claims.assessment_id)) is None:
                return None
            self._rosters[claims.assessment_id] = {entry.id: entry for entry in plan.roster}
            _forget_oldest(self._rosters, _MAX_ROSTERS)
        return self._rosters[claims.assessment_id].get(callee_id)

    async def card(self, entry: RosterEntry) -> dict[str, Any]:
        """The callee's card, as it gives it. Raises CardFailedError."""
        kept = self._cards.get(entry.url)
        if kept is None or kept.until < time.monotonic():
            kept = _KeptCard(asyncio.create_task(_fetch(self._http, entry.url)), time.monotonic() + _CARD_KEPT_S)
            # Should all who wait for it leave, nobody asks how it went.
            kept.document.add_done_callback(lambda fetched: fetched.cancelled() or fetched.exception())
            self._cards[entry.url] = kept
            _forget_oldest(self._cards, _MAX_CARDS)
        try:
            return await asyncio.shield(kept.document)
        except CardFailedError:
            if self._cards.get(entry.url) is kept:
                del self._cards[entry.url]
            raise

    async def rpc_url(self, entry: RosterEntry, interface: int) -> str | None:
        """Where the callee takes JSON-RPC; None if it has no such interface. Without a card, where it was declared."""
        try:
            urls = rpc_urls(await self.card(entry), entry.url)
        except CardFailedError:
            urls = [entry.url]
        return urls[interface] if interface < len(urls) else None


async def _fetch(http: httpx.AsyncBaseTransport, url: str) -> dict[str, Any]:
    timeout = httpx.Timeout(CARD_TIMEOUT_S).as_dict()
    headers = {"accept": "application/json", "accept-encoding": "identity"}
    try:
        request = httpx.Request(
            "GET", f"{url.rstrip('/')}/{CARD_PATH}", headers=headers, extensions={"timeout": timeout}
        )
        async with asyncio.timeout(CARD_TIMEOUT_S):
            status, body = await _answer(http, request)
        document = json.loads(body) if status == 200 else None
    except (TimeoutError, httpx.TimeoutException) as error:
        raise CardFailedError(504, "the agent's card did not come in time") from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise CardFailedError(502, f"the agent cannot be reached: {type(error).__name__}") from error
    except (ValueError, RecursionError) as error:
        raise CardFailedError(502, "the agent's card is not JSON") from error
    if not isinstance(document, dict):
        raise CardFailedError(status if status != 200 else 502, f"the agent gave no card: HTTP status {status}")
    return document


async def _answer(http: httpx.AsyncBaseTransport, request: httpx.Request) -> tuple[int, bytes]:
    response = await http.handle_async_request(request)
    body = bytearray()
    try:
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > MAX_CARD_BYTES:
                raise CardFailedError(502, "the agent's card is too large")
    finally:
        await response.aclose()
    return response.status_code, bytes(body)


def _forget_oldest(kept: OrderedDict[str, Any], most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)
