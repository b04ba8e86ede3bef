"""Which scorers there are, built in and installed; and the grading of each participant's answer alone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from concord.assessment import TaskSpec
from concord.assessment.results import AgentAnswer, GradedAnswer, Grading, TrialOutcome
from concord.assessment.scorers import ENTRY_POINT_GROUP, SCORER_NAMES, ModelScorer, PackageScorer, ScorerChoice
from concord.assessment.suite_tasks import family_of
from concord.files import did_you_mean
from concord.suite import Grade, SuiteTask
from concord_evaluator.plugins import BrokenPluginError, Extensions
from concord_evaluator.scorers.graded import Graded, ScorerFailedError, graded
from concord_evaluator.scorers.json_scorer import grade_json
from concord_evaluator.scorers.text_scorers import (
    grade_exact,
    grade_includes,
    grade_match,
    grade_numeric,
    grade_pattern,
)

# Which scorers there are: the built-in ones by their names, and those of installed packages.

BUILT_IN_SCORERS: Final[Mapping[str, Callable[[Any, Sequence[str], str], Graded]]] = {
    "exact": grade_exact,
    "includes": grade_includes,
    "json": grade_json,
    "match": grade_match,
    "numeric": grade_numeric,
    "pattern": grade_pattern,
}
"""Each gets the task's choice of it with its options, the targets, and the answer."""

Scorer = Callable[..., tuple[float, str]]
"""A package adds one by an entry point in `ENTRY_POINT_GROUP`: `name = "module:function"`. It is called with
`scorer(answer, targets, **options)`: a value from 0 to 1, and in a line what was compared.

`answer` and `targets`, a sequence of strings that may be empty, come by position; the options of the task's `scorer` by
keyword. A scorer sees one participant's answer at a time, which is never blank, and is deterministic.
"""


class UnknownScorerError(Exception):
    """No scorer has that name."""


def _read(name: str, offered: object) -> Iterator[tuple[str, Scorer]]:
    if not callable(offered):
        raise TypeError("it is not a function")
    yield name, offered


SCORERS: Final = Extensions(ENTRY_POINT_GROUP, "scorer", _read, reserved=SCORER_NAMES)
"""The scorers of installed packages."""


def _installed_scorer(name: str) -> Scorer:
    """The scorer of an installed package. Raises UnknownScorerError, BrokenPluginError."""
    scorers = SCORERS.installed
    if name not in scorers:
        packaged = ", ".join(scorers) or "none"
        raise UnknownScorerError(
            f"no scorer is called {name!r}: there are {', '.join(SCORER_NAMES)}, and of installed packages {packaged}"
            + did_you_mean(name, [*SCORER_NAMES, *scorers])
        )
    return scorers[name]


def grade_by_package(choice: PackageScorer, targets: Sequence[str], answer: str) -> Graded:
    """Grades by a package's scorer. Raises UnknownScorerError, BrokenPluginError, ScorerFailedError."""
    scorer = _installed_scorer(choice.name)
    try:
        given: object = scorer(answer, tuple(targets), **choice.options)
    except Exception as error:
        raise ScorerFailedError(choice.name, f"{type(error).__name__}: {error}") from error
    match given:
        case (int() | float() as value, str(explanation)) if 0 <= value <= 1:
            return graded(value, explanation)
    raise ScorerFailedError(choice.name, f"expected a value from 0 to 1 with an explanation, got {given!r}")


# Grading: each participant's answer alone, by the scorer that the task names. Pure.


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
    except (ScorerFailedError, UnknownScorerError, BrokenPluginError) as error:
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
    and BrokenPluginError for a package's scorer that is not installed or cannot be loaded; ValueError for `model`,
    whose answers the judge grades.
    """
    if isinstance(choice, ModelScorer):
        raise ValueError("the judge grades answers for the scorer 'model'")
    if isinstance(choice, PackageScorer):
        return grade_by_package(choice, targets, answer)
    return BUILT_IN_SCORERS[choice.name](choice, targets, answer)


# Grades the answers to a task of a suite's family, by the family's own code.


def grade_team_task(family: str, task: SuiteTask, outcome: TrialOutcome) -> Grading:
    """The mean over all parts of the answer, each part graded by the family. A missing answer's parts are 0."""
    answers = {each.agent: each.text for each in outcome.answers if each.text is not None}
    grade = family_of(family).grade(answers, task.key)
    return Grading(
        value=grade.outcome,
        source="code",
        scorer=family,
        reason=_reason(grade),
        answers=[_graded_by_family(seat, task, grade, answers) for seat in task.answerers],
    )


def _graded_by_family(seat: str, task: SuiteTask, grade: Grade, answers: Mapping[str, str]) -> GradedAnswer:
    own = [grade.parts[part.id] for part in task.parts if part.seat == seat]
    right = f"{sum(value == 1 for value in own)} of {len(own)} parts are right"
    if seat not in answers:
        right = "no answer"
    elif seat in grade.unreadable:
        right = f"the answer is not in the form that the question asks for: {answers[seat][:_QUOTED]!r}"
    return GradedAnswer(agent=seat, value=sum(own) / len(own) if own else grade.outcome, explanation=right)


_QUOTED: Final = 80
"""Characters of an unreadable answer that its explanation quotes."""


def _reason(grade: Grade) -> str | None:
    if grade.harms:
        return f"harm: {'; '.join(grade.harms)}"
    return f"unreadable answers: {', '.join(grade.unreadable)}" if grade.unreadable else None
