"""`make check` runs the unit tests that a change can break: those that depend on the changed file in any way."""

import pytest

from tests.kit.affected import ROOT, affected

VALUES = "services/evaluator/concord_evaluator/own_tasks/reference.py"


def run_for(changed: str) -> set[str]:
    return {str(test.relative_to(ROOT / "tests/unit")) for test in affected(ROOT / changed)}


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        (VALUES, "evaluator/own_tasks/test_values.py"),
        (VALUES, "evaluator/own_tasks/test_planted_faults.py"),  # through helpers of the test
        (VALUES, "evaluator/pipeline/test_trial.py"),  # through the modules that import it
        ("services/evaluator/concord_evaluator/own_tasks", "evaluator/own_tasks/test_values.py"),
        ("tests/kit/own_tasks/faults.py", "evaluator/own_tasks/test_planted_faults.py"),
        ("tests/unit/test_affected.py", "test_affected.py"),
        ("docs/scoring.md", "evaluator/scoring/test_document.py"),
        ("shared/concord/version.py", "test_distribution.py"),
    ],
)
def test_a_test_is_run_if_it_depends_on_the_change(changed: str, test: str) -> None:
    assert test in run_for(changed)


def test_a_test_is_not_run_if_it_cannot_see_the_change() -> None:
    assert "environment/test_calendar.py" not in run_for(VALUES)
    assert "evaluator/own_tasks/test_values.py" not in run_for("docs/scoring.md")


def test_a_file_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(LookupError, match="does not exist"):
        affected(ROOT / "shared/concord/nothing.py")
