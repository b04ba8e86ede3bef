"""Tests of the store of a file's spans."""

from collections.abc import Mapping
from contextlib import closing
from itertools import chain

import pytest
from msgspec.structs import replace

from concord.trace.otlp import Span
from concord.trace.otlp.content import Content
from concord_evaluator.formats import span_store
from concord_evaluator.formats.span_recordings import ReadSpan
from concord_evaluator.formats.span_store import SpanStore
from tests.kit.sources import read
from tests.unit.evaluator.formats.spans import as_lines, exported, invocation

TRACES = [f"{number:032x}" for number in (1, 2, 3)]
NOTHING_IN_MEMORY = 0


def a_span(trace_id: str, number: int, text: str = "") -> ReadSpan:
    attributes: Mapping[str, str | int] = {"gen_ai.agent.name": "writer", "n": 1 << 70}
    told = Content(input=text, output=f"answer {number}")
    span = Span(
        trace_id, f"{number:016x}", "", f"work {number}", "app", "s", number, number + 1, False, False, "", attributes
    )
    return ReadSpan(replace(span, content=told), number)


def mixed(text: str = "") -> list[ReadSpan]:
    return list(chain.from_iterable([a_span(trace_id, number, text) for trace_id in TRACES] for number in range(1, 5)))


def stored(spans: list[ReadSpan], in_memory: int) -> tuple[dict[str, list[ReadSpan]], bool]:
    """What a store returns of these spans, and whether it wrote any to its file."""
    with closing(SpanStore(in_memory=in_memory)) as store:
        for each in spans:
            store.add(each)
        store.finish()
        return dict(store), store.is_spilled


@pytest.mark.parametrize("in_memory", [NOTHING_IN_MEMORY, 2_500, span_store.IN_MEMORY])
def test_the_spans_of_mixed_traces_come_back_by_trace_as_they_were_added(in_memory: int) -> None:
    found, is_spilled = stored(mixed("a question"), in_memory)
    assert list(found) == TRACES
    assert found == {
        trace_id: [a_span(trace_id, number, "a question") for number in range(1, 5)] for trace_id in TRACES
    }
    assert is_spilled == (in_memory < span_store.IN_MEMORY)


def test_equal_texts_of_a_trace_from_the_file_share_one_object() -> None:
    found, _ = stored(mixed("a question"), NOTHING_IN_MEMORY)
    assert len({id(each.span.content.input) for each in found[TRACES[0]]}) == 1


@pytest.mark.parametrize("in_memory", [NOTHING_IN_MEMORY, span_store.IN_MEMORY])
def test_events_that_are_known_after_their_span_complete_it(in_memory: int) -> None:
    events = {(TRACES[0], f"{1:016x}"): [("gen_ai.user.message", {"content": "a question"})]}
    plain = a_span(TRACES[0], 1)
    with closing(SpanStore(events, in_memory)) as store:
        store.add(ReadSpan(replace(plain.span, attributes={}, content=Content()), 1))
        assert [each.span.content.input for each in store[TRACES[0]]] == ["a question"]


def test_a_file_whose_traces_are_mixed_has_the_same_traces_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    roots = [exported("s", invocation("plan", "planner", trace=trace_id)) for trace_id in TRACES]
    below = [exported("s", invocation("write", "writer", "plan", trace=trace_id)) for trace_id in TRACES]
    content = as_lines(*roots, *below)
    held = read(content)
    monkeypatch.setattr(SpanStore.__init__, "__defaults__", (None, NOTHING_IN_MEMORY))
    assert [each.trace_id for each in held] == TRACES
    assert read(content) == held
