"""Who a step speaks of: agents by their ids, and agents inside a participant by `<participant>/<name>`."""

from functools import lru_cache
from typing import Final

from concord.assessment.roster import GREEN_AGENT, UNKNOWN_AGENT, Roster

NOT_IN_GRAPH: Final = frozenset({GREEN_AGENT, UNKNOWN_AGENT})
"""Ids that are no agents of the team."""


@lru_cache(maxsize=1 << 14)
def participant_of(agent_id: str) -> str:
    """The participant that an agent belongs to: itself, unless it is one inside it."""
    return agent_id if agent_id.startswith("url:") else agent_id.partition("/")[0]


def inside(participant: str, name: str, roster: Roster) -> str:
    """The id of the agent called `name` in a participant, which may be the participant's own name for itself."""
    if participant in NOT_IN_GRAPH or not name or roster.resolve("", name) == participant:
        return participant
    return f"{participant}/{name}"


class Callees:
    """Says whom a call went to. The same few addresses and names come again and again, and are resolved once."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._known: dict[tuple[str, str, str], str] = {}

    def of(self, caller: str, url: str, name: str) -> str:
        """The id of whom `caller` called."""
        called = ("" if url else caller, url, name)
        known = self._known.get(called)
        if known is None:
            known = self._known[called] = callee_of(caller, url, name, self._roster)
        return known


def callee_of(caller: str, url: str, name: str, roster: Roster) -> str:
    """The id of whom `caller` called.

    Without a URL the call went over no wire: a name that the roster does not know is an agent inside the caller's
    own participant.
    """
    if url:
        return roster.resolve(url, name)
    if not name:
        return UNKNOWN_AGENT
    resolved = roster.resolve("", name)
    known = resolved in roster or resolved in NOT_IN_GRAPH
    return resolved if known else inside(participant_of(caller), name, roster)
