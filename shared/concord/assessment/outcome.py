"""The outcome of a row, of one of its trials, and of a recorded trace, in one set of words."""

from concord.assessment.request import PASS_MARK
from concord.assessment.result_row import ResultRow
from concord.assessment.results import TrialRecord
from concord.assessment.verdict_text import outcome_word


def outcome_of(judged: ResultRow | TrialRecord | float | None) -> str:
    """`Passed`, `Failed`, `Undecided` or `Not judged`.

    Of a row also `Not played`, `Nothing assessed` and `No verdict`; of a trial `Not usable`.

    A number is the outcome that the graders of a recorded trace give, in [0, 1]; None if they give none.
    """
    match judged:
        case ResultRow():
            return "No verdict" if judged.detail.verdict is None else outcome_word(judged.detail.verdict)
        case TrialRecord():
            return _of_trial(judged)
        case None:
            return "Not judged"
        case outcome:
            return "Passed" if outcome >= PASS_MARK else "Failed"


def _of_trial(trial: TrialRecord) -> str:
    if not trial.usable:
        return "Not usable"
    if trial.passed is not None:
        return "Passed" if trial.passed else "Failed"
    return "Not judged" if trial.grading is None or trial.grading.value is None else "Undecided"
