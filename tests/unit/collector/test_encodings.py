"""Content encodings: decompression restores the body, whatever pieces it arrives in, and never exceeds its limit."""

import asyncio
import gzip
import sys
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import pytest
from fastapi import HTTPException
from hypothesis import example, given
from hypothesis import strategies as st

from concord_collector import admission

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

COMPRESS: dict[str, Callable[[bytes], bytes]] = {"identity": bytes, "gzip": gzip.compress, "zstd": zstd.compress}
ENCODINGS = pytest.mark.parametrize("encoding", COMPRESS)


def inflate(body: bytes, encoding: str, limit: int, piece: int = 7) -> bytes:
    """The decompressed body, which arrives in pieces of so many bytes."""

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), piece):
            yield body[start : start + piece]
        yield b""

    return asyncio.run(admission.inflate(pieces(), encoding, limit))


def refused(body: bytes, encoding: str, limit: int = 1000, *, says: str = "") -> int:
    """The status with which a body is refused, for a reason that says this."""
    with pytest.raises(HTTPException) as refusal:
        inflate(body, encoding, limit)
    assert says in refusal.value.detail
    return refusal.value.status_code


@ENCODINGS
@given(body=st.binary(max_size=2000), piece=st.integers(1, 3000))
def test_decompression_restores_the_body(encoding: str, body: bytes, piece: int) -> None:
    assert inflate(COMPRESS[encoding](body), encoding, len(body), piece) == body


@ENCODINGS
@given(body=st.binary(min_size=1, max_size=2000))
def test_a_body_one_byte_over_the_limit_is_refused(encoding: str, body: bytes) -> None:
    assert refused(COMPRESS[encoding](body), encoding, len(body) - 1) == 413


@ENCODINGS
@given(body=st.binary(max_size=200))
def test_arbitrary_bytes_are_decompressed_within_the_limit_or_refused(encoding: str, body: bytes) -> None:
    with suppress(HTTPException):
        assert len(inflate(body, encoding, 1000)) <= 1000


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_decompression_bomb_is_refused_in_little_memory(encoding: str) -> None:
    bomb = COMPRESS[encoding](b"\0" * 200_000_000)
    assert len(bomb) < 250_000
    tracemalloc.start()
    try:
        assert refused(bomb, encoding, 1_000_000) == 413
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_zstd_window_that_needs_much_memory_is_refused() -> None:
    compressor = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 27})
    wide = compressor.compress(b"x" * 1000) + compressor.flush()
    assert refused(wide, "zstd", 10_000) == 400


@pytest.mark.parametrize(
    "body",
    [gzip.compress(b"a" * 99)[:-4], gzip.compress(b"a") + gzip.compress(b"b"), zlib.compress(b"a"), b""],
    ids=["truncated", "two members", "zlib", "empty"],
)
def test_gzip_that_is_truncated_concatenated_or_invalid_is_refused(body: bytes) -> None:
    assert refused(body, "gzip") == 400


@given(st.binary(max_size=60), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 255)), max_size=2))
@example(b"", [(3, 0x20)])
def test_gzip_is_read_exactly_where_zlib_reads_it(body: bytes, changes: list[tuple[int, int]]) -> None:
    """Bodies are stored as they came, and read with zlib later."""
    sent = bytearray(gzip.compress(body, mtime=0))
    for at, value in changes:
        sent[at % len(sent)] = value
    expected = zlib.decompressobj(31)
    try:
        text = expected.decompress(sent)
    except zlib.error:
        text = None
    if text is not None and expected.eof and not expected.unused_data:
        assert inflate(bytes(sent), "gzip", 1000) == text
    else:
        assert refused(bytes(sent), "gzip") in (400, 413)


@pytest.mark.parametrize(
    "body",
    [zstd.compress(b"a" * 99)[:-4], zstd.compress(b"a") * 2, b"(\xb5/\xfd", b"plain", b""],
    ids=["truncated", "two frames", "header only", "plain text", "empty"],
)
def test_zstd_that_is_truncated_concatenated_or_invalid_is_refused(body: bytes) -> None:
    assert refused(body, "zstd") == 400


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, gzip", ""])
def test_an_unknown_encoding_is_refused_with_the_known_ones(encoding: str) -> None:
    assert refused(b"", encoding, says="gzip") == 415
