"""Admission of reports: who sends one, whether there is room for it, and what its body holds."""

import asyncio
import logging
import math
import sys
from collections.abc import AsyncIterable, AsyncIterator, Collection
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from aiolimiter import AsyncLimiter
from cachetools import FIFOCache, LRUCache
from fastapi import HTTPException, Request, Response
from fastapi.responses import JSONResponse
from isal import isal_zlib

from concord.errors import StorageUnavailableError
from concord.storage import OPEN_SCOPE, AgentRegistry, MemoryUse
from concord.storage.connection import Storage
from concord.trust.tokens import Claims, ClosedTrials, TokenKeys, TokenRejectedError
from concord_collector.metrics import Metrics, measure

logger = logging.getLogger(__name__)

# HTTP error responses that several endpoints share, with the time after which to retry.

STORAGE_RETRY_AFTER_S: Final = 1
"""While Redis is unavailable: a restart takes about as long."""


ERROR_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    400: {"description": "Final: the request cannot be parsed, or holds a value that is not allowed."},
    401: {"description": "Final: the token is missing, invalid or expired."},
    403: {"description": "Final: the token is for something else, or its trial is closed."},
    413: {"description": "Final: the body is too large."},
    415: {"description": "Final: the content type or encoding is not supported."},
    429: {"description": "Retry later: this caller exceeds its share. Retry-After says when."},
    503: {"description": "Retry later: storage is full or unavailable. Retry-After says when."},
}
"""By status, for the OpenAPI document."""


async def storage_unavailable(_: Request, error: Exception) -> Response:
    """503 from any endpoint: the client may send the same request again."""
    logger.warning("a request could not be answered: %s", error)
    return JSONResponse({"detail": "storage is away"}, 503, {"Retry-After": str(STORAGE_RETRY_AFTER_S)})


def trial_closed() -> HTTPException:
    """403: a token expires when its trial closes."""
    return HTTPException(403, "the trial is closed, and its tokens with it")


def too_many_requests(message: str, after_s: float) -> HTTPException:
    """429: this caller exceeds its share, and may retry after so many seconds."""
    return HTTPException(429, message, {"Retry-After": str(max(1, math.ceil(after_s)))})


# Who sends a request: the participant that its token names or, where the collector is open, an address.

_MAX_KNOWN_TRACES: Final = 4096
WHERE_TOKENS_ARE: Final = (
    "a token is required, as `Authorization: Bearer TOKEN`: in an assessment, each message to a participant has the "
    "participant's own in its metadata, in the assignment; without one, start the collector with CONCORD_OPEN=1"
)
_CHALLENGE: Final = {"WWW-Authenticate": "Bearer"}


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request. Rate limits count it under `name`; `claims` are its token's, None without a token."""

    name: str
    claims: Claims | None = None
    token: str | None = field(default=None, repr=False)


class Authenticator:
    """Authenticates callers by bearer token. `allow_anonymous`: a caller without a token is let in."""

    def __init__(
        self, token_keys: TokenKeys, closed: ClosedTrials, registry: AgentRegistry, *, allow_anonymous: bool
    ) -> None:
        self._token_keys = token_keys
        self._registry = registry
        self._known_traces: FIFOCache[str, None] = FIFOCache(_MAX_KNOWN_TRACES)
        """Traces of which this process knows every participant's token, and so redacts it from all bodies."""
        self._closed = closed
        self._allow_anonymous = allow_anonymous

    async def authenticate(self, request: Request) -> Caller:
        """The sender of a request. Raises 401 for a token that is missing, invalid or expired."""
        header = request.headers.get("authorization")
        if header is None:
            if not self._allow_anonymous:
                raise HTTPException(401, WHERE_TOKENS_ARE, _CHALLENGE)
            return Caller(_client_address(request))
        scheme, _, rest = header.partition(" ")
        token = rest.strip()
        if scheme.lower() != "bearer":
            raise HTTPException(401, "send the token as Bearer", _CHALLENGE)
        try:
            claims = await self._token_keys.verify(token)
            await self._learn_team_tokens(claims)
        except TokenRejectedError as error:
            raise HTTPException(401, str(error), _CHALLENGE) from error
        return Caller(f"participant {claims.assessment_id}/{claims.agent_id}", claims, token)

    async def authenticate_in_open_trial(self, request: Request) -> Caller:
        """As `authenticate`. Raises 403, too, for the token of a closed trial."""
        caller = await self.authenticate(request)
        if caller.claims is not None and await self._closed.is_closed(caller.claims.trace_id):
            raise trial_closed()
        return caller

    async def _learn_team_tokens(self, claims: Claims) -> None:
        """Issues the tokens of the caller's whole team again, so that redaction knows them.

        They have the same claims as the caller's token, but for the agent's id.
        """
        if claims.trace_id in self._known_traces or claims.assessment_id == OPEN_SCOPE:
            return
        issuer = await self._token_keys.issuer()
        for entry in await self._registry.agents(claims.assessment_id):
            issuer.issue(replace(claims, agent_id=entry.id))
        self._known_traces[claims.trace_id] = None


