"""One set of words for the outcome of a row, a trial and a recorded trace, wherever it is shown."""

import pytest

from concord.assessment.outcome import outcome_of
from concord.assessment.result_row import ResultRow
from concord.assessment.results import Grading, TrialRecord
from concord.rows import lines_of
from concord_cli.causes.command import _lines as explained
from concord_cli.report.page import page_of
from concord_evaluator.diagnosis import TraceDiagnosis
from tests.kit.team_rows import ground_truth, half_judged, mesh_of_five, star_of_five, unjudged_and_unseen
from tests.unit.cli.rows import row, trial

BY_NOBODY = Grading(value=None, source="nobody", scorer=None, reason="no scorer")
UNSURE = Grading(value=0.5, source="code", scorer="exact", reason=None)


@pytest.mark.parametrize(
    ("of", "word"),
    [
        (mesh_of_five(), "Passed"),
        (star_of_five(), "Failed"),
        (half_judged(), "Undecided"),
        (unjudged_and_unseen(), "Not judged"),
        (ground_truth(), "Not played"),
        (row(), "No verdict"),
    ],
)
def test_a_row_has_the_same_word_in_its_view_on_its_page_and_in_tables(of: ResultRow, word: str) -> None:
    assert outcome_of(of) == page_of(of).view.head.outcome == word
    assert [line["verdict"] for line in lines_of([of], "rows")] == [word]


@pytest.mark.parametrize(
    ("of", "word"),
    [
        (trial(passed=True), "Passed"),
        (trial(passed=False), "Failed"),
        (trial(passed=None, grading=UNSURE), "Undecided"),
        (trial(passed=None, grading=BY_NOBODY), "Not judged"),
        (trial(passed=None, grading=None), "Not judged"),
        (trial(passed=True, usable=False), "Not usable"),
    ],
)
def test_a_trial_has_the_same_word_in_the_list_of_trials_and_in_tables(of: TrialRecord, word: str) -> None:
    assert outcome_of(of) == word
    [line] = page_of(row(trials=[of])).trials.table.rows
    assert line[1].text == word.lower()
    assert [each["verdict"] for each in lines_of([row(trials=[of])], "trials")] == [word]


@pytest.mark.parametrize(
    ("outcome", "text"),
    [(1.0, "t: Passed"), (0.0, "t: Failed"), (0.7, "t: Passed, outcome 0.70"), (None, "t: Not judged")],
)
def test_a_recorded_trace_is_explained_in_these_words(outcome: float | None, text: str) -> None:
    found = TraceDiagnosis("t", "t.json", outcome, causes=[], observations=[], reading=[])
    assert str(next(iter(explained(found)))) == text
