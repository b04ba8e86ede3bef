"""Agent ids: of participants, and of the agents inside a participant (`<participant>/<name>`)."""

from functools import lru_cache
from typing import Final

from concord.wire.roster import GREEN_AGENT, UNKNOWN_AGENT, Roster

NOT_IN_GRAPH: Final = frozenset({GREEN_AGENT, UNKNOWN_AGENT})
"""Ids that are not agents of the team."""


@lru_cache(maxsize=1 << 14)
def participant_of(agent_id: str) -> str:
    """The participant that an agent belongs to: the agent itself, unless it is one inside a participant."""
    return agent_id if agent_id.startswith("url:") else agent_id.partition("/")[0]


def inner_agent(participant: str, name: str, roster: Roster) -> str:
    """The id of the agent called `name` in a participant, which may also be a name of the participant itself."""
    if participant in NOT_IN_GRAPH or not name or roster.resolve("", name) == participant:
        return participant
    return f"{participant}/{name}"


def callee_of(caller: str, url: str, name: str, roster: Roster) -> str:
    """The id of the agent that `caller` called.

    A call without a URL did not leave the caller's participant: a name that is not in the roster is an agent inside it.
    """
    known = known_callee(url, name, roster)
    return inner_agent(participant_of(caller), name, roster) if known is None else known


def known_callee(url: str, name: str, roster: Roster) -> str | None:
    """The id of the called agent where it does not depend on the caller; None for an agent inside its participant."""
    if url:
        return roster.resolve(url, name)
    if not name:
        return UNKNOWN_AGENT
    resolved = roster.resolve("", name)
    return resolved if resolved in roster or resolved in NOT_IN_GRAPH else None
