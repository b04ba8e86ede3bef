"""The head of what a row says: its subject, its outcome, the score and what that rests on, and its facts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Final

from concord.assessment import Mode
from concord.assessment.cost import Cost, ModelUse
from concord.assessment.outcome import outcome_of
from concord.assessment.result_row import Detail, ResultRow
from concord.assessment.results import SubScore, TrialRecord
from concord.assessment.verdict_text import known_text, outcome_text
from concord_cli.display_text import counted, named, on_one_line, shortened
from concord_cli.number_text import duration, figure
from concord_cli.row_view.flows import coordination_label
from concord_cli.row_view.scope import Scope
from concord_cli.row_view.score import UNWEIGHTED, part_notes

MAX_NAMES: Final = 3
"""The largest number of agents or tasks that a text names; further ones are counted."""

MAX_NAME: Final = 40

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
    of_row = scope.trial is None
    verdict = detail.verdict if of_row else None
    rating = scope.rating
    return Head(
        team=team_text(detail),
        tasks=tasks_text(scope.trials),
        date=date_text(detail.started_at),
        assessment=on_one_line(detail.assessment_id),
        trial=None if scope.trial is None else on_one_line(scope.trial.trial_id),
        mode=_MODES.get(detail.mode.value, named(detail.mode.value).lower()),
        size=size_text(detail),
        trials=counted(len(scope.trials), "trial"),
        time_used=duration(1000 * min(scope.time_used, 1e300)),
        outcome=outcome_of(row if of_row else scope.trials[0]),
        passed=None if verdict is None else outcome_text(verdict).partition(": ")[2],
        score=rating.number,
        interval=_interval(scope),
        max_score=figure(row.max_score),
        rests_on=on_one_line(rating.rests_on),
        score_notes=list(rating.notes),
        seen=None if verdict is None else known_text(verdict) or None,
        label=coordination_label(scope.part.coordination_quality, scope.part.coordination_status),
        coordination=_coordination(scope),
        detectable=detectable_text(row) if of_row else None,
        cost=cost_text(detail.cost),
        parts=[_part(part, scope) for part in scope.sub_scores],
        scoring_version=on_one_line(detail.scoring.version),
    )


def _interval(scope: Scope) -> str | None:
    """The interval of a row's score: `70 to 92`."""
    known = scope.row.detail.statistics
    if scope.trial is not None or known.score_low is None or known.score_high is None:
        return None
    return f"{known.score_low:.0f} to {known.score_high:.0f}"


def _coordination(scope: Scope) -> str:
    quality, recorded = scope.part.coordination_quality, scope.row.detail.mode is Mode.RECORDED
    if quality is not None and recorded and scope.row.score is None:
        return f"label: {quality}"
    if quality is not None:
        return quality if quality == "bottleneck" else f"{quality} coordination"
    label = coordination_label(quality, scope.part.coordination_status)
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


def team_text(detail: Detail) -> str:
    """The participants: `planner and writer`, `agent in 5 seats`, `planner, writer, critic and 3 more`."""
    declared = [agent.id for agent in detail.agents if agent.declared] or [agent.id for agent in detail.agents]
    if not any(trial.team_task is not None for trial in detail.trials):
        return _joined([shortened(agent, MAX_NAME) for agent in declared]) or "no agent"
    groups = [(name, len(list(seats))) for name, seats in groupby(declared, key=lambda seat: seat.split("/")[0])]
    return _joined([shortened(name, MAX_NAME) + (f" in {n} seats" if n > 1 else "") for name, n in groups])


def tasks_text(trials: Iterable[TrialRecord]) -> str:
    """The tasks: `review`, or `maximum-5, median-5 and 4 more`, without controls."""
    tasks = dict.fromkeys(trial.task_id for trial in trials if not trial.is_control)
    return _joined([shortened(task, MAX_NAME) for task in tasks]) or "no task"


def date_text(started_at: datetime | None) -> str | None:
    """The start of the assessment: `8 Sep 2026, 12:36 UTC`; None if unknown."""
    if started_at is None:
        return None
    date = started_at.astimezone(UTC) if started_at.tzinfo else started_at
    return f"{date.day} {date:%b} {date.year}, {date:%H:%M} UTC"


def size_text(detail: Detail) -> str:
    """The size of the team: `5 agents`, `5 seats in one process`, `5 seats, isolated`, `5 seats, not isolated`."""
    if not any(trial.team_task for trial in detail.trials):
        return counted(len(detail.agents), "agent")
    seats = counted(len(detail.agents), "seat")
    if any(trial.team_task is not None and trial.team_task.shared_process for trial in detail.trials):
        return f"{seats} in one process"
    if detail.seat_containers is None:
        return f"{seats}, not isolated"
    endpoints = len(detail.seat_containers.model_endpoints)
    return f"{seats}, isolated" + (f" but for {counted(endpoints, 'model endpoint')}" if endpoints else "")


def _joined(names: Sequence[str]) -> str:
    if len(names) > MAX_NAMES + 1:
        return f"{', '.join(names[:MAX_NAMES])} and {len(names) - MAX_NAMES} more"
    return on_one_line(" and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)) if names else ""


def cost_text(cost: Cost | None) -> str | None:
    """`the agents claim 12 model calls, 3,400 tokens, 0.012 USD a trial`; None if they tell nothing."""
    if cost is None or cost.model_calls is None:
        return None
    parts = [counted(cost.model_calls, "model call")]
    if cost.tokens is not None:
        parts.append(f"{cost.tokens:,} tokens")
    if cost.untold_calls:
        parts.append(f"none told for {counted(cost.untold_calls, 'call')}")
    money = "cost unknown" if cost.per_trial is None else f"{cost.per_trial:.3g} {cost.currency} a trial"
    if cost.unpriced:
        money += f" (no price of {', '.join(cost.unpriced)})"
    return f"the agents claim {', '.join([*parts, money])}"


def claimed_text(uses: Iterable[ModelUse]) -> str | None:
    """What agents claim of one trial: `12 model calls, 3,400 tokens (3,000 read, 400 written)`; None for nothing."""
    told = list(uses)
    if not told:
        return None
    tokens, read, written = (
        sum(getattr(use, name) for use in told) for name in ("tokens", "input_tokens", "output_tokens")
    )
    split = f" ({read:,} read, {written:,} written)" if read + written == tokens else ""
    return f"{counted(sum(use.calls for use in told), 'model call')}, {tokens:,} tokens{split}"


def detectable_text(row: ResultRow) -> str | None:
    """What a comparison with another run like this one can show; None if nothing, or not known."""
    known = row.detail.statistics
    if known.detectable is None:
        return None
    trials = counted(known.trials, "trial")
    return f"with {trials}, only differences above {known.detectable:.0f} points can be told from chance"
