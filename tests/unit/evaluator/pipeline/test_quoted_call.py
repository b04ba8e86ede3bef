"""What was said in calls: in causal order, from whoever is to be believed, and never too much of it."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concord.assessment import AssessmentConfig
from concord.trace.report import Report
from concord.trace.step import InteractionStep
from concord_evaluator.pipeline import QuotedCall, TrialInput, quoted_calls
from concord_evaluator.trace import project
from tests.unit.evaluator.traces import call, observed, roster, told

AGENTS = roster("A", "B", "C")


def said(reports: Sequence[Report], limit: int = 500) -> list[QuotedCall]:
    return quoted_calls(
        TrialInput(project(reports, AGENTS), AGENTS, AssessmentConfig(), reports=lambda: reports), limit
    )


def asked(step_id: str, callee: str, request: str, response: str = "", *, parent: str | None = None) -> InteractionStep:
    attributes = {"response_text": response} if response else {}
    return call(step_id, callee, parent=parent, request=request, attributes=attributes)


def test_a_call_has_its_two_ends_and_what_was_said_in_it() -> None:
    assert said(told("A", asked("1", "B", "Where to?", "To the coast."))) == [
        QuotedCall("A", "B", "1", "Where to?", "To the coast.")
    ]


def test_what_nobody_tells_is_empty() -> None:
    assert said(told("A", call("1", "B"))) == [QuotedCall("A", "B", "1", "", "")]


def test_they_come_in_causal_order() -> None:
    reports = [*told("B", asked("2", "C", "inner", parent="1")), *told("A", asked("1", "B", "outer"))]
    assert [each.request for each in said(reports)] == ["outer", "inner"]


def test_what_was_observed_counts_whoever_says_more() -> None:
    reports = [*told("B", asked("1", "B", "a long story by B")), *observed("green", asked("1", "B", "Hi."))]
    assert "Hi." in [each.request for each in said(reports)]
    assert "a long story by B" not in [each.request for each in said(reports)]


def test_nobody_puts_words_into_a_callers_mouth() -> None:
    reports = [*told("A", asked("1", "B", "Hi.")), *told("C", asked("1", "B", "a long story by C"), authenticated=True)]
    assert {each.request for each in said(reports) if each.caller == "A"} == {"Hi."}


def test_what_came_with_an_answer_is_less_to_be_believed_than_what_was_told_directly() -> None:
    relayed = told("A", call("1", "B", answer=[asked("2", "C", "as A has it from B")]))
    direct = told("B", asked("2", "C", "as B says", parent="1"), authenticated=True)
    assert {each.request for each in said([*relayed, *direct]) if each.step_id == "2"} == {"as B says"}


def test_of_too_many_as_many_are_taken_from_everywhere() -> None:
    reports = told("A", *(asked(f"{number:03}", "B", str(number)) for number in range(100)))
    assert [each.request for each in said(reports, limit=4)] == ["0", "25", "50", "75"]


def test_of_a_trace_that_is_too_long_to_be_read_again_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = told("A", asked("1", "B", "one"), asked("2", "B", "two"))
    monkeypatch.setattr("concord_evaluator.pipeline.quoted_call.MAX_STEPS", 2)
    assert len(said(reports)) == 2
    monkeypatch.setattr("concord_evaluator.pipeline.quoted_call.MAX_STEPS", 1)
    assert said(reports) == []


def test_long_texts_are_cut() -> None:
    assert len(said(told("A", asked("1", "B", "word " * 1000, "again " * 1000)))[0].response) == 2000


STEPS = [asked(str(number), "BC"[number % 2], f"question {number}", "x" * number) for number in range(4)]
REPORTS = [report for step in STEPS for reporter in "AB" for report in told(reporter, step)]


@settings(max_examples=20)
@given(st.permutations(REPORTS))
def test_the_order_of_reports_changes_nothing(reports: list[Report]) -> None:
    assert said(reports) == said(REPORTS)


@pytest.mark.parametrize("attributes", [{"response_text": ""}, {}])
def test_an_empty_answer_is_none(attributes: dict[str, str]) -> None:
    assert said(told("A", call("1", "B", request="Hm?", attributes=attributes)))[0].response == ""
