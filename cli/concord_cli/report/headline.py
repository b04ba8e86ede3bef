"""The head of the page: the score, what it is called, how sure it is, and what it is made of."""

from dataclasses import dataclass

from concord.results import SubScore, TrialRecord
from concord_cli.report.figures import NONE, duration, figure, percent
from concord_cli.report.scope import Scope
from concord_cli.report.text import counted, named, on_one_line

_CONFIDENCE = {
    "insufficient": "insufficient: too few runs to say how certain the score is",
    "low": "low: few runs, or runs that differ much",
    "adequate": "adequate",
}
_MODES = {"ground_truth": "interactions as given", "live": "agents at work"}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the score, with the width of its bar; `share`: its weight among the parts that are defined."""

    title: str
    value: str
    width: str
    weight: str
    reason: str | None
    inputs: str


@dataclass(frozen=True, slots=True)
class Headline:
    """Everything above the first section."""

    assessment: str
    trial: str | None
    mode: str
    score: str
    max_score: str
    quality: str | None
    passed: str
    pass_mark: str
    confidence: str
    facts: list[str]
    parts: list[Part]
    scoring_version: str


def headline_of(scope: Scope) -> Headline:
    """The head of a report on this."""
    detail = scope.row.detail
    return Headline(
        assessment=on_one_line(detail.assessment_id),
        trial=None if scope.trial_id is None else on_one_line(scope.trial_id),
        mode=_MODES.get(detail.mode.value, named(detail.mode.value).lower()),
        score=NONE if scope.score is None else f"{scope.score:.1f}",
        max_score=figure(scope.row.max_score),
        quality=scope.quality,
        passed=_passed(scope),
        pass_mark=figure(scope.row.max_score * detail.scoring.pass_threshold),
        confidence=_CONFIDENCE[detail.confidence],
        facts=[counted(len(scope.agents), "agent"), counted(len(scope.trials), "trial"), _time_used(scope)],
        parts=[_part(part) for part in scope.sub_scores],
        scoring_version=on_one_line(detail.scoring.version),
    )


def verdict_on(trial: TrialRecord) -> str:
    """Whether a trial passed, in words."""
    if not trial.usable:
        return "not usable"
    if trial.passed is None:
        return "not scored"
    return "passed" if trial.passed else "failed"


def _passed(scope: Scope) -> str:
    if scope.trial_id is not None:
        return f"this trial: {verdict_on(scope.trials[0])}"
    scoring = scope.row.detail.scoring
    return f"{scoring.passed_trials:,} of {counted(scoring.usable_trials, 'usable trial')} passed"


def _time_used(scope: Scope) -> str:
    return duration(1000 * min(scope.time_used, 1e300))


def _part(part: SubScore) -> Part:
    return Part(
        title=named(part.id),
        value="undefined" if part.value is None else f"{part.value:.2f}",
        width=percent(part.value or 0.0),
        weight=figure(part.weight),
        reason=None if part.reason is None else on_one_line(part.reason),
        inputs=", ".join(on_one_line(f"{named(each.name).lower()} {each.value}") for each in part.inputs),
    )
