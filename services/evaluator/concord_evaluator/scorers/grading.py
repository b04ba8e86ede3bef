"""Grading: each participant's answer alone, by the scorer that the task names. Pure."""

from collections.abc import Sequence
from statistics import fmean

from concord.assessment import TaskSpec
from concord.assessment.results import AgentAnswer, GradedAnswer, Grading, TrialOutcome
from concord.assessment.task_spec import ModelScorer, PackageScorer, ScorerChoice
from concord_evaluator.scorers.graded import Graded, ScorerFailedError, graded
from concord_evaluator.scorers.registry import (
    BUILT_IN_SCORERS,
    BrokenScorerError,
    UnknownScorerError,
    grade_by_package,
)


def grade_answers(task: TaskSpec, answerers: Sequence[str], outcome: TrialOutcome) -> Grading | None:
    """The mean grade over the answers of `answerers`. None for a task without a scorer in code.

    A participant that gave no answer gets 0. Where the scorer fails, the grading has no value and names the reason.
    """
    scorer = task.scorer
    if scorer is None or isinstance(scorer, ModelScorer):
        return None
    given = {answer.agent: answer for answer in outcome.answers}
    answers: list[GradedAnswer] = []
    try:
        for agent in dict.fromkeys(answerers):
            found = _graded(scorer, task.target or [], given.get(agent))
            answers.append(GradedAnswer(agent=agent, value=found.value, explanation=found.explanation))
    except (ScorerFailedError, UnknownScorerError, BrokenScorerError) as error:
        return Grading(value=None, source="nobody", scorer=scorer.name, reason=str(error))
    if not answers:
        return Grading(value=None, source="nobody", scorer=scorer.name, reason="no answer is to be graded")
    return Grading(
        value=fmean(answer.value for answer in answers),
        source="code",
        scorer=scorer.name,
        reason=None,
        answers=answers,
    )


def _graded(scorer: ScorerChoice, targets: Sequence[str], answer: AgentAnswer | None) -> Graded:
    if answer is None or (answer.text is None and answer.state == "completed"):
        return graded(0, "gave no answer")
    if answer.state != "completed":
        return graded(0, "did not answer in time" if answer.state == "timeout" else "failed")
    if not answer.text or not answer.text.strip():
        return graded(0, "gave an empty answer")
    return grade(scorer, targets, answer.text)


def grade(choice: ScorerChoice, targets: Sequence[str], answer: str) -> Graded:
    """Grades one answer in code. The same choice, targets and answer give the same grade.

    Raises ScorerFailedError where options or targets cannot be used, or a package's scorer fails; UnknownScorerError
    and BrokenScorerError for a package's scorer that is not installed or cannot be loaded; ValueError for `model`,
    whose answers the judge grades.
    """
    if isinstance(choice, ModelScorer):
        raise ValueError("the judge grades answers for the scorer 'model'")
    if isinstance(choice, PackageScorer):
        return grade_by_package(choice, targets, answer)
    return BUILT_IN_SCORERS[choice.name](choice, targets, answer)
