"""Aliases: hide the names of agents from the judge, and restore them in its answer."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from concord.wire.roster import RosterEntry

_NUMBERED: Final = re.compile(r"\bagent (\d{1,6})\b", re.IGNORECASE)
_WORD: Final = re.compile(r"\w")
_MIN_ANY_CASE: Final = 3
"""Names of this length and more match in any case. Shorter ones may be words: an agent `A` is not every article."""


class Aliases:
    """`agent 1`, `agent 2`, … for agents in the order of their ids. Also replaces their other names in a roster."""

    def __init__(self, agents: Iterable[str], roster: Sequence[RosterEntry] = ()) -> None:
        self.agents = tuple(sorted(agents))
        self._of = {agent: f"agent {number}" for number, agent in enumerate(self.agents, start=1)}
        known = {**_other_names(self.agents, roster), **{agent: agent for agent in self.agents}}
        self._names = _Names({name: self._of[agent] for name, agent in known.items() if name and agent in self._of})
        self._hidden: dict[str, str] = {}

    def of(self, agent: str, otherwise: str) -> str:
        """The alias of an agent; `otherwise` for an agent outside the team."""
        return self._of.get(agent, otherwise)

    def agent(self, alias: str) -> str | None:
        """The agent with that alias. None if there is none."""
        return next((agent for agent, known in self._of.items() if known == alias), None)

    def hide(self, text: str) -> str:
        """The text with names replaced by aliases."""
        if text not in self._hidden:  # a message to many is the text of as many calls
            self._hidden[text] = self._names.replaced_in(text)
        return self._hidden[text]

    def show(self, text: str) -> str:
        """The text with aliases replaced by names."""
        return _NUMBERED.sub(lambda match: self._name(int(match[1]), match[0]), text)

    def _name(self, number: int, otherwise: str) -> str:
        return self.agents[number - 1] if 1 <= number <= len(self.agents) else otherwise


def _other_names(agents: Sequence[str], roster: Sequence[RosterEntry]) -> Mapping[str, str]:
    """By name, the agent's id: addresses, aliases, AgentBeats ids, and inner names of agents inside a participant."""
    inner = {agent.rpartition("/")[2]: agent for agent in agents}
    listed = {
        name: entry.id for entry in roster for name in (entry.url.rstrip("/"), *entry.aliases, entry.agentbeats_id)
    }
    return {**inner, **{name: agent for name, agent in listed.items() if name}}


class _Names:
    """Names, and what replaces them where they are whole words; of several at one place the longest.

    One search for each of a thousand names would take minutes for the texts of a trial. Looked up are only the parts of
    a text that begin like a name and are as long as one.
    """

    def __init__(self, replacements: Mapping[str, str]) -> None:
        self._exact = {name: to for name, to in replacements.items() if len(name) < _MIN_ANY_CASE}
        self._any_case = {name.casefold(): to for name, to in replacements.items() if len(name) >= _MIN_ANY_CASE}
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for name in replacements:
            lengths[name[0].casefold()].add(len(name))
        self._lengths = {first: sorted(found, reverse=True) for first, found in lengths.items()}
        first = "".join(re.escape(name[0]) for name in replacements)
        self._start = re.compile(rf"(?<!\w)[{first}]", re.IGNORECASE) if first else None

    def replaced_in(self, text: str) -> str:
        """The text with the names replaced."""
        if self._start is None:
            return text
        parts: list[str] = []
        done = 0
        for match in self._start.finditer(text):
            start = match.start()
            if start >= done and (found := self._at(text, start)) is not None:
                end, replacement = found
                parts += text[done:start], replacement
                done = end
        return "".join([*parts, text[done:]])

    def _at(self, text: str, start: int) -> tuple[int, str] | None:
        """The end of the longest name that begins there, and its replacement."""
        for length in self._lengths.get(text[start].casefold(), ()):
            name, end = text[start : start + length], start + length
            replacement = self._any_case.get(name.casefold()) or self._exact.get(name)
            if replacement is not None and len(name) == length and not _WORD.match(text, end):
                return end, replacement
        return None
