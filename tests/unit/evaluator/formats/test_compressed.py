"""Compressed files: each reads like its content, and a damaged one is refused."""

import gzip
from collections.abc import Callable
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.formats import FormatError, Source, inflating, recognise
from tests.kit.sources import refusal, source
from tests.unit.evaluator.formats.test_registry import EXAMPLES


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_compressed_file_is_recognised_by_its_content(name: str) -> None:
    assert {recognise(source(gzip.compress(content.encode()), "x.gz")) for content in EXAMPLES[name]} == {name}


@given(content=st.binary(max_size=3000), level=st.integers(1, 9))
def test_a_compressed_file_has_the_lines_and_the_bytes_of_its_content(content: bytes, level: int) -> None:
    plain, packed = content.lstrip(inflating.MAGIC), gzip.compress(content.lstrip(inflating.MAGIC), level)
    assert list(source(packed).lines()) == list(source(plain).lines())
    assert source(packed).data() == plain


def test_the_name_of_a_compressed_file_is_that_of_its_content() -> None:
    packed = source(gzip.compress(b"x"), "runs/team.jsonl.gz")
    assert (packed.stem, packed.head.filename, packed.name) == ("team", "team.jsonl", "runs/team.jsonl.gz")


def test_the_progress_counts_the_bytes_that_are_in_the_file() -> None:
    packed, read = gzip.compress(b"line\n" * 100_000), list[int]()
    assert len(list(Source("x.gz", BytesIO(packed), read.append).lines())) == 100_000
    assert sum(read) == len(packed)


@pytest.mark.parametrize("spoil", [lambda packed: packed[:-9], lambda packed: packed[:40] + b"\xff" * 9 + packed[49:]])
def test_damaged_data_is_refused(spoil: Callable[[bytes], bytes]) -> None:
    packed = gzip.compress(b"".join(b'{"trace": %d}\n' % n for n in range(300_000)))
    with pytest.raises(FormatError, match=r"^file\.json: the compressed data is damaged"):
        list(source(spoil(packed)).lines())


def test_data_that_inflates_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inflating, "MAX_INFLATED", 1 << 20)
    bomb = gzip.compress(bytes(4 << 20))
    assert "inflates to more than" in refusal(bomb, "otlp", "x.gz")


def test_data_that_grows_as_no_trace_does_is_refused_unless_it_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = gzip.compress(bytes(4 << 20))
    assert len(source(bomb).data()) == 4 << 20
    monkeypatch.setattr(inflating, "SMALL", 1 << 20)
    assert "inflates to more than 250 times its size" in refusal(bomb, "otlp", "x.gz")
