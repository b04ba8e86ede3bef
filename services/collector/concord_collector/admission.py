"""Admission of reports: token, back-pressure, rate limit, content type and size, before a body is parsed."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from fastapi import HTTPException, Request

from concord_collector.authentication import Authenticator, Caller
from concord_collector.backpressure import Backpressure
from concord_collector.encodings import BadEncodingError, InflatedTooLargeError, UnknownEncodingError, inflate
from concord_collector.http_errors import too_many_requests
from concord_collector.metrics import Metrics
from concord_collector.rate_limits import RateLimiter

_MIN_COST: Final = 4096
"""The least that a request counts for (bytes): to handle a small one costs about as much."""


@dataclass(frozen=True, slots=True)
class AdmittedRequest:
    """A request that was admitted. `body` is decompressed; `gzipped`: the body as sent, if that is gzip."""

    caller: Caller
    content_type: str
    body: bytes
    gzipped: bytes | None


class Admission:
    """Admits requests. The cheapest checks come first, so that a refusal costs little."""

    def __init__(
        self,
        authenticator: Authenticator,
        backpressure: Backpressure,
        rate_limiter: RateLimiter,
        metrics: Metrics,
        *,
        max_inflated_bytes: int,
    ) -> None:
        self._authenticator = authenticator
        self._backpressure = backpressure
        self._rate_limiter = rate_limiter
        self._metrics = metrics
        self._max_inflated_bytes = max_inflated_bytes

    async def admit(self, request: Request, content_types: Collection[str]) -> AdmittedRequest:
        """Checks a request and reads its body. Raises 400, 401, 413, 415, and 429 or 503 with Retry-After."""
        caller = await self._authenticator.authenticate(request)
        self._backpressure.check()
        _check_rate(self._rate_limiter.wait_s(caller.name, _MIN_COST))
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type not in content_types:
            raise HTTPException(415, f"send {' or '.join(content_types)}")
        sent = await request.body()
        self._metrics.wire_bytes.inc(len(sent))
        encoding = request.headers.get("content-encoding", "identity")
        body = self._inflate(sent, encoding)
        _check_rate(await self._rate_limiter.take(caller.name, max(_MIN_COST, len(body))))
        return AdmittedRequest(caller, content_type, body, sent if encoding.strip().lower() == "gzip" else None)

    def _inflate(self, sent: bytes, encoding: str) -> bytes:
        try:
            return inflate(sent, encoding, self._max_inflated_bytes)
        except UnknownEncodingError as error:
            raise HTTPException(415, str(error)) from error
        except InflatedTooLargeError as error:
            raise HTTPException(413, "the body is too large") from error
        except BadEncodingError as error:
            raise HTTPException(400, str(error)) from error


def _check_rate(wait_s: float) -> None:
    if wait_s > 0:
        raise too_many_requests("the participant exceeded its rate limit", wait_s)
