"""Who takes part: the participants of a request, with what their cards say of them."""

import asyncio
import logging
from typing import Final

from concord.a2a import AgentUnreachableError, RemoteError, fetch_card
from concord.assessment import AssessmentRequest
from concord.extensions import ASSIGNMENT_URI, TRACEABILITY_URI
from concord.identity import RosterEntry
from concord.proxy_urls import proxy_url

logger = logging.getLogger(__name__)

_REPORTING: Final = frozenset({ASSIGNMENT_URI, TRACEABILITY_URI})


async def make_roster(request: AssessmentRequest, proxy_base: str | None = None) -> list[RosterEntry]:
    """The roster of a request: ids and URLs as declared; aliases and functions from config and cards.

    With `proxy_base`, an agent's address behind the proxy is one of its aliases, as it is kept: without a token.
    A card that cannot be read costs its agent only the aliases and functions it would have told.
    """
    declared = {entry.id: entry for entry in request.config.roster}
    return await asyncio.gather(
        *(
            _entry(name, str(url), declared.get(name), request.config.agentbeats_ids.get(name), proxy_base)
            for name, url in request.participants.items()
        )
    )


async def _entry(
    name: str, url: str, declared: RosterEntry | None, agentbeats_id: str | None, proxy_base: str | None
) -> RosterEntry:
    aliases = dict.fromkeys(declared.aliases if declared is not None else ())
    if proxy_base is not None:
        aliases[proxy_url(proxy_base, name)] = None
    functions = declared.functions if declared is not None else ()
    reports = False
    try:
        card = await fetch_card(url)
    except (AgentUnreachableError, RemoteError) as error:
        logger.warning("participant %s: no card: %s", name, error)
    else:
        aliases |= dict.fromkeys(alias for alias in card.urls if alias != url)
        functions = functions or card.skill_ids
        reports = not _REPORTING.isdisjoint(card.extensions)
    return RosterEntry(
        id=name,
        url=url,
        aliases=tuple(aliases),
        agentbeats_id=agentbeats_id or (declared.agentbeats_id if declared is not None else None),
        functions=functions,
        reports=reports,
    )
