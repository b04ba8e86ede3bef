"""The first block of a failed trial: what was observed, which of it is a cause, and what to read first."""

import re

import pytest

from concord.assessment import AssessmentConfig
from concord.assessment.result_row import ResultRow
from concord_cli.report.renderer import render
from concord_evaluator.formats import TraceBuilder
from concord_evaluator.formats.trace import Origin
from concord_evaluator.offline import evaluate_trace
from tests.unit.evaluator.observations.test_diagnosis import run

pytestmark = pytest.mark.usefixtures("research_formats")

CAUSE = "a cause: the graders tie it to what was lost"
HOSTILE = "<img src=x onerror=alert(1)>"


def block_of(row: ResultRow) -> str:
    """The block's HTML; "" if the page has none."""
    page = render(row)
    found = re.search(r'<div class="observed">.*?</div>', page, re.DOTALL)
    if found is None:
        return ""
    assert page.index('id="trials"') < found.start() < page.index("The outcome:")
    return found[0]


def test_a_failed_run_begins_with_the_cause_and_its_quotes() -> None:
    block = block_of(evaluate_trace(run(), AssessmentConfig()))
    assert CAUSE in block
    assert "+mine" in block
    assert "+yours" in block
    assert "Which steps to read first" not in block


def test_an_observation_without_a_tie_is_not_marked_as_a_cause() -> None:
    block = block_of(evaluate_trace(run(alone=(False, False)), AssessmentConfig()))
    assert CAUSE not in block
    assert "Nobody has shown that it cost anything" in block
    assert "blames nobody" in block


def test_a_run_that_succeeded_has_no_such_block() -> None:
    assert block_of(evaluate_trace(run(passed=True), AssessmentConfig())) == ""


def test_texts_of_agents_are_escaped() -> None:
    builder = TraceBuilder("t", Origin("f"))
    builder.task_success = 0.0
    builder.add_work("<b>1", "A", error=HOSTILE)
    builder.add_message("2", "A", "B", f"total cost: 120 {HOSTILE}")
    builder.add_message("3", "B", "C", f"total cost: 150 {HOSTILE}")
    block = block_of(evaluate_trace(builder.build(), AssessmentConfig()))
    assert "was told one value and passed on another" in block
    assert "<img" not in block
    assert "<b>" not in block
    assert "&lt;img" in block
