"""Bodies of stored batches: what ISA-L unpacks is what zlib does, and a broken one is an error of zlib."""

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.trace.report import unpack
from concord_evaluator.trace.chunks import unpacked

PACKED = st.binary(max_size=300).flatmap(lambda body: st.sampled_from([zlib.compress(body, 1), gzip.compress(body)]))


@given(PACKED)
def test_a_body_is_unpacked_as_zlib_does(packed: bytes) -> None:
    assert unpacked(packed) == unpack(packed)


@given(PACKED, st.integers(1, 8))
def test_a_cut_body_is_an_error(packed: bytes, missing: int) -> None:
    with pytest.raises(zlib.error):
        unpacked(packed[:-missing])
