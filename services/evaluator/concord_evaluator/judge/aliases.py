"""Aliases: hide the names of agents from the judge, and restore them in its answer."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

from concord.wire.roster import RosterEntry

_NUMBERED: Final = re.compile(r"\bagent (\d{1,6})\b", re.IGNORECASE)
_MIN_ANY_CASE: Final = 3
"""Names of this length and more match in any case. Shorter ones may be words: an agent `A` is not every article."""


class Aliases:
    """`agent 1`, `agent 2`, … for agents in the order of their ids. Also replaces their other names in a roster."""

    def __init__(self, agents: Iterable[str], roster: Sequence[RosterEntry] = ()) -> None:
        self.agents = tuple(sorted(agents))
        self._of = {agent: f"agent {number}" for number, agent in enumerate(self.agents, start=1)}
        known = {**_other_names(self.agents, roster), **{agent: agent for agent in self.agents}}
        self._spelt = {name.casefold(): self._of[agent] for name, agent in known.items() if agent in self._of}
        self._hidden = [name for name, agent in known.items() if name and agent in self._of]

    def of(self, agent: str, otherwise: str) -> str:
        """The alias of an agent; `otherwise` for an agent outside the team."""
        return self._of.get(agent, otherwise)

    def agent(self, alias: str) -> str | None:
        """The agent with that alias. None if there is none."""
        return next((agent for agent, known in self._of.items() if known == alias), None)

    def hide(self, text: str) -> str:
        """The text with names replaced by aliases."""
        if self._names is None:
            return text
        return self._names.sub(lambda match: self._spelt[match[0].casefold()], text)

    def show(self, text: str) -> str:
        """The text with aliases replaced by names."""
        return _NUMBERED.sub(lambda match: self._name(int(match[1]), match[0]), text)

    @cached_property
    def _names(self) -> re.Pattern[str] | None:
        """All names, the longest first. Made when first needed: evidence that was stored has no name to hide."""
        names = sorted(self._hidden, key=len, reverse=True)
        return re.compile("|".join(map(_pattern, names))) if names else None

    def _name(self, number: int, otherwise: str) -> str:
        return self.agents[number - 1] if 1 <= number <= len(self.agents) else otherwise


def _other_names(agents: Sequence[str], roster: Sequence[RosterEntry]) -> Mapping[str, str]:
    """By name, the agent's id: addresses, aliases, AgentBeats ids, and inner names of agents inside a participant."""
    inner = {agent.rpartition("/")[2]: agent for agent in agents}
    listed = {
        name: entry.id for entry in roster for name in (entry.url.rstrip("/"), *entry.aliases, entry.agentbeats_id)
    }
    return {**inner, **{name: agent for name, agent in listed.items() if name}}


def _pattern(name: str) -> str:
    whole = rf"(?<!\w){re.escape(name)}(?!\w)"
    return f"(?i:{whole})" if len(name) >= _MIN_ANY_CASE else whole
