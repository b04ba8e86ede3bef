"""Conduct reads a bounded part of the participants' texts, and calls with unread text count as no news."""

from collections.abc import Iterator
from datetime import timedelta
from unittest.mock import patch

import pytest

from concord.assessment.result_row import ResultRow
from concord.trace.report import MAX_BATCH_STEPS, ReportBatch
from concord.trace.vocabulary import words_in
from concord_evaluator.aggregate import make_row
from concord_evaluator.pipeline import evaluate_trial, verdict_on, without_metrics
from concord_evaluator.scoring import Conduct, conduct
from concord_evaluator.trace import MAX_CARRIED_TEXT
from tests.unit.evaluator.traces import RECEIVED_AT
from tests.unit.evaluator.trials import answered_by_all, batch, carried, outcome, plan

TEAM = plan("ABC")
ENDED = answered_by_all(TEAM, outcome())
QUOTED = 4000
"""Characters of each message that the gateway records."""

CALLS = 3 * MAX_CARRIED_TEXT // (2 * QUOTED)
HONEST = [batch(0, [*carried(1, "A", "B", start_time=RECEIVED_AT), *carried(2, "B", "C", start_time=RECEIVED_AT)])]


@pytest.fixture(scope="module")
def flood() -> list[ReportBatch]:
    """Calls with entirely new words in each, later than the honest calls."""
    steps = []
    for number in range(CALLS):
        news = "".join(chr(97 + int(digit)) for digit in f"{number:05}")
        text = (f"q{news} " * QUOTED)[:QUOTED]
        began = RECEIVED_AT + timedelta(seconds=1 + number)
        steps += carried(
            10 + number,
            "A",
            "B",
            request=text,
            attributes={"response_text": text.replace("q", "r")},
            start_time=began,
            end_time=began,
        )
    return [batch(1 + start, steps[start : start + MAX_BATCH_STEPS]) for start in range(0, len(steps), MAX_BATCH_STEPS)]


@pytest.fixture
def lengths_read() -> Iterator[list[int]]:
    """The length of each text whose words the conduct computation reads."""
    sizes: list[int] = []

    def counted(text: str) -> Iterator[str]:
        sizes.append(len(text))
        return words_in(text)

    with patch.object(conduct, "words_in", counted):
        yield sizes


def row_of(batches: list[ReportBatch]) -> ResultRow:
    return make_row(TEAM, [verdict_on(TEAM, evaluate_trial(TEAM, ENDED, batches), None)], [])


def test_conduct_reads_no_more_text_than_the_limit(flood: list[ReportBatch], lengths_read: list[int]) -> None:
    evaluate_trial(TEAM, ENDED, [*HONEST, *flood])
    assert sum(lengths_read) <= MAX_CARRIED_TEXT + 1000


def test_conduct_reads_no_more_text_than_the_limit_after_a_failed_evaluation(
    flood: list[ReportBatch], lengths_read: list[int]
) -> None:
    without_metrics(TEAM, ENDED, [*HONEST, *flood], "it took too long")
    assert sum(lengths_read) <= MAX_CARRIED_TEXT + 1000


def test_calls_with_unread_text_count_as_no_news(flood: list[ReportBatch]) -> None:
    quiet, loud = _conduct(HONEST), _conduct([*HONEST, *flood])
    assert quiet.value == 1.0
    assert (loud.carried, loud.unread) == (CALLS + 2, loud.bought_nothing + 1), "one call is read by half"
    assert loud.bought_nothing > CALLS // 4
    assert loud.value is not None
    assert loud.value < 0.51


def test_the_row_counts_the_calls_with_unread_text_and_gives_the_reason(flood: list[ReportBatch]) -> None:
    row = row_of([*HONEST, *flood])
    unread = _conduct([*HONEST, *flood]).unread
    [of_trial] = [part for part in row.detail.trials[0].sub_scores if part.id == "conduct"]
    [of_row] = [part for part in row.detail.scoring.sub_scores if part.id == "conduct"]
    assert of_trial.reason == (
        f"{unread} calls have text beyond the first 10,000,000 characters, which is not read and counts as no news"
    )
    for part in (of_trial, of_row):
        assert [each.value for each in part.inputs if each.name == "unread"] == [str(unread)]


def test_a_row_without_unread_calls_does_not_mention_them() -> None:
    [part] = [part for part in row_of(HONEST).detail.trials[0].sub_scores if part.id == "conduct"]
    assert part.reason is None
    assert "unread" not in {each.name for each in part.inputs}


def _conduct(batches: list[ReportBatch]) -> Conduct:
    found = evaluate_trial(TEAM, ENDED, batches).conduct
    assert found is not None
    return found
