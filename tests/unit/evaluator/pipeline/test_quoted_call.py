"""Exchanges: the texts of calls in causal order, from the most credible report, and bounded in number and size."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concord.assessment import AssessmentConfig
from concord.trace.report import Report
from concord.trace.step import InteractionStep
from concord_evaluator.pipeline import QuotedCall, TrialInput, quoted_calls
from concord_evaluator.trace import project
from tests.kit.traces import call, observed, reported_by, roster

AGENTS = roster("A", "B", "C")


def quoted_calls_in(reports: Sequence[Report], limit: int = 500) -> list[QuotedCall]:
    return quoted_calls(
        TrialInput(project(reports, AGENTS), AGENTS, AssessmentConfig(), reports=lambda: reports), limit
    )


def asked(step_id: str, callee: str, request: str, response: str = "", *, parent: str | None = None) -> InteractionStep:
    attributes = {"response_text": response} if response else {}
    return call(step_id, callee, parent=parent, request=request, attributes=attributes)


def test_an_exchange_has_caller_callee_request_and_response() -> None:
    assert quoted_calls_in(reported_by("A", asked("1", "B", "Where to?", "To the coast."))) == [
        QuotedCall("A", "B", "1", "Where to?", "To the coast.")
    ]


def test_unreported_texts_are_empty() -> None:
    assert quoted_calls_in(reported_by("A", call("1", "B"))) == [QuotedCall("A", "B", "1", "", "")]


def test_quoted_calls_are_in_causal_order() -> None:
    reports = [*reported_by("B", asked("2", "C", "inner", parent="1")), *reported_by("A", asked("1", "B", "outer"))]
    assert [each.request for each in quoted_calls_in(reports)] == ["outer", "inner"]


def test_an_observed_text_precedes_a_longer_reported_one() -> None:
    reports = [*reported_by("B", asked("1", "B", "a long story by B")), *observed("green", asked("1", "B", "Hi."))]
    assert "Hi." in [each.request for each in quoted_calls_in(reports)]
    assert "a long story by B" not in [each.request for each in quoted_calls_in(reports)]


def test_a_callers_own_text_precedes_that_of_others() -> None:
    reports = [
        *reported_by("A", asked("1", "B", "Hi.")),
        *reported_by("C", asked("1", "B", "a long story by C"), authenticated=True),
    ]
    assert {each.request for each in quoted_calls_in(reports) if each.caller == "A"} == {"Hi."}


def test_a_direct_report_precedes_a_relayed_one() -> None:
    relayed = reported_by("A", call("1", "B", answer=[asked("2", "C", "as A has it from B")]))
    direct = reported_by("B", asked("2", "C", "as B says", parent="1"), authenticated=True)
    assert {each.request for each in quoted_calls_in([*relayed, *direct]) if each.step_id == "2"} == {"as B says"}


def test_excess_exchanges_are_sampled_evenly() -> None:
    reports = reported_by("A", *(asked(f"{number:03}", "B", str(number)) for number in range(100)))
    assert [each.request for each in quoted_calls_in(reports, limit=4)] == ["0", "25", "50", "75"]


def test_a_trace_beyond_the_limit_has_no_exchanges(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = reported_by("A", asked("1", "B", "one"), asked("2", "B", "two"))
    monkeypatch.setattr("concord_evaluator.pipeline.evaluators.MAX_STEPS", 2)
    assert len(quoted_calls_in(reports)) == 2
    monkeypatch.setattr("concord_evaluator.pipeline.evaluators.MAX_STEPS", 1)
    assert quoted_calls_in(reports) == []


def test_long_texts_are_cut() -> None:
    assert len(quoted_calls_in(reported_by("A", asked("1", "B", "word " * 1000, "again " * 1000)))[0].response) == 2000


STEPS = [asked(str(number), "BC"[number % 2], f"question {number}", "x" * number) for number in range(4)]
REPORTS = [report for step in STEPS for reporter in "AB" for report in reported_by(reporter, step)]


@settings(max_examples=20)
@given(st.permutations(REPORTS))
def test_the_order_of_reports_does_not_matter(reports: list[Report]) -> None:
    assert quoted_calls_in(reports) == quoted_calls_in(REPORTS)


@pytest.mark.parametrize("attributes", [{"response_text": ""}, {}])
def test_an_empty_or_missing_answer_is_an_empty_response(attributes: dict[str, str]) -> None:
    assert quoted_calls_in(reported_by("A", call("1", "B", request="Hm?", attributes=attributes)))[0].response == ""