def _client_address(request: Request) -> str:
    """The name of a caller without a token."""
    return f"address {request.client.host if request.client is not None else 'unknown'}"


# Rate limits per caller. (The quotas of a trace are in `concord.storage`.)

_MAX_CALLERS: Final = 10_000


class RateLimiter:
    """A leaky bucket for each caller, in this process alone: several collectors do not share buckets.

    A bucket holds what leaks in `burst_s` seconds. Beyond ten thousand callers, the least recently seen is forgotten.
    """

    def __init__(self, per_s: float, burst_s: float) -> None:
        self._per_s = per_s
        self._burst_s = burst_s
        self._buckets: LRUCache[str, AsyncLimiter] = LRUCache(_MAX_CALLERS)

    def wait_s(self, caller: str, amount: float) -> float:
        """After how many seconds the caller may send this amount; 0: now. Takes nothing from the bucket."""
        amount = min(amount, self._per_s * self._burst_s)
        return 0.0 if self._bucket(caller).has_capacity(amount) else amount / self._per_s

    async def take(self, caller: str, amount: float) -> float:
        """As `wait_s`, and takes the amount if the result is 0."""
        wait_s = self.wait_s(caller, amount)
        if wait_s == 0.0:
            await self._bucket(caller).acquire(min(amount, self._per_s * self._burst_s))
        return wait_s

    def _bucket(self, caller: str) -> AsyncLimiter:
        bucket = self._buckets.get(caller)
        if bucket is None:
            bucket = self._buckets[caller] = AsyncLimiter(self._per_s * self._burst_s, self._burst_s)
        return bucket


# Content encodings: decompresses a request's body, up to a limit. gzip is read with ISA-L, in half of zlib's time.

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_IDENTITY, GZIP, _ZSTD = "identity", "gzip", "zstd"
_GZIP_BITS: Final = 31
"""zlib's window bits for a gzip header."""
_TRAILING: Final = "there is data after the compressed body"
_FLAGS_AT, _RESERVED = 3, 0xE0
"""The flags in the fourth byte of a gzip header that a decoder must refuse (RFC 1952, section 2.3.1.2). ISA-L takes
them, and zlib, which reads stored bodies, does not."""
_MAX_WINDOW_LOG: Final = 23
"""8 MiB: what every decoder should support (RFC 8878, section 3.1.1.1.2), and the most memory a frame may claim."""


