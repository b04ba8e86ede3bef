"""Sources: lines and JSON values with their line numbers, and errors that name these."""

import json
from contextlib import suppress
from io import BytesIO
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.formats import FormatError, Source
from concord_evaluator.formats.inflating import MAGIC
from tests.kit.sources import source

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


def error_in(content: str | bytes) -> str:
    with pytest.raises(FormatError) as caught:
        list(source(content).json_values())
    return str(caught.value)


def test_lines_are_numbered_from_1_and_blank_lines_are_skipped() -> None:
    assert list(source("\n a \r\n\n\tb").lines()) == [(2, b"a"), (4, b"b")]


def test_lines_longer_than_the_head_are_read_whole() -> None:
    long = "x" * 5000
    assert list(source(f"{long}\n{long}\n").lines()) == [(1, long.encode()), (2, long.encode())]


@given(st.binary(max_size=40).filter(lambda content: content[:1] != MAGIC[:1]), st.lists(st.integers(0, 20)))
def test_binary_data_is_read_in_pieces_of_any_size(content: bytes, sizes: list[int]) -> None:
    expected, taken = BytesIO(content), list[int]()
    with patch.multiple("concord_evaluator.formats.source", HEAD_BYTES=8, _PIECE_BYTES=4):
        given = Source("file", BytesIO(content), taken.append)
        assert [given.data(size) for size in sizes] == [expected.read(size) for size in sizes]
        assert given.data() == expected.read()
    assert sum(taken) == len(content)


def test_a_byte_order_mark_is_skipped() -> None:
    assert list(source(b'\xef\xbb\xbf{"a": 1}').json_values()) == [(1, {"a": 1})]


@given(st.lists(st.dictionaries(st.text(max_size=5), json_values, max_size=3), min_size=1, max_size=4))
def test_json_lines_a_document_and_an_array_yield_the_same_values(values: list[object]) -> None:
    as_lines = "\n\n".join(map(json.dumps, values))
    assert [value for _, value in source(as_lines).json_values()] == values
    assert [value for _, value in source(json.dumps(values)).json_values()] == values
    assert [value for _, value in source(json.dumps(values, indent=1)).json_values()] == values


def test_values_have_the_number_of_their_line() -> None:
    assert list(source('{"a": 1}\n\n{"b": 2}').json_values()) == [(1, {"a": 1}), (3, {"b": 2})]


def test_a_document_of_many_lines_has_the_number_of_its_first_line() -> None:
    assert list(source('\n\n{\n"a": 1}').json_values()) == [(3, {"a": 1})]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ('{"a": 1}\n{"b": }\n', 2),
        ('{\n"a": 1,\n"b": \n}', 4),
        ("\n\n{\n'a'}", 4),
        (b'{"a": 1}\n{"b": "\xff"}', 2),
        ("[" * 100_000, 1),
    ],
)
def test_invalid_json_is_refused_with_its_line(content: str | bytes, line: int) -> None:
    assert error_in(content).startswith(f"file.json:{line}: invalid JSON: ")


@pytest.mark.parametrize("content", ["", " \n\n"])
def test_an_empty_source_is_refused(content: str) -> None:
    assert error_in(content) == "file.json: is empty"


def test_the_bytes_read_are_counted() -> None:
    content = b'{"a": 1}\n' * 1000
    counted: list[int] = []
    list(Source("file", BytesIO(content), counted.append).json_values())
    assert sum(counted) == len(content)


@given(st.binary(max_size=2000))
def test_any_bytes_are_json_or_refused(content: bytes) -> None:
    with suppress(FormatError):
        list(source(content).json_values())


@given(json_values, st.integers(0, 200))
def test_a_head_shows_the_keys_that_are_in_it(value: object, cut: int) -> None:
    written = json.dumps({"first": 1, "value": value})
    head = source(written[:1000]).head
    assert "first" in head.json_keys
    assert source(written[:cut]).head.json_keys <= {"first", "value"}
