"""Grades the answers to a task of a suite's family, by the family's own code."""

from collections.abc import Mapping

from concord.assessment.results import GradedAnswer, Grading, TrialOutcome
from concord.assessment.suite_tasks import family_of
from concord.suite import Grade, SuiteTask


def grade_team_task(family: str, task: SuiteTask, outcome: TrialOutcome) -> Grading:
    """The mean over all parts of the answer, each part graded by the family. A missing answer's parts are 0."""
    answers = {each.agent: each.text for each in outcome.answers if each.text is not None}
    grade = family_of(family).grade(answers, task.key)
    return Grading(
        value=grade.outcome,
        source="code",
        scorer=family,
        reason=_reason(grade),
        answers=[_graded(seat, task, grade, answers) for seat in task.answerers],
    )


def _graded(seat: str, task: SuiteTask, grade: Grade, answers: Mapping[str, str]) -> GradedAnswer:
    own = [grade.parts[part.id] for part in task.parts if part.seat == seat]
    right = f"{sum(value == 1 for value in own)} of {len(own)} parts are right"
    if seat not in answers:
        right = "no answer"
    elif seat in grade.unreadable:
        right = "the answer is not in the form that the question asks for"
    return GradedAnswer(agent=seat, value=sum(own) / len(own) if own else grade.outcome, explanation=right)


def _reason(grade: Grade) -> str | None:
    return f"unreadable answers: {', '.join(grade.unreadable)}" if grade.unreadable else None
