"""Who is who: ids, and the roster that resolves every URL of a participant to its agent."""

import re
import secrets
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Annotated, Final
from urllib.parse import urlsplit
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, StringConstraints

# Where A2A's agents serve their cards.

CARD_PATH: Final = "/.well-known/agent-card.json"
"""Below the agent's URL."""


# Ids and URLs. Ids of traces and steps have the form of W3C Trace Context, so that OpenTelemetry accepts them.

MAX_ID_LENGTH = 64
"""Longest step, trace or batch id that is taken, and the longest id of a participant (characters)."""

MAX_AGENT_LENGTH: Final = 1000
"""Longest name by which a recording knows an agent (characters)."""

MAX_URL_LENGTH = 2048

Id = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID_LENGTH)]
AgentName = Annotated[str, StringConstraints(min_length=1, max_length=MAX_AGENT_LENGTH)]
Url = Annotated[str, StringConstraints(max_length=MAX_URL_LENGTH)]

_TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}")
_SPAN_ID = re.compile(r"(?!0{16})[0-9a-f]{16}")


def new_trace_id() -> str:
    """A new trace id: 32 lower-case hex digits."""
    return uuid4().hex


def new_step_id() -> str:
    """A new step id: 16 lower-case hex digits, the form of a W3C span id."""
    return secrets.token_hex(8)


def traceparent(trace_id: str, step_id: str) -> str | None:
    """The W3C `traceparent` header for a step, sampled; None if the ids do not have that form.

    Source: W3C Trace Context, section 3.2 (version 00).
    """
    if _TRACE_ID.fullmatch(trace_id) and _SPAN_ID.fullmatch(step_id):
        return f"00-{trace_id}-{step_id}-01"
    return None


# The roster.

ParticipantId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.-]*$", max_length=64)]
"""The key in `participants`: no `/` (that names an agent inside a participant) and no `:` (a resolved stranger)."""

GREEN_AGENT: Final = "green-agent"
"""The assessor itself, as a reporter and a caller. It is never a node of the agent graph."""

UNKNOWN_AGENT: Final = "unknown"
"""A caller that no report names."""

RESERVED_IDS: Final = frozenset({GREEN_AGENT, UNKNOWN_AGENT})

DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class RosterEntry(BaseModel):
    """One declared agent: its id, its URL, its other URLs and names, and its role in the team."""

    model_config = ConfigDict(frozen=True)

    id: AgentName
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
    if parts.scheme.lower() not in DEFAULT_PORTS or host is None:
        return text
    scheme = parts.scheme.lower()
    netloc = f"[{host}]" if ":" in host else host
    if port is not None and port != DEFAULT_PORTS[scheme]:
        netloc = f"{netloc}:{port}"
    return _trimmed(f"{scheme}://{netloc}{parts.path}")


def _trimmed(text: str) -> str:
    """`text` without surrounding white space and trailing slashes, also where the two alternate at its end."""
    while (shorter := text.strip().rstrip("/")) != text:
        text = shorter
    return text
