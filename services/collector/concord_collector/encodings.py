"""Content encodings: decompresses a request's body, up to a limit. gzip is read with ISA-L, in half of zlib's time."""

import sys
from collections.abc import Callable
from typing import Final, Protocol

from isal import isal_zlib

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_GZIP: Final = 31
"""zlib's window bits for a gzip header."""
_RESERVED: Final = 0xE0
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


class BadEncodingError(Exception):
    """The bytes are not what the content-encoding says; the message says why."""


class UnknownEncodingError(Exception):
    """The content-encoding is not supported; the message lists those that are."""


class InflatedTooLargeError(Exception):
    """The decompressed body exceeds the limit."""


def inflate(body: bytes, encoding: str, max_bytes: int) -> bytes:
    """The decompressed body. Raises UnknownEncodingError, BadEncodingError or InflatedTooLargeError."""
    decode = _DECODERS.get(encoding.strip().lower())
    if decode is None:
        raise UnknownEncodingError(f"send one of: {', '.join(_DECODERS)}")
    return decode(body, max_bytes)


def _identity(body: bytes, max_bytes: int) -> bytes:
    if len(body) > max_bytes:
        raise InflatedTooLargeError
    return body


def _gzip(body: bytes, max_bytes: int) -> bytes:
    if body[3:4] and body[3] & _RESERVED:
        raise BadEncodingError("the body does not match its content-encoding: reserved flags of gzip are set")
    return _decompress(isal_zlib.decompressobj(_GZIP), body, max_bytes)


def _zstd(body: bytes, max_bytes: int) -> bytes:
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _MAX_WINDOW_LOG}
    return _decompress(zstd.ZstdDecompressor(options=options), body, max_bytes)


def _decompress(inflater: _Inflater, body: bytes, max_bytes: int) -> bytes:
    try:
        # One byte above the limit tells a body that just fits from one that does not.
        inflated = inflater.decompress(body, max_bytes + 1)
    except (isal_zlib.error, zstd.ZstdError) as error:  # type: ignore[misc]  # its stub says the class is an instance
        raise BadEncodingError(f"the body does not match its content-encoding: {error}") from error
    if len(inflated) > max_bytes:
        raise InflatedTooLargeError
    if not inflater.eof:
        raise BadEncodingError("the compressed body is incomplete")
    if inflater.unused_data:
        raise BadEncodingError("there is data after the compressed body")
    return inflated


_DECODERS: Final[dict[str, Callable[[bytes, int], bytes]]] = {"identity": _identity, "gzip": _gzip, "zstd": _zstd}
