"""Spans beside their steps and in OTLP/JSON: both forms return the same span."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from concord.trace.otlp import (
    STORED,
    Span,
    as_attributes,
    as_export,
    internals_of,
    parents_as_attributes,
    span_of,
    spans_in,
    to_step,
)
from concord.trace.otlp.content import NOTHING, Content
from concord.trace.otlp.content.names import NAMES
from concord.trace.otlp.genai import ATTRIBUTES, CONTENT
from concord.trace.otlp.stored_span import LINKS, MAX_PIECES
from concord.trust.redaction import TOKEN_PREFIX

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
NUMBERS = st.integers(0, 2**63 - 1)
VALUES = st.one_of(TEXT, st.booleans(), NUMBERS, st.floats(allow_nan=False, allow_infinity=False))
SPANS = st.builds(
    Span,
    trace_id=st.just("5b8efff798038103d269b633813fc60c"),
    span_id=st.just("eee19b7ec3c1b174"),
    parent_id=st.sampled_from(["", "a" * 16]),
    name=TEXT,
    scope=TEXT,
    service=TEXT,
    start_ns=st.integers(1, 4_000_000_000_000_000_000),
    end_ns=st.integers(1, 4_000_000_000_000_000_000),
    client=st.booleans(),
    failed=st.booleans(),
    message=TEXT,
    attributes=st.dictionaries(st.sampled_from(sorted(ATTRIBUTES - NAMES - {CONTENT})), VALUES, max_size=5),
    content=st.builds(Content, TEXT.map("asked {}".format), TEXT, st.integers(-1, 2**48 - 1), TEXT, TEXT)
    | st.just(NOTHING),
)


def stored(span: Span) -> Span | None:
    step = to_step(span)
    return span_of(changed(step, additional_attributes=as_attributes(span)))


def span(**fields: Any) -> Span:  # noqa: ANN401 - any field
    known: dict[str, Any] = {
        "trace_id": "5b8efff798038103d269b633813fc60c", "span_id": "eee19b7ec3c1b174", "parent_id": "", "name": "work",
        "scope": "", "service": "", "start_ns": 1, "end_ns": 2, "client": False, "failed": False, "message": "",
        "attributes": {},
    }  # fmt: skip
    return Span(**known | fields)


@given(SPANS)
def test_a_stored_span_is_the_span(one: Span) -> None:
    assert stored(one) == one


@given(SPANS)
def test_a_span_written_as_otlp_json_is_read_as_it_was(one: Span) -> None:
    assert list(spans_in(as_export([one]))) == [one]


def test_a_long_attribute_is_stored_whole_in_pieces() -> None:
    long = span(attributes={"metadata": '{"thread_id": "' + "x" * 100_000 + '"}'})
    assert stored(long) == long
    assert all(len(piece) <= 8192 for piece in as_attributes(long).values())


def test_a_span_that_is_too_long_is_not_stored() -> None:
    assert as_attributes(span(attributes={"metadata": "x" * 8000 * (MAX_PIECES + 1)})) == {}


@pytest.mark.parametrize("text", ["", "[", "[1]", '["a","b","c","x","y",1,1,"","",{}]', "{}"])
def test_attributes_without_a_span_result_in_none(text: str) -> None:
    step = to_step(span())
    assert span_of(changed(step, additional_attributes={f"{STORED}0": text})) is None


def test_no_token_hides_between_two_pieces() -> None:
    token = f"{TOKEN_PREFIX}eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ3cml0ZXIifQ.{'x' * 43}"
    for before in range(7700, 8000, 20):
        kept = as_attributes(span(attributes={"metadata": f"{'y' * before}/a2a/{token}/critic/"}))
        assert len(kept) == 1 or token not in "".join(kept.values())


@given(st.dictionaries(st.sampled_from([f"{n:016x}" for n in range(9)]), st.sampled_from(["", "f" * 16]), max_size=9))
def test_the_parents_of_internal_spans_are_stored_with_the_step_of_one(parents: dict[str, str]) -> None:
    carrier = span(scope="a2a-python-sdk", parent_id="b" * 16)
    others = [span(scope="a2a-python-sdk", span_id=each, parent_id=parent) for each, parent in parents.items()]
    step = changed(to_step(carrier), additional_attributes=as_attributes(carrier) | parents_as_attributes(others))
    assert span_of(step) == carrier
    assert {each.span_id: each.parent_id for each in internals_of(step)} == parents
    assert all(each.internal for each in internals_of(step))


@pytest.mark.parametrize("written", ["[", "[]", "7", '{"a": 1}'])
def test_parents_that_cannot_be_read_are_left_out(written: str) -> None:
    carrier = span(scope="a2a-python-sdk")
    step = changed(to_step(carrier), additional_attributes=as_attributes(carrier) | {f"{LINKS}0": written})
    assert [each.parent_id for each in internals_of(step)] == (["1"] if written.startswith("{") else [])
