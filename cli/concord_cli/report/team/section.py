"""The section on team tasks: messages against the fewest by task, and controls as bars."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from concord.assessment.result_row import ControlRecord
from concord.assessment.results import SeatContainers, TrialRecord
from concord.assessment.team_results import TeamTaskRecord
from concord_cli.display_text import on_one_line
from concord_cli.number_text import NONE, figure, percent
from concord_cli.report.team.causes import played
from concord_cli.row_text.team_tasks import (
    CONTROLS,
    MAX_REPEATING,
    RepeatingSeat,
    outcome_of,
    proven_text,
    repeating_seats,
)


@dataclass(frozen=True, slots=True)
class TaskLine:
    """A task over its trials. `useful`, `messages`: ends of bars in shares of the widest; `fewest_at`: of the mark."""

    task_id: str
    family: str
    topology: str
    outcome: str
    outcome_width: str
    proven: str
    chance: str
    rounds: str
    messages: str
    fewest: str
    redundant: str
    has_redundant: bool
    useful_end: str
    messages_end: str
    fewest_at: str


@dataclass(frozen=True, slots=True)
class Bar:
    """An outcome from 0 to 1 as a bar."""

    name: str
    value: str
    width: str


@dataclass(frozen=True, slots=True)
class ControlView:
    """A control: bars of both outcomes, and the gap on a scale from -1 to 1, with its interval if it has one."""

    title: str
    pairs: int
    bars: list[Bar]
    gap: str
    gap_x: str
    gap_width: str
    gap_is_good: bool
    interval: str | None
    low_x: str
    high_x: str
    span: str


@dataclass(frozen=True, slots=True)
class RepeatingView:
    """A seat with many redundant messages."""

    name: str
    redundant: str
    sent: str
    facts: str


@dataclass(frozen=True, slots=True)
class TeamSection:
    """The section. `shared_process`: whether one participant took several seats."""

    tasks: list[TaskLine]
    repeating: list[RepeatingView]
    controls: list[ControlView]
    shared_process: bool
    containers: SeatContainers | None


def section_of(
    trials: Sequence[TrialRecord], controls: Sequence[ControlRecord], containers: SeatContainers | None = None
) -> TeamSection | None:
    """The section on the trials of a page; None if no team did a task that a family generated.

    `containers`: those that Concord started for the seats.
    """
    pairs = played(trials)
    if not pairs:
        return None
    return TeamSection(
        tasks=_tasks(pairs),
        repeating=[_repeating(each) for each in repeating_seats(trials)[:MAX_REPEATING]],
        controls=[_control(each) for each in controls],
        shared_process=any(record.shared_process for _, record in pairs),
        containers=containers,
    )


def _tasks(pairs: Sequence[tuple[TrialRecord, TeamTaskRecord]]) -> list[TaskLine]:
    by_task: defaultdict[str, list[tuple[TrialRecord, TeamTaskRecord]]] = defaultdict(list)
    for trial, record in pairs:
        by_task[trial.task_id].append((trial, record))
    widest = max(_times_fewest(fmean(each.messages for _, each in of), of[0][1]) for of in by_task.values())
    scale = 1 / max(widest, 1.0)
    return [_task(task_id, of_task, scale) for task_id, of_task in by_task.items()]


def _times_fewest(messages: float, record: TeamTaskRecord) -> float:
    return max(0.0, messages) / max(1, record.fewest_messages)


def _task(task_id: str, pairs: Sequence[tuple[TrialRecord, TeamTaskRecord]], scale: float) -> TaskLine:
    records = [record for _, record in pairs]
    outcome = fmean(outcome_of(trial) for trial, _ in pairs)
    messages = fmean(record.messages for record in records)
    redundant = fmean(record.redundant for record in records)
    rounds = [record.rounds for record in records if record.rounds is not None]
    first = records[0]
    return TaskLine(
        task_id=on_one_line(task_id),
        family=on_one_line(first.family),
        topology=on_one_line(first.topology.replace("_", " ")),
        outcome=f"{outcome:.2f}",
        outcome_width=percent(outcome),
        proven=proven_text(records) or NONE,
        chance=f"{fmean(record.chance for record in records):.2f}",
        rounds=figure(fmean(rounds)) if rounds else NONE,
        messages=figure(messages),
        fewest=("" if first.fewest_is_exact else "≥ ") + figure(first.fewest_messages),
        redundant=figure(redundant),
        has_redundant=redundant > 0,
        useful_end=percent(min(1.0, scale * _times_fewest(messages - redundant, first))),
        messages_end=percent(min(1.0, scale * _times_fewest(messages, first))),
        fewest_at=percent(scale),
    )


def _control(record: ControlRecord) -> ControlView:
    low, high = record.gap_low, record.gap_high
    ends = sorted((0.0, _clamped(record.gap)))
    has_interval = low is not None and high is not None
    left, right = (_clamped(low or 0.0), _clamped(high or 0.0)) if has_interval else (0.0, 0.0)
    return ControlView(
        title=f"Against {CONTROLS[record.control]}",
        pairs=record.trials,
        bars=[_bar("the team", record.team), _bar(CONTROLS[record.control], record.value)],
        gap=f"{record.gap:+.2f}",
        gap_x=_on_gap_scale(ends[0]),
        gap_width=percent((ends[1] - ends[0]) / 2),
        gap_is_good=record.gap >= 0,
        interval=f"{low:+.2f} to {high:+.2f}" if has_interval else None,
        low_x=_on_gap_scale(left),
        high_x=_on_gap_scale(right),
        span=percent(max(0.0, right - left) / 2),
    )


def _repeating(seat: RepeatingSeat) -> RepeatingView:
    facts = on_one_line(seat.facts_text) if seat.facts else ""
    return RepeatingView(on_one_line(seat.name), f"{seat.redundant:,}", f"{seat.sent:,}", facts)


def _bar(name: str, value: float) -> Bar:
    return Bar(name, f"{value:.2f}", percent(value))


def _clamped(gap: float) -> float:
    return min(1.0, max(-1.0, gap))


def _on_gap_scale(gap: float) -> str:
    return percent((gap + 1) / 2)
