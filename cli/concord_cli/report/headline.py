"""The head of the page: the verdict, the score and what it rests on, and the label of coordination."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from concord.assessment import Mode
from concord.assessment.results import SubScore, TrialRecord
from concord.assessment.verdict_text import outcome_text, outcome_word
from concord_cli.display_text import counted, named, on_one_line
from concord_cli.number_text import duration, figure, percent
from concord_cli.report.scope import Scope
from concord_cli.row_view.interactions import coordination_label
from concord_cli.row_view.score import UNWEIGHTED, part_notes
from concord_cli.row_view.subject import date_text, tasks_text, team_text

_MODES = {"ground_truth": "given pattern", "live": "live team", "recorded": "trace from a file"}


@dataclass(frozen=True, slots=True)
class ScorePart:
    """A sub-score, with the width of its bar. `notes`: its weight unless it is a factor, and its reasons or inputs."""

    title: str
    value: str
    width: str
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Headline:
    """Everything above the first section. Without a score, `score` is None and `rests_on` says why.

    `team`, `tasks`, `date`: the subject. `verdict`: in a word or two, for example `Passed`; `interval`: of the score at
    95 %; `passed`: how many trials reached the mark.
    """

    team: str
    tasks: str
    date: str | None
    assessment: str
    trial: str | None
    mode: str
    verdict: str
    score: str | None
    interval: str | None
    max_score: str
    rests_on: str
    score_notes: list[str]
    quality: str | None
    coordination: str
    passed: str | None
    facts: list[str]
    parts: list[ScorePart]
    scoring_version: str


def headline_of(scope: Scope) -> Headline:
    """The head of a report on this scope."""
    detail = scope.row.detail
    return Headline(
        team=team_text(detail),
        tasks=tasks_text(scope.trials),
        date=date_text(detail.started_at),
        assessment=on_one_line(detail.assessment_id),
        trial=None if scope.trial_id is None else on_one_line(scope.trial_id),
        mode=_MODES.get(detail.mode.value, named(detail.mode.value).lower()),
        verdict=_verdict(scope),
        score=scope.rating.number,
        interval=_interval(scope),
        max_score=figure(scope.row.max_score),
        rests_on=on_one_line(scope.rating.rests_on),
        score_notes=list(scope.rating.notes),
        quality=scope.quality,
        coordination=_coordination(scope),
        passed=_passed(scope),
        facts=[counted(len(scope.agents), "agent"), counted(len(scope.trials), "trial"), _time_used(scope)],
        parts=[_part(part, scope.trials) for part in scope.sub_scores],
        scoring_version=on_one_line(detail.scoring.version),
    )


def verdict_on(trial: TrialRecord) -> str:
    """Whether a trial passed, in words."""
    if not trial.usable:
        return "not usable"
    if trial.overall_score is None and trial.grading is not None and trial.grading.value is None:
        return "not judged"
    if trial.passed is None:
        return "not scored"
    return "passed" if trial.passed else "failed"


def _verdict(scope: Scope) -> str:
    verdict = scope.row.detail.verdict
    if scope.trial_id is not None or verdict is None:
        return verdict_on(scope.trials[0]).capitalize() if len(scope.trials) == 1 else "No verdict"
    return outcome_word(verdict)


def _interval(scope: Scope) -> str | None:
    """The interval of a row's score, and what it can show: `70 to 92, which shows differences of 15 points`."""
    known = scope.row.detail.statistics
    if scope.trial_id is not None or known.score_low is None or known.score_high is None:
        return None
    shows = "" if known.detectable is None else f", which shows differences of {known.detectable:.0f} points"
    return f"{known.score_low:.0f} to {known.score_high:.0f}{shows}"


def _passed(scope: Scope) -> str | None:
    """How many trials reached the mark; None for a single one, of which the verdict says it."""
    verdict = scope.row.detail.verdict
    if scope.trial_id is not None or verdict is None or verdict.score is None or verdict.trials == 1:
        return None
    return outcome_text(verdict).partition(": ")[2]


def _coordination(scope: Scope) -> str:
    label = coordination_label(scope.quality, scope.coordination_status)
    if scope.quality is not None and scope.row.detail.mode is Mode.RECORDED and scope.row.score is None:
        return f"label: {scope.quality}"
    if scope.quality is not None:
        return scope.quality if scope.quality == "bottleneck" else f"{scope.quality} coordination"
    return "no label" if label is None else f"coordination: {label}"


def _time_used(scope: Scope) -> str:
    return duration(1000 * min(scope.time_used, 1e300))


def _part(part: SubScore, trials: Sequence[TrialRecord]) -> ScorePart:
    return ScorePart(
        title=named(part.id),
        value="undefined" if part.value is None else f"{part.value:.2f}",
        width=percent(part.value or 0.0),
        notes=[on_one_line(note) for note in (part_notes(part, trials) if part.id in UNWEIGHTED else _notes(part))],
    )


def _notes(part: SubScore) -> Iterator[str]:
    """The notes on a weighted part: its weight, and its reason or inputs."""
    yield f"weight {figure(part.weight)}"
    if part.reason is not None:
        yield part.reason
    elif part.inputs:
        yield ", ".join(f"{named(each.name).lower()} {each.value}" for each in part.inputs)
