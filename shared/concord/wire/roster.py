"""Who is who: agent ids, and the roster that resolves every URL of a participant to its one id."""

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, StringConstraints

from concord.wire.ids import Id, Url

ParticipantId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.-]*$", max_length=64)]
"""The key in `participants`: no `/` (that names an agent inside a participant) and no `:` (a resolved stranger)."""

GREEN_AGENT: Final = "green-agent"
"""The assessor itself, as a reporter and a caller. It is never a node of the agent graph."""

UNKNOWN_AGENT: Final = "unknown"
"""A caller that no report names."""

RESERVED_IDS: Final = frozenset({GREEN_AGENT, UNKNOWN_AGENT})

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class RosterEntry(BaseModel):
    """One declared agent: its id, its URL, its other URLs and names, and its role in the team."""

    model_config = ConfigDict(frozen=True)

    id: Id
    url: Url
    aliases: tuple[Url, ...] = ()
    agentbeats_id: str | None = None
    functions: tuple[str, ...] = ()
    reports: bool = False
    """Whether its card says that it tells of its steps: it names the assignment or the traceability extension."""


class Roster:
    """The declared agents of one assessment, in the order they were declared."""

    def __init__(self, entries: Iterable[RosterEntry]) -> None:
        self._entries = {entry.id: entry for entry in entries}

    @cached_property
    def _addresses(self) -> dict[str, str]:
        """By declared spelling, the address, since most calls name an agent as it is declared."""
        return {spelling: normalise_url(spelling) for spelling, _ in self._spellings()}

    @cached_property
    def _first(self) -> dict[str, str]:
        """By address, the first agent there."""
        return {self._addresses[spelling]: agent_id for spelling, agent_id in reversed([*self._spellings()])}

    @cached_property
    def _seats(self) -> frozenset[tuple[str, str]]:
        """Addresses, each with an agent there. Several seats of one participant have the same address."""
        return frozenset((self._addresses[spelling], agent_id) for spelling, agent_id in self._spellings())

    def _spellings(self) -> Iterator[tuple[str, str]]:
        return ((spelling, entry.id) for entry in self for spelling in (entry.id, entry.url, *entry.aliases))

    def __iter__(self) -> Iterator[RosterEntry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, agent_id: str) -> bool:
        return agent_id in self._entries

    def __getitem__(self, agent_id: str) -> RosterEntry:
        return self._entries[agent_id]

    def resolve(self, url: str, name: str = "") -> str:
        """The id of the agent at `url`, else of the agent called `name`, else `url:<normalised url>`.

        The URL is the message's destination, and the name only the caller's word for it, so the URL decides. Where
        several agents share a URL, the name decides among them.
        """
        named = url or name
        address = self._addresses.get(named) or normalise_url(named)
        if (address, name) in self._seats:
            return name
        known = self._first.get(address)
        if known is not None:
            return known
        return f"url:{normalise_url(url)}" if url else name or UNKNOWN_AGENT


@lru_cache(maxsize=1024)  # a trace repeats the addresses of its agents in each step
def normalise_url(url: str) -> str:
    """One spelling per address: lower-case scheme and host; no default port, credentials, query or trailing slash.

    Text other than an http(s) URL, such as an agent's name, is returned without surrounding white space and trailing
    slashes.
    """
    text = _trimmed(url)
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        return text
    if parts.scheme.lower() not in _DEFAULT_PORTS or host is None:
        return text
    scheme = parts.scheme.lower()
    netloc = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORTS[scheme]:
        netloc = f"{netloc}:{port}"
    return _trimmed(f"{scheme}://{netloc}{parts.path}")


def _trimmed(text: str) -> str:
    """`text` without surrounding white space and trailing slashes, also where the two alternate at its end."""
    while (shorter := text.strip().rstrip("/")) != text:
        text = shorter
    return text
