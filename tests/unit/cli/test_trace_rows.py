"""The rows of many traces: the same in the same order, however many processes evaluate them."""

import os
from collections.abc import Iterator
from contextlib import closing

import pytest

from concord.assessment import AssessmentConfig
from concord_cli.evaluate import rows
from concord_cli.evaluate.rows import TraceRows
from concord_evaluator.formats import FormatError, Origin, Trace, TraceBuilder


def traces(count: int) -> Iterator[Trace]:
    for number in range(count):
        building = TraceBuilder(f"trace-{number}", Origin("file", number + 1))
        for each in range(1 + number % 3):
            building.add_message(f"{each}", "one", f"other-{each}", f"message {each}")
        yield building.build()


@pytest.fixture(autouse=True)
def few_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "ALONE", 2)


def test_a_helper_changes_neither_the_rows_nor_their_order() -> None:
    with closing(TraceRows(AssessmentConfig(), helpers=1)) as helped:
        beside = list(helped.of(traces(12)))
    assert beside == list(TraceRows(AssessmentConfig(), helpers=0).of(traces(12)))
    assert [row.detail.assessment_id for row in beside] == [f"trace-{number}" for number in range(12)]


def test_the_work_of_a_killed_helper_is_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_prepare", os._exit)
    with closing(TraceRows(AssessmentConfig(), helpers=1)) as helped:
        assert len(list(helped.of(traces(12)))) == 12


@pytest.mark.parametrize("readable", [0, 1, 5])
def test_the_traces_before_a_fault_have_their_rows(readable: int) -> None:
    def broken() -> Iterator[Trace]:
        yield from traces(readable)
        raise FormatError("file", 9, "cut off")

    found = TraceRows(AssessmentConfig(), helpers=0).of(broken())
    assert [next(found).detail.assessment_id for _ in range(readable)] == [f"trace-{each}" for each in range(readable)]
    with pytest.raises(FormatError, match="file:9: cut off"):
        next(found)


def test_a_trace_that_cannot_be_evaluated_is_an_error_of_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def evaluate(trace: Trace, _: AssessmentConfig) -> None:
        raise KeyError(trace.trace_id)

    monkeypatch.setattr(rows, "evaluate_trace", evaluate)
    with pytest.raises(FormatError, match=r"^file:1: trace-0 cannot be evaluated: KeyError: 'trace-0'$"):
        list(TraceRows(AssessmentConfig(), helpers=0).of(traces(3)))
