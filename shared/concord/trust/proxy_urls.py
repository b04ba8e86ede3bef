"""Where participants reach each other while they are observed: through the gateway, which knows each by its token."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from concord.assessment.roster import RosterEntry
from concord.trust.redaction import REDACTED

PROXY_PATH: Final = "/a2a"

_TOKEN_TO_COME: Final = "{token}"  # noqa: S105 - where a token will stand


def proxy_url(base: str, callee_id: str, token: str = REDACTED) -> str:
    """The address of an agent behind the gateway at `base`, for the holder of `token`.

    Without one it is the address as it is kept and compared: no token in it, and nobody answers there.
    """
    return f"{base.rstrip('/')}{PROXY_PATH}/{token}/{quote(callee_id, safe='')}/"


def is_proxy_url(url: str) -> bool:
    """Whether an address, as it is kept, is one at a proxy."""
    return f"{PROXY_PATH}/{REDACTED}/" in url


def observed_peers(roster: Iterable[RosterEntry], base: str) -> list[RosterEntry]:
    """The roster as its members may know it: who does what, and an address that `peers_for` completes."""
    return [
        RosterEntry(id=entry.id, url=proxy_url(base, entry.id, _TOKEN_TO_COME), functions=entry.functions)
        for entry in roster
    ]


def peers_for(entries: Iterable[RosterEntry], token: str) -> list[RosterEntry]:
    """The registered entries of an assessment for the holder of `token`: a caller has its own address of each peer."""
    return [entry.model_copy(update={"url": entry.url.replace(_TOKEN_TO_COME, token)}) for entry in entries]
