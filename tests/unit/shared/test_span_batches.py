"""Batches of spans: they keep each span that can become a step, and are read as the steps and spans that they hold."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from concord.trace.decoding import parents_in, read, spans_in
from concord.trace.otlp import Span, SpanError, shortened, storable, to_step
from concord.trace.otlp.genai import AGENT_NAME, ATTRIBUTES, INPUT_TOKENS, MODEL, OPERATION, RETRY_OF, TOOL_NAME
from concord.trace.otlp.span_batch import MAX_SPANS, SpanBatch, encoded_spans, read_spans, steps_of, with_ids_alone
from concord.trace.stored_step import written as written_steps
from tests.unit.shared.test_stored_spans import SPANS, span

TRACE = span().trace_id
LENGTHS = st.sampled_from([0, 3, 256, 257, 8192, 8193])
TEXTS = LENGTHS.map("x".__mul__)
NO_NUMBERS = [math.inf, -math.inf, math.nan]
EDGES = st.sampled_from([0, -1, 2**62, 2**63 - 1, 2**63, -(2**63) - 1, 10**30, True, 0.5, *NO_NUMBERS])
NAMES = st.sampled_from([*OPERATION, *AGENT_NAME, *TOOL_NAME, *MODEL, *RETRY_OF, *INPUT_TOKENS, "metadata"])
HOSTILE = st.builds(
    replace,
    SPANS,
    span_id=st.sampled_from(["eee19b7ec3c1b174", "", "0" * 16, "E" * 16, "a" * 17]),
    parent_id=st.sampled_from(["", "a" * 16, "0" * 16]),
    name=TEXTS,
    message=TEXTS,
    attributes=st.dictionaries(NAMES, TEXTS | EDGES | st.sampled_from(["chat", "tool", "invoke_agent"]), max_size=5),
)
INTERNAL = st.builds(lambda parent: with_ids_alone(span(scope="a2a-python-sdk", parent_id=parent)), st.just("b" * 16))


def batch(*spans: Span, internals: tuple[Span, ...] = ()) -> SpanBatch:
    return SpanBatch("b", TRACE, "writer", list(spans), list(internals))


def refused(one: Span, by: Any) -> str:  # noqa: ANN401 - either function
    try:
        by(one)
    except SpanError as error:
        return str(error)
    return ""


@given(st.lists(SPANS, max_size=3), st.lists(INTERNAL, max_size=2))
def test_a_batch_is_read_as_it_was_written(spans: list[Span], internals: list[Span]) -> None:
    written = batch(*spans, internals=tuple(internals))
    assert read_spans(encoded_spans(written)) == written
    assert spans_in(encoded_spans(written)) == [*spans, *internals]


@given(HOSTILE)
def test_a_span_is_refused_as_its_step_would_be(one: Span) -> None:
    finite = {name: each for name, each in one.attributes.items() if not isinstance(each, float) or math.isfinite(each)}
    told = replace(one, attributes=finite)
    assert refused(one, storable) == refused(told, lambda each: to_step(each, with_agent=True))


@given(HOSTILE)
def test_no_text_of_a_shortened_span_is_too_long(one: Span) -> None:
    short, _ = shortened(one)
    assert "length" not in refused(short, storable)
    assert shortened(short) == (short, 0)


@given(SPANS)
def test_a_span_without_oversized_texts_is_not_shortened(one: Span) -> None:
    assert shortened(one) == (one, 0)


def test_an_attribute_of_any_other_kind_is_cut_where_a_structure_would_not_end() -> None:
    short, cut = shortened(span(attributes={"metadata": "x" * 300_000, "gen_ai.agent.name": "a"}))
    assert (len(str(short.attributes["metadata"])), cut) == (256 * 1024, 1)


def test_a_name_that_no_json_can_have_does_not_hide_one_that_is_too_long() -> None:
    told = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": math.inf}
    with pytest.raises(SpanError):
        storable(replace(span(), name="n" * 257, attributes=told))


@given(HOSTILE)
def test_what_is_stored_can_be_read_and_is_a_step(one: Span) -> None:
    try:
        kept = storable(one)
    except SpanError:
        return
    body = encoded_spans(batch(kept))
    assert spans_in(body) == [kept]
    assert [step.step_id for step in read(body).steps] == [one.span_id]


@pytest.mark.parametrize("time", [2**64, -(2**63) - 1, 10**30])
def test_a_time_that_otlp_cannot_say_is_refused(time: int) -> None:
    with pytest.raises(SpanError, match="out of range"):
        storable(span(start_ns=time))


@given(st.lists(SPANS, min_size=1, max_size=3))
def test_the_same_batch_as_steps_has_the_same_spans(spans: list[Span]) -> None:
    written = batch(*spans, internals=(span(scope="a2a-python-sdk", span_id="c" * 16),))
    assert spans_in(written_steps(steps_of(written))) == spans_in(encoded_spans(written))


@given(st.lists(SPANS, max_size=3))
def test_the_parents_of_a_batch_are_those_of_its_steps(spans: list[Span]) -> None:
    for body in (encoded_spans(batch(*spans)), written_steps(steps_of(batch(*spans)))):
        assert parents_in(body) == {step.parent for step in read(body).steps} - {None}


def test_library_internals_become_one_step_with_the_parents_of_all() -> None:
    internals = tuple(span(scope="a2a-python-sdk", span_id=f"{n:016x}", parent_id="b" * 16) for n in (1, 2, 3))
    whole = batch(span(), internals=(internals[0], *map(with_ids_alone, internals[1:])))
    assert whole.n_steps == len(read(encoded_spans(whole)).steps) == 2
    assert {each.span_id: each.parent_id for each in spans_in(encoded_spans(whole)) if each.internal} == {
        each.span_id: "b" * 16 for each in internals
    }
    assert parents_in(encoded_spans(whole)) == {"b" * 16}


def test_a_span_in_a_foreign_file_that_cannot_be_a_step_has_none() -> None:
    body = encoded_spans(batch(span(span_id="short"), span()))
    assert [step.step_id for step in read(body).steps] == [span().span_id]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"batch_id":"b"}', encoded_spans(batch(*[span()] * (MAX_SPANS + 1))), b'{"spans":[["a"]]}']
)
def test_any_other_body_is_no_batch_of_spans(body: bytes) -> None:
    assert read_spans(body) is None


def test_every_attribute_that_is_read_is_kept() -> None:
    full = span(attributes=dict.fromkeys(sorted(ATTRIBUTES), "1"))
    assert storable(full) is full
