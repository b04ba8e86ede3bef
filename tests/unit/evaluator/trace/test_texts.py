"""Ids in one buffer, and the numbers of steps: the same as with strings in lists and dictionaries."""

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.trace import reading
from concord_evaluator.trace.columns import NONE, UNREPORTED
from concord_evaluator.trace.reading import StepNumbers
from concord_evaluator.trace.texts import TextBuffer, Texts

TEXTS = st.text(max_size=12) | st.sampled_from(
    [
        "",
        "\0",
        "a",
        "a\0",
        "step-1",
        "step-10",
        "step-100001",
        "beginning-1",
        "beginning-2",
        "beginning-é",
        "é",
        "\ud800",
    ]
)
LISTS = st.lists(TEXTS, max_size=30)
TRACES = st.sampled_from("tu")
REPORTED = st.lists(
    st.tuples(TRACES, st.sampled_from("abcé"), st.none() | st.sampled_from(["", *"abcdé"])), max_size=12
)


def texts_of(*parts: list[str]) -> Texts:
    buffer = TextBuffer()
    for part in parts:
        buffer.add(part)
    return buffer.texts()


@given(LISTS, LISTS)
def test_texts_are_held_as_they_are(one: list[str], other: list[str]) -> None:
    assert list(texts_of(one, other)) == [*one, *other]


@given(LISTS, st.integers(1, 4), st.sampled_from([0, 64]))
def test_the_smallest_texts_are_found_across_blocks(texts: list[str], at_most: int, few: int) -> None:
    with patch.multiple("concord_evaluator.trace.texts", _AT_ONCE=3, _FEW=few):
        assert texts_of(texts).smallest(np.arange(len(texts)), at_most) == sorted(set(texts))[:at_most]


@given(LISTS, st.sets(TEXTS, max_size=5))
def test_wanted_texts_are_found(texts: list[str], wanted: set[str]) -> None:
    assert texts_of(texts).places(wanted).tolist() == [n for n, text in enumerate(texts) if text in wanted]


@given(LISTS, LISTS)
def test_texts_are_compared_in_full(one: list[str], other: list[str]) -> None:
    size = min(len(one), len(other))
    assert texts_of(one[:size]).equals(texts_of(other[:size])) == (one[:size] == other[:size])


@given(REPORTED, st.integers(0, 12), st.booleans())
def test_steps_are_numbered_in_the_order_of_their_first_reports(
    reported: list[tuple[str, str, str | None]], half: int, colliding: bool
) -> None:
    numbers = StepNumbers()
    with patch.object(reading, "hash", (lambda _: 7) if colliding else hash, create=True):
        for part in (reported[:half], reported[half:]):
            numbers.add(*map(list, zip(*part, strict=True)) if part else ([], [], []))
    found = numbers.numbered()
    keys = list(dict.fromkeys((trace, step) for trace, step, _ in reported))
    above = [(trace, parent) if parent else None for trace, _, parent in reported]
    assert [(found.trace_ids[t], step) for t, step in zip(found.traces.tolist(), found.step_ids, strict=True)] == keys
    assert [keys[number] for number in found.step.tolist()] == [(trace, step) for trace, step, _ in reported]
    assert found.parent.tolist() == [
        NONE if each is None else keys.index(each) if each in keys else UNREPORTED for each in above
    ]
    assert found.unreported == {row: each[1] for row, each in enumerate(above) if each and each not in keys}
