"""In every family, a right answer earns all in the forms in which models write it, and nothing where it is denied."""

import pytest

from concord.suite import Grade
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from tests.kit.answer_forms import COMMITTING, DENYING, Form
from tests.kit.suite_tasks import make, right_answers


def _graded(family: TextFamily, form: Form, attempt: int) -> Grade:
    task = make(family, 3, attempt)
    return family.grade({seat: form(each) for seat, each in right_answers(family, task).items()}, task.key)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.parametrize("form", COMMITTING)
def test_a_right_answer_earns_all_in_every_form_that_commits_to_it(family: TextFamily, form: str) -> None:
    for attempt in (1, 4):
        grade = _graded(family, COMMITTING[form], attempt)
        assert (grade.outcome, grade.unreadable) == (1, ())


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.parametrize("form", DENYING)
def test_a_denied_answer_earns_nothing(family: TextFamily, form: str) -> None:
    for attempt in (1, 4):
        assert _graded(family, DENYING[form], attempt).outcome == 0
