"""Where an assistant got and lost points, over the trials of a row. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from concord_assistant.results import DIMENSIONS, AssessmentResults, CriterionResult, Dimension, Score
from concord_cli.display_text import counted, on_one_line

ENDINGS: Final = {
    "scenario_complete": "scenario over",
    "early_completion": "ended by the assistant",
    "timeout": "out of time",
    "error": "failed",
}


@dataclass(frozen=True, slots=True)
class CriterionPoints:
    """A criterion over the trials of its scenario. Points are sums over the `checked` trials.

    `reasons`: why it lost points, or why its check failed, each once; `failed`: trials in which its check failed;
    `failed_points`: the points that those trials could not give.
    """

    scenario: str
    name: str
    dimension: str
    by_model: bool
    points: Score
    trials: int
    checked: int
    losing: int
    reasons: tuple[str, ...]
    failed: int
    failed_points: float
    failures: tuple[str, ...]

    @property
    def lost(self) -> float:
        """The lost points."""
        return self.points.max_score - self.points.score


def criteria_of(results: Iterable[AssessmentResults]) -> list[CriterionPoints]:
    """The criteria of all scenarios, in their order."""
    grouped: defaultdict[tuple[str, str], list[CriterionResult]] = defaultdict(list)
    for trial in results:
        for criterion in trial.criteria_results:
            grouped[trial.scenario_id, criterion.criterion_id].append(criterion)
    return [_over_trials(scenario, of_trials) for (scenario, _), of_trials in grouped.items()]


def dimension_points(results: Iterable[AssessmentResults]) -> dict[str, Score]:
    """The points by dimension, as sums over the trials."""
    found: defaultdict[Dimension, list[Score]] = defaultdict(list)
    for trial in results:
        for name, points in trial.scores.dimensions.items():
            found[name].append(points)
    return {name: _sum(found[name]) for name in DIMENSIONS if name in found}


def total_points(results: Iterable[AssessmentResults]) -> Score:
    """The points over all trials."""
    return _sum([trial.scores.overall for trial in results])


def of_points(points: Score) -> str:
    """`7.5 of 10`."""
    return f"{round(points.score, 2):,g} of {round(points.max_score, 2):,g}"


def ending_text(trial: AssessmentResults) -> str:
    """How a trial's turns ended: `ended by the assistant after 3 turns and 7 actions`."""
    ending = ENDINGS.get(trial.reason, on_one_line(trial.reason))
    return f"{ending} after {counted(trial.turns_taken, 'turn')} and {counted(trial.actions_taken, 'action')}"


def _over_trials(scenario: str, of_trials: Sequence[CriterionResult]) -> CriterionPoints:
    first = of_trials[0]
    checked = [each for each in of_trials if each.score is not None]
    failed = [each for each in of_trials if each.score is None]
    lost = [each for each in checked if (each.score or 0.0) < each.max_score]
    return CriterionPoints(
        scenario=scenario,
        name=first.name,
        dimension=first.dimension,
        by_model=any(each.method == "model" for each in of_trials),
        points=_added((each.score or 0.0, each.max_score) for each in checked),
        trials=len(of_trials),
        checked=len(checked),
        losing=len(lost),
        reasons=tuple(dict.fromkeys(each.explanation for each in lost)),
        failed=len(failed),
        failed_points=sum(each.max_score for each in failed),
        failures=tuple(dict.fromkeys(each.error or each.explanation for each in failed)),
    )


def _sum(points: Sequence[Score]) -> Score:
    return _added((each.score, each.max_score) for each in points)


def _added(points: Iterable[tuple[float, float]]) -> Score:
    # Not validated: results from elsewhere may contradict themselves, and a sum may exceed the limit of one number.
    pairs = list(points)
    return Score.model_construct(score=sum(score for score, _ in pairs), max_score=sum(most for _, most in pairs))
