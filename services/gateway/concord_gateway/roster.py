"""Who takes part: the participants of a request, with what their cards say of them."""

import asyncio
import logging

from concord.a2a import AgentUnreachableError, RemoteError, fetch_card
from concord.assessment import AssessmentRequest
from concord.identity import RosterEntry

logger = logging.getLogger(__name__)


async def make_roster(request: AssessmentRequest) -> list[RosterEntry]:
    """The roster of a request: ids and URLs as declared; aliases and functions from config and cards.

    A card that cannot be read costs its agent only the aliases and functions it would have told.
    """
    declared = {entry.id: entry for entry in request.config.roster}
    return await asyncio.gather(
        *(
            _entry(name, str(url), declared.get(name), request.config.agentbeats_ids.get(name))
            for name, url in request.participants.items()
        )
    )


async def _entry(name: str, url: str, declared: RosterEntry | None, agentbeats_id: str | None) -> RosterEntry:
    aliases = dict.fromkeys(declared.aliases if declared is not None else ())
    functions = declared.functions if declared is not None else ()
    try:
        card = await fetch_card(url)
    except (AgentUnreachableError, RemoteError) as error:
        logger.warning("participant %s: no card: %s", name, error)
    else:
        aliases |= dict.fromkeys(alias for alias in card.urls if alias != url)
        functions = functions or card.skill_ids
    return RosterEntry(
        id=name,
        url=url,
        aliases=tuple(aliases),
        agentbeats_id=agentbeats_id or (declared.agentbeats_id if declared is not None else None),
        functions=functions,
    )
