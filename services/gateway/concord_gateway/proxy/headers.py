"""Headers: what passes through the proxy in either direction, and what is its own business."""

from collections.abc import Iterable, Mapping
from typing import Final

from concord.agent.extensions import TRACEPARENT_KEY

Header = tuple[bytes, bytes]

_HOP_BY_HOP: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""RFC 9110, section 7.6.1, and those that were in use before it."""

_OURS_ON_THE_WAY_OUT: Final = _HOP_BY_HOP | {b"host", b"content-length", b"accept-encoding", b"cookie", b"expect"}
_OURS_ON_THE_WAY_BACK: Final = _HOP_BY_HOP | {b"content-length", b"date", b"server", b"location", b"set-cookie"}
"""A redirection would lead past the proxy, and a cookie would be the gateway's, not one agent's."""


def to_callee(headers: Iterable[Header], token: str, traceparent: str | None) -> list[Header]:
    """The caller's headers for its callee: none that holds the caller's token, and a trace context in any case.

    The answer is to come uncompressed, so that it can be read while it passes.
    """
    secret = token.encode()
    kept = [(name, value) for name, value in headers if name not in _OURS_ON_THE_WAY_OUT and secret not in value]
    kept.append((b"accept-encoding", b"identity"))
    if traceparent is not None and all(name != TRACEPARENT_KEY.encode() for name, _ in kept):
        kept.append((TRACEPARENT_KEY.encode(), traceparent.encode()))
    return kept


def to_caller(headers: Iterable[Header]) -> list[Header]:
    """The callee's headers for its caller."""
    lowered = ((name.lower(), value) for name, value in headers)
    return [(name, value) for name, value in lowered if name not in _OURS_ON_THE_WAY_BACK]


def named(headers: Iterable[Header]) -> Mapping[str, str]:
    """Headers by their lower-case names; the last one of a name."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}