class _Inflater(Protocol):
    """The interface that zlib's and zstd's decompressors share."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...


async def inflate(pieces: AsyncIterable[bytes], encoding: str, max_bytes: int) -> bytes:
    """The body that arrives in pieces, each decompressed as it comes.

    Raises 400 if it is not in its encoding, 413 once it is larger, 415 for other encodings.
    """
    inflater = _inflater(encoding)
    inflated: list[bytes] = []
    left, position = max_bytes, 0
    async for piece in pieces:
        if inflater is not None and piece:
            _check_flags(encoding, piece, position)
            position += len(piece)
            # One byte above the limit tells a body that just fits from one that does not.
            piece = _decompressed(inflater, piece, left + 1)
        left -= len(piece)
        if left < 0:
            raise HTTPException(413, "the body is too large")
        inflated.append(piece)
    if inflater is not None and not inflater.eof:
        raise HTTPException(400, "the compressed body is incomplete")
    return b"".join(inflated)


def _inflater(encoding: str) -> _Inflater | None:
    if encoding == _IDENTITY:
        return None
    if encoding == GZIP:
        return isal_zlib.decompressobj(_GZIP_BITS)
    if encoding == _ZSTD:
        return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _MAX_WINDOW_LOG})
    raise HTTPException(415, f"send one of: {_IDENTITY}, {GZIP}, {_ZSTD}")


def _check_flags(encoding: str, piece: bytes, position: int) -> None:
    """Raises 400 for reserved flags in the header of gzip. `position`: of the piece in the body."""
    if encoding == GZIP and position <= _FLAGS_AT < position + len(piece) and piece[_FLAGS_AT - position] & _RESERVED:
        raise HTTPException(400, "the body does not match its content-encoding: reserved flags of gzip are set")


def _decompressed(inflater: _Inflater, piece: bytes, max_bytes: int) -> bytes:
    if inflater.eof:
        raise HTTPException(400, _TRAILING)
    try:
        inflated = inflater.decompress(piece, max_bytes)
    except (isal_zlib.error, zstd.ZstdError) as error:  # type: ignore[misc]  # its stub says the class is an instance
        raise HTTPException(400, f"the body does not match its content-encoding: {error}") from error
    if inflater.unused_data and len(inflated) < max_bytes:
        raise HTTPException(400, _TRAILING)
    return inflated


# Back-pressure: the collector refuses reports while Redis uses more memory than its watermark allows.

_POLL_INTERVAL_S: Final = 1.0
_RETRY_AFTER_S: Final = 5
"""Memory becomes free when traces expire or evaluations end, which takes longer than a Redis restart."""


class OverWatermarkError(Exception):
    """Redis uses more memory than its watermark allows."""


class Backpressure:
    """Refuses reports while Redis is over its watermark, before Redis itself has to.

    `memory_bytes`: what Redis may use, beside its own `maxmemory`; `watermark`: the share of the smaller of the two.
    """

    def __init__(self, storage: Storage, metrics: Metrics, *, memory_bytes: int | None, watermark: float) -> None:
        self._storage = storage
        self._metrics = metrics
        self._memory_bytes = memory_bytes
        self._watermark = watermark
        self._over_watermark = False

    async def poll(self) -> None:
        """Measures Redis once a second until cancelled."""
        while True:
            await asyncio.sleep(_POLL_INTERVAL_S)
            await self.measure()

    async def measure(self) -> None:
        """Measures Redis, for the next requests and for the metrics."""
        try:
            state = await measure(self._storage, self._memory_bytes)
        except StorageUnavailableError as error:
            self._metrics.storage.state = None
            logger.warning("cannot read the memory usage of Redis: %s", error)
            return
        self._metrics.storage.state = state
        self._over_watermark = self._is_over_watermark(MemoryUse(state.memory_used, state.memory_limit))

    async def check_readiness(self) -> None:
        """Measures Redis now. Raises StorageUnavailableError, or OverWatermarkError."""
        if self._is_over_watermark(await self._storage.memory()):
            raise OverWatermarkError

    def check(self) -> None:
        """Raises 503 if Redis was over its watermark when it was last measured."""
        if self._over_watermark:
            raise HTTPException(503, "storage is full", {"Retry-After": str(_RETRY_AFTER_S)})

    def _is_over_watermark(self, use: MemoryUse) -> bool:
        limits = [limit for limit in (use.limit, self._memory_bytes) if limit is not None]
        return bool(limits) and use.used >= self._watermark * min(limits)


# Admission: everything that refuses a report before its body is parsed.

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
    ) -> None:
        self._authenticator = authenticator
        self._backpressure = backpressure
        self._rate_limiter = rate_limiter
        self._metrics = metrics

    async def admit(self, request: Request, content_types: Collection[str], max_bytes: int) -> AdmittedRequest:
        """Checks a request and reads its body, of at most so many bytes decompressed.

        Raises 400, 401, 413, 415, and 429 or 503 with Retry-After.
        """
        caller = await self._authenticator.authenticate(request)
        self._backpressure.check()
        _check_rate(self._rate_limiter.wait_s(caller.name, _MIN_COST))
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type not in content_types:
            raise HTTPException(415, f"send {' or '.join(content_types)}")
        encoding = request.headers.get("content-encoding", _IDENTITY).strip().lower()
        sent: list[bytes] = []

        async def pieces() -> AsyncIterator[bytes]:
            async for piece in request.stream():
                self._metrics.wire_bytes.inc(len(piece))
                if encoding == GZIP:
                    sent.append(piece)
                yield piece

        body = await inflate(pieces(), encoding, max_bytes)
        _check_rate(await self._rate_limiter.take(caller.name, max(_MIN_COST, len(body))))
        return AdmittedRequest(caller, content_type, body, b"".join(sent) or None)


def _check_rate(wait_s: float) -> None:
    if wait_s > 0:
        raise too_many_requests("the participant exceeded its rate limit", wait_s)
