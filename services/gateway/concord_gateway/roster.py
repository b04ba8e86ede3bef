"""Who takes part: the participants of a request, with what their cards say of them."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Final

from concord.a2a import CardSummary
from concord.agent.extensions import ASSIGNMENT_URI, TRACEABILITY_URI
from concord.assessment import AssessmentRequest
from concord.assessment.roster import RosterEntry, normalise_url
from concord.trust.proxy_urls import proxy_url
from concord.trust.urls import PeerUrls, UrlRefusedError, check_form, lies_under

logger = logging.getLogger(__name__)

_REPORTING: Final = frozenset({ASSIGNMENT_URI, TRACEABILITY_URI})
_MAX_READ: Final = 64
"""URLs and skills of a card that are looked at: no card of one agent has more to say."""


async def make_roster(
    request: AssessmentRequest,
    cards: Mapping[str, CardSummary | None],
    peer_urls: PeerUrls,
    proxy_base: str | None = None,
) -> list[RosterEntry]:
    """The roster of a request: ids and URLs as declared; aliases and functions from config and cards (by id).

    With `proxy_base`, an agent's address behind the proxy is one of its aliases, as it is kept: without a token.
    A card that cannot be read costs its agent only the aliases and functions it would have told. Of its URLs those
    count that lie under the declared one or are allowed by `peer_urls`, and that no other agent has or claims.
    """
    declared = [_declared(name, str(url), request, proxy_base) for name, url in request.participants.items()]
    read = [cards.get(entry.id) for entry in declared]
    claims = await asyncio.gather(*map(_allowed, declared, read, [peer_urls] * len(declared)))
    holders: defaultdict[str, set[str]] = defaultdict(set)
    for entry, urls in zip(declared, claims, strict=True):
        for name in (entry.id, entry.url, *entry.aliases, *urls):
            holders[normalise_url(name)].add(entry.id)
    contested = {name for name, ids in holders.items() if len(ids) > 1}
    return [_with_card(*each, contested) for each in zip(declared, read, claims, strict=True)]


def _declared(name: str, url: str, request: AssessmentRequest, proxy_base: str | None) -> RosterEntry:
    told = next((entry for entry in request.config.roster if entry.id == name), None)
    proxied = () if proxy_base is None else (proxy_url(proxy_base, name),)
    return RosterEntry(
        id=name,
        url=url,
        aliases=(*(told.aliases if told is not None else ()), *proxied),
        agentbeats_id=request.config.agentbeats_ids.get(name) or (told.agentbeats_id if told is not None else None),
        functions=told.functions if told is not None else (),
    )


async def _allowed(entry: RosterEntry, card: CardSummary | None, peer_urls: PeerUrls) -> list[str]:
    """The URLs in an agent's card that it may be known by."""
    allowed = []
    for url in card.urls[:_MAX_READ] if card is not None else ():
        try:
            check_form(url)
            if not lies_under(url, entry.url):
                await peer_urls.pin(url)
        except UrlRefusedError as error:
            logger.warning("participant %s: a URL in its card is left out: %s", entry.id, error)
        else:
            allowed.append(url)
    return allowed


def _with_card(
    entry: RosterEntry, card: CardSummary | None, urls: list[str], contested: Collection[str]
) -> RosterEntry:
    if card is None:
        return entry
    own = [url for url in urls if url != entry.url and normalise_url(url) not in contested]
    if len(own) < len([url for url in urls if url != entry.url]):
        logger.warning("participant %s: its card claims another's address", entry.id)
    return entry.model_copy(
        update={
            "aliases": tuple(dict.fromkeys((*entry.aliases, *own))),
            "functions": entry.functions or card.skill_ids[:_MAX_READ],
            "reports": not _REPORTING.isdisjoint(card.extensions),
        }
    )
