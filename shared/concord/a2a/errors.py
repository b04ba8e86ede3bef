"""Why a call of an agent failed, in three errors for the many of the SDK and of HTTP."""

from typing import Final

import httpx
from a2a.client.errors import A2AClientTimeoutError
from a2a.utils.errors import A2AError

from concord.trust.urls import NoAddressError, UrlRefusedError

_PROXY_STATUS: Final = frozenset({502, 503, 504})
_FAULTS: Final = (A2AError, UrlRefusedError, httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, ExceptionGroup)
"""httpx raises the latter for a URL with an impossible host or port."""


class AgentUnreachableError(Exception):
    """The agent cannot be reached: no connection, or a gateway error from a proxy in between."""


class AgentTimeoutError(AgentUnreachableError):
    """The agent was reached, and did not answer in time."""


class RemoteError(Exception):
    """The agent answered with a protocol error or with something other than A2A."""


def fault_of(error: Exception) -> AgentUnreachableError | RemoteError:
    """The error to raise for one that the SDK or the HTTP client raised."""
    reason = str(error) or type(error).__name__
    if isinstance(error, A2AClientTimeoutError | httpx.ReadTimeout) or isinstance(error.__cause__, httpx.ReadTimeout):
        return AgentTimeoutError(reason)
    lost = (httpx.TransportError, httpx.InvalidURL, NoAddressError, OSError, ExceptionGroup)
    no_connection = isinstance(error, lost) or isinstance(error.__cause__, httpx.RequestError)
    if no_connection or getattr(error, "status_code", None) in _PROXY_STATUS:
        return AgentUnreachableError(reason)
    # The SDK raises many kinds of errors on malformed answers. All of them are the agent's failure, and nobody else's.
    return RemoteError(reason if isinstance(error, _FAULTS) else f"what it sent cannot be read: {type(error).__name__}")
