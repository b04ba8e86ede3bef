"""Whom a token's holder may reach: the agents of its own assessment, and what their cards say of where they are."""

import asyncio
import json
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from concord.assessment.roster import RosterEntry
from concord.storage import AssessmentStore
from concord.trust.tokens import Claims
from concord_gateway.proxy.cards import CARD_PATH, rpc_urls
from concord_gateway.proxy.upstream import SilentError, UnreachableError, Upstream

CARD_TIMEOUT_S: Final = 10.0
MAX_CARD_BYTES: Final = 1024 * 1024

_HEADERS: Final = ((b"accept", b"application/json"), (b"accept-encoding", b"identity"))
_CARD_KEPT_S: Final = 30.0
_FAILURE_KEPT_S: Final = 2.0
_MAX_ROSTERS: Final = 64
_MAX_CARDS: Final = 512


class CardFailedError(Exception):
    """The callee has no card for us: `status` is its own answer's, or a gateway's where it gave none."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(slots=True)
class _KeptCard:
    """A card, or the one request for it that is under way."""

    document: asyncio.Task[dict[str, Any]]
    until: float


class Callees:
    """Finds callees, and remembers rosters and cards for a while: both are asked for with every call."""

    def __init__(self, assessments: AssessmentStore, upstream: Upstream) -> None:
        self._assessments = assessments
        self._upstream = upstream
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
            kept = _KeptCard(asyncio.create_task(_fetch(self._upstream, entry.url)), time.monotonic() + _CARD_KEPT_S)
            # Should all who wait for it leave, nobody asks how it went.
            kept.document.add_done_callback(lambda fetched: fetched.cancelled() or fetched.exception())
            self._cards[entry.url] = kept
            _forget_oldest(self._cards, _MAX_CARDS)
        try:
            return await asyncio.shield(kept.document)
        except CardFailedError:
            kept.until = min(kept.until, time.monotonic() + _FAILURE_KEPT_S)
            raise

    async def rpc_url(self, entry: RosterEntry, interface: int) -> str | None:
        """Where the callee takes JSON-RPC; None if it has no such interface. Without a card, where it was declared."""
        try:
            urls = rpc_urls(await self.card(entry), entry.url)
        except CardFailedError:
            urls = [entry.url]
        return urls[interface] if interface < len(urls) else None


async def _fetch(upstream: Upstream, url: str) -> dict[str, Any]:
    body = bytearray()
    try:
        async with (
            asyncio.timeout(CARD_TIMEOUT_S),
            upstream.send("GET", f"{url.rstrip('/')}/{CARD_PATH}", _HEADERS) as answer,
        ):
            async for piece in answer.pieces():
                body += piece
                if len(body) > MAX_CARD_BYTES:
                    raise CardFailedError(502, "the agent's card is too large")
        document = json.loads(body) if answer.status == 200 else None
    except (TimeoutError, SilentError) as error:
        raise CardFailedError(504, "the agent's card did not come in time") from error
    except UnreachableError as error:
        raise CardFailedError(502, str(error)) from error
    except (ValueError, RecursionError) as error:
        raise CardFailedError(502, "the agent's card is not JSON") from error
    if not isinstance(document, dict):
        status = answer.status if answer.status != 200 else 502
        raise CardFailedError(status, f"the agent gave no card: HTTP status {answer.status}")
    return document


def _forget_oldest(kept: OrderedDict[str, Any], most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)
