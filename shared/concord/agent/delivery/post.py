"""One attempt to send a batch, and its outcome."""

import zlib
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

import httpx

from concord.agent.delivery.backlog import Batch

_TRY_AGAIN: Final = frozenset({429, 502, 503, 504})
_MAX_RETRY_AFTER_S: Final = 30.0
_GZIP: Final = 31
"""zlib's window bits for a gzip header."""


class Reception(Enum):
    """What became of a batch."""

    TAKEN = auto()
    REFUSED = auto()
    TRY_AGAIN = auto()


@dataclass(frozen=True, slots=True)
class CollectorAnswer:
    """The reception of a batch, its reason, and the delay that the collector asked for (seconds)."""

    reception: Reception
    reason: str = ""
    retry_after_s: float = 0.0


def post(http: httpx.Client, url: str, batch: Batch, timeout_s: float) -> CollectorAnswer:
    """Sends a batch once. Never raises."""
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    if batch.sender.token is not None:
        headers["authorization"] = f"Bearer {batch.sender.token}"
    try:
        response = http.post(url, content=_compressed(batch.body), headers=headers, timeout=timeout_s)
    except httpx.TransportError as error:
        return CollectorAnswer(Reception.TRY_AGAIN, f"{type(error).__name__}: {error}")
    except Exception as error:
        return CollectorAnswer(Reception.REFUSED, f"{type(error).__name__}: {error}")
    if response.is_success:
        return CollectorAnswer(Reception.TAKEN)
    again = response.status_code in _TRY_AGAIN
    reason = f"HTTP {response.status_code}"
    return CollectorAnswer(Reception.TRY_AGAIN if again else Reception.REFUSED, reason, _retry_after_s(response))


def suppress_instrumentation() -> None:
    """Keeps the agent's OpenTelemetry instrumentation from tracing this request."""
    try:
        from opentelemetry.context import attach, set_value
    except ImportError:
        return
    attach(set_value("suppress_instrumentation", True))


def _compressed(body: bytes) -> bytes:
    compressor = zlib.compressobj(1, zlib.DEFLATED, _GZIP)
    return compressor.compress(body) + compressor.flush()


def _retry_after_s(response: httpx.Response) -> float:
    """The header's number of seconds. HTTP dates are ignored: collectors send none."""
    try:
        asked = float(response.headers.get("retry-after", "0"))
    except ValueError:
        return 0.0
    return min(_MAX_RETRY_AFTER_S, max(0.0, asked))
