"""The head of what a row says: its subject, its outcome, the score and what that rests on, and its facts."""

from collections.abc import Iterator
from dataclasses import dataclass

from concord.assessment import Mode
from concord.assessment.results import SubScore
from concord.assessment.verdict_text import known_text, outcome_text
from concord_cli.display_text import counted, named, on_one_line
from concord_cli.number_text import duration, figure
from concord_cli.row_view.cost import cost_text, detectable_text
from concord_cli.row_view.interactions import coordination_label
from concord_cli.row_view.outcome import outcome_of
from concord_cli.row_view.scope import Scope
from concord_cli.row_view.score import UNWEIGHTED, part_notes
from concord_cli.row_view.subject import date_text, size_text, tasks_text, team_text

_MODES = {"ground_truth": "given pattern", "live": "live team", "recorded": "trace from a file"}


@dataclass(frozen=True, slots=True)
class ScorePart:
    """A sub-score; `share`: as a number, 0 if undefined; `weight`: None for a factor; `notes`: reasons or inputs."""

    title: str
    value: str
    share: float
    weight: str | None
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Head:
    """Everything above the first section. Without a score, `score` is None and `rests_on` says why.

    `team`, `tasks`, `date`: the subject. `outcome`: in a word or two, as `Passed`; `passed`: of how many trials it is,
    and how many reached the mark; None of one trial, and of a row of an earlier version. `interval`: of the score at
    95 %. `seen`: what is known where nobody judged. `label`: of coordination, or why there is none;
    `coordination`: the same in a few words. `detectable`, `cost`: what a comparison can show, and what agents claim
    that a trial costs.
    """

    team: str
    tasks: str
    date: str | None
    assessment: str
    trial: str | None
    mode: str
    size: str
    trials: str
    time_used: str
    outcome: str
    passed: str | None
    score: str | None
    interval: str | None
    max_score: str
    rests_on: str
    score_notes: list[str]
    seen: str | None
    label: str | None
    coordination: str
    detectable: str | None
    cost: str | None
    parts: list[ScorePart]
    scoring_version: str


def head_of(scope: Scope) -> Head:
    """The head of what this scope says."""
    row, detail = scope.row, scope.row.detail
    of_row = scope.trial_id is None
    verdict = detail.verdict if of_row else None
    return Head(
        team=team_text(detail),
        tasks=tasks_text(scope.trials),
        date=date_text(detail.started_at),
        assessment=on_one_line(detail.assessment_id),
        trial=None if scope.trial_id is None else on_one_line(scope.trial_id),
        mode=_MODES.get(detail.mode.value, named(detail.mode.value).lower()),
        size=size_text(detail),
        trials=counted(len(scope.trials), "trial"),
        time_used=duration(1000 * min(scope.time_used, 1e300)),
        outcome=outcome_of(row if of_row else scope.trials[0]),
        passed=None if verdict is None else outcome_text(verdict).partition(": ")[2],
        score=scope.rating.number,
        interval=_interval(scope),
        max_score=figure(row.max_score),
        rests_on=on_one_line(scope.rating.rests_on),
        score_notes=list(scope.rating.notes),
        seen=None if verdict is None else known_text(verdict) or None,
        label=coordination_label(scope.quality, scope.coordination_status),
        coordination=_coordination(scope),
        detectable=detectable_text(row) if of_row else None,
        cost=cost_text(detail.cost),
        parts=[_part(part, scope) for part in scope.sub_scores],
        scoring_version=on_one_line(detail.scoring.version),
    )


def _interval(scope: Scope) -> str | None:
    """The interval of a row's score: `70 to 92`."""
    known = scope.row.detail.statistics
    if scope.trial_id is not None or known.score_low is None or known.score_high is None:
        return None
    return f"{known.score_low:.0f} to {known.score_high:.0f}"


def _coordination(scope: Scope) -> str:
    label = coordination_label(scope.quality, scope.coordination_status)
    if scope.quality is not None and scope.row.detail.mode is Mode.RECORDED and scope.row.score is None:
        return f"label: {scope.quality}"
    if scope.quality is not None:
        return scope.quality if scope.quality == "bottleneck" else f"{scope.quality} coordination"
    return "no label" if label is None else f"coordination: {label}"


def _part(part: SubScore, scope: Scope) -> ScorePart:
    factor = part.id in UNWEIGHTED
    return ScorePart(
        title=named(part.id),
        value="undefined" if part.value is None else f"{part.value:.2f}",
        share=part.value or 0.0,
        weight=None if factor else f"{part.weight:.2f}",
        notes=[on_one_line(note) for note in (part_notes(part, scope.trials) if factor else _notes(part))],
    )


def _notes(part: SubScore) -> Iterator[str]:
    """The reason of a weighted part, or its inputs."""
    if part.reason is not None:
        yield part.reason
    elif part.inputs:
        yield ", ".join(f"{named(each.name).lower()} {each.value}" for each in part.inputs)
