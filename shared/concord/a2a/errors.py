"""Why a call of an agent failed, in three errors for the many of HTTP, each with a sentence for people."""

import time
from email.utils import parsedate_to_datetime
from typing import Final

import httpx

from concord.trust.urls import NoAddressError, UrlRefusedError

LONGEST_WAIT_S: Final = 10.0
"""The longest `Retry-After` that is waited for."""

_FROM_A_PROXY: Final = frozenset({502, 503, 504})
_BUSY: Final = frozenset({429, 503})
_SHOWN: Final = 200
"""Characters of an answer that an error quotes."""


class AgentFaultError(Exception):
    """A call failed. `again_after_s`: seconds after which the same message may be sent once more, None if never.

    `may_have_acted`: whether the agent may have begun to work on the message.
    """

    again_after_s: float | None = None
    may_have_acted = False
    wants_credential = False
    """Whether the agent asks its callers for a credential that it was not shown."""


class AgentUnreachableError(AgentFaultError):
    """The agent cannot be reached: no connection, or a gateway error from a proxy in between."""


class AgentTimeoutError(AgentUnreachableError):
    """The agent was reached, and did not answer in time."""


class RemoteError(AgentFaultError):
    """The agent answered with an error, or with something other than A2A."""


def fault_of(error: Exception) -> AgentFaultError:
    """The error to raise for one that the HTTP client raised."""
    reason = str(error) or type(error).__name__
    if isinstance(error, httpx.ReadTimeout | httpx.WriteTimeout | httpx.PoolTimeout):
        return AgentTimeoutError("it did not answer in time")
    if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError):
        dropped = AgentUnreachableError(f"it closed the connection before it had answered ({reason})")
        dropped.again_after_s, dropped.may_have_acted = 0.0, True
        return dropped
    if isinstance(error, httpx.TransportError | httpx.InvalidURL | NoAddressError | OSError | ExceptionGroup):
        return AgentUnreachableError(reason)  # httpx raises the last for a URL with an impossible host or port
    if isinstance(error, UrlRefusedError | ValueError):
        return RemoteError(reason)
    return RemoteError(f"what it sent cannot be read ({type(error).__name__})")


def status_fault(response: httpx.Response, body: bytes) -> AgentFaultError:
    """The error for an HTTP status other than success. `body`: what was read of the answer."""
    said = " ".join(body[: 4 * _SHOWN].decode(errors="replace").split())[:_SHOWN]
    reason = f"it answered HTTP {response.status_code}" + (f": {said}" if said else "")
    wait_s = retry_after_s(response) if response.status_code in _BUSY else None
    if wait_s is not None and wait_s > LONGEST_WAIT_S:
        reason += f" (it asks to wait {wait_s:.0f} s, and at most {LONGEST_WAIT_S:.0f} s are waited)"
    fault = AgentUnreachableError(reason) if response.status_code in _FROM_A_PROXY else RemoteError(reason)
    if wait_s is not None and wait_s <= LONGEST_WAIT_S:
        fault.again_after_s = wait_s
    fault.wants_credential = response.status_code in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}
    if response.status_code == httpx.codes.INTERNAL_SERVER_ERROR:
        fault.again_after_s, fault.may_have_acted = 0.0, True
    return fault


def retry_after_s(response: httpx.Response) -> float | None:
    """The seconds that a response asks to wait (RFC 9110, section 10.2.3), None if it does not say."""
    value = response.headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        until = parsedate_to_datetime(value).timestamp()
        sent = response.headers.get("date")
        now = parsedate_to_datetime(sent).timestamp() if sent else time.time()
    except (ValueError, OverflowError):
        return None
    return max(0.0, until - now)
