"""The URLs at which participants reach each other through the gateway's proxy. Each contains its caller's token."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from concord.trust.redaction import REDACTED
from concord.wire.roster import RosterEntry

PROXY_PATH: Final = "/a2a"

_TOKEN_TO_COME: Final = "{token}"  # noqa: S105 - where a token will stand


def proxy_url(base: str, callee_id: str, token: str = REDACTED) -> str:
    """The proxy's URL of an agent, for the holder of `token`.

    Without a token, the form that is stored and compared; the proxy does not answer there.
    """
    return f"{base.rstrip('/')}{PROXY_PATH}/{token}/{quote(callee_id)}/"


def is_proxy_url(url: str) -> bool:
    """Whether a stored URL is a proxy URL."""
    return f"{PROXY_PATH}/{REDACTED}/" in url


def peers_scope(trace_id: str, seat: str) -> str:
    """The registry's scope with what a seat may see in one trial: itself and its neighbours."""
    return f"{trace_id}:{seat}"


def observed_peers(roster: Iterable[RosterEntry], base: str) -> list[RosterEntry]:
    """The roster that participants may see: functions, and URLs that `peers_for` completes."""
    return [
        RosterEntry(id=entry.id, url=proxy_url(base, entry.id, _TOKEN_TO_COME), functions=entry.functions)
        for entry in roster
    ]


def peers_for(entries: Iterable[RosterEntry], token: str) -> list[RosterEntry]:
    """The registered entries of an assessment, with the proxy URLs of the holder of `token`."""
    return [entry.model_copy(update={"url": entry.url.replace(_TOKEN_TO_COME, token)}) for entry in entries]
