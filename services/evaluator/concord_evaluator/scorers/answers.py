"""Grading a trial: each participant's answer alone, by the task's scorer."""

from collections.abc import Sequence
from statistics import fmean

from concord.assessment import TaskSpec
from concord.assessment.results import AgentAnswer, GradedAnswer, Grading, TrialOutcome
from concord.assessment.scorers import ModelScorer, ScorerChoice
from concord_evaluator.scorers.graded import Graded, ScorerFailedError, graded
from concord_evaluator.scorers.grading import grade
from concord_evaluator.scorers.packages import BrokenScorerError, UnknownScorerError


def grade_answers(task: TaskSpec, answerers: Sequence[str], outcome: TrialOutcome) -> Grading | None:
    """How the answers of `answerers` were graded, on the mean; None where the task has no scorer that is code.

    Who gave no answer gets 0. Where the scorer cannot grade, nobody did, and the reason says why.
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
        return Grading(value=None, source="nobody", scorer=scorer.name, reason="nobody's answer is to be graded")
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
