"""What a row says of tasks that families generated: outcomes and messages by task, repeating seats, controls."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from concord.assessment.result_row import ControlRecord
from concord.assessment.results import SeatContainers, TrialRecord
from concord.assessment.team_results import FlowRecord, TeamTaskRecord
from concord_cli.display_text import on_one_line
from concord_cli.number_text import NONE, figure
from concord_cli.row_view.score import CONTROLS
from concord_cli.row_view.table import Cell, Column, Table, number_columns, table_of

MAX_REPEATING: Final = 3
"""Seats whose redundant messages are counted."""

LEAST_REDUNDANT: Final = 3
"""Fewer redundant messages of a seat are not worth a line."""


@dataclass(frozen=True, slots=True)
class ControlView:
    """The mean outcomes (0 to 1) of the team and of a control in pairs of trials, and the gap between them."""

    against: str
    pairs: int
    team: float
    control: float
    gap: float
    low: float | None
    high: float | None

    @property
    def interval(self) -> str | None:
        """The interval of the gap at 95 %."""
        return None if self.low is None or self.high is None else f"{self.low:+.2f} to {self.high:+.2f}"


@dataclass(frozen=True, slots=True)
class TeamSection:
    """The section. `repeating`: seats with many redundant messages, and what they did; `shared_process`: whether one
    participant took several seats."""

    tasks: Table
    repeating: list[tuple[str, str]]
    repeating_left_out: int
    shared_process: bool
    containers: SeatContainers | None


def section_of(trials: Sequence[TrialRecord], containers: SeatContainers | None = None) -> TeamSection | None:
    """The section on these trials; None if no team did a task that a family generated.

    `containers`: those that Concord started for the seats.
    """
    pairs = [
        (trial, trial.team_task) for trial in trials if trial.team_task is not None and trial.team_task.control is None
    ]
    if not pairs:
        return None
    by_task: defaultdict[str, list[tuple[TrialRecord, TeamTaskRecord]]] = defaultdict(list)
    for trial, record in pairs:
        by_task[trial.task_id].append((trial, record))
    repeating = _repeating_seats(trials)
    return TeamSection(
        tasks=_tasks(by_task),
        repeating=repeating[:MAX_REPEATING],
        repeating_left_out=max(0, len(repeating) - MAX_REPEATING),
        shared_process=any(record.shared_process for _, record in pairs),
        containers=containers,
    )


def controls_of(records: Iterable[ControlRecord]) -> list[ControlView]:
    """The controls of a row, which teams have in tasks of their own as well."""
    return [
        ControlView(CONTROLS[each.control], each.trials, each.team, each.value, each.gap, each.gap_low, each.gap_high)
        for each in records
    ]


def _tasks(by_task: Mapping[str, Sequence[tuple[TrialRecord, TeamTaskRecord]]]) -> Table:
    """The tasks over their trials, as means. Bars: messages with news, and all, in multiples of the fewest."""
    means = {task_id: _messages([record for _, record in pairs]) for task_id, pairs in by_task.items()}
    widest = max(1.0, *(sent / fewest for sent, _, fewest in means.values()))
    columns = [
        Column("Task", "head"),
        *number_columns("Outcome", "Proven", "Chance"),
        *number_columns("Rounds", optional=True),
        *number_columns("Messages", "Fewest", "Redundant"),
        Column("In multiples of the fewest", "bar-column"),
    ]
    rows = [_task(task_id, of_task, *means[task_id], widest) for task_id, of_task in by_task.items()]
    return table_of("Messages against the fewest", columns, rows, kind="economy")


def _messages(records: Sequence[TeamTaskRecord]) -> tuple[float, float, int]:
    """The messages of a trial, those of them that were redundant, and the fewest that suffice (at least 1)."""
    sent, redundant = (
        fmean(values) for values in zip(*((each.messages, each.redundant) for each in records), strict=True)
    )
    return max(0.0, sent), redundant, max(1, records[0].fewest_messages)


def _task(
    task_id: str,
    pairs: Sequence[tuple[TrialRecord, TeamTaskRecord]],
    sent: float,
    redundant: float,
    fewest: int,
    widest: float,
) -> tuple[Cell | str, ...]:
    records = [record for _, record in pairs]
    outcome = fmean(_outcome(trial) for trial, _ in pairs)
    rounds = [record.rounds for record in records if record.rounds is not None]
    credited = [record.credited for record in records if record.credited is not None]
    first, unit = records[0], fewest * widest
    least = ("" if first.fewest_is_exact else "≥ ") + figure(first.fewest_messages)
    bars = ("stale", 0.0, sent / unit), ("fill", 0.0, max(0.0, sent - redundant) / unit), ("fewest", 1 / widest, 0.0)
    return (
        Cell(on_one_line(task_id), aside=on_one_line(first.topology.replace("_", " "))),
        Cell(f"{outcome:.2f}", behind=outcome),
        f"{fmean(credited):.2f}" if credited else NONE,
        f"{fmean(record.chance for record in records):.2f}",
        figure(fmean(rounds)) if rounds else NONE,
        figure(fmean(record.messages for record in records)),
        least,
        figure(redundant) if credited else NONE,  # not counted before version 3 of the scores
        Cell("", bars=bars, about=f"{figure(sent)} messages, at least {least} needed"),
    )


def _outcome(trial: TrialRecord) -> float:
    return 0.0 if trial.grading is None or trial.grading.value is None else trial.grading.value


def _repeating_seats(trials: Iterable[TrialRecord]) -> list[tuple[str, str]]:
    """The seats of whose messages at least half told their receivers nothing new, the most redundant first."""
    sent, redundant = Counter[str](), Counter[str]()
    repeated: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for flow in _flows_in(trials):
        sent.update(dict(zip(flow.seats, flow.sent, strict=False)))
        redundant.update(dict(zip(flow.seats, flow.redundant, strict=False)))
        for message in flow.messages:
            if not message.news and message.sender in range(len(flow.seats)):
                facts = (flow.facts[fact] for fact in message.facts if fact in range(len(flow.facts)))
                repeated[flow.seats[message.sender]].update(facts)
    return [
        _repeating(seat, sent[seat], n, repeated[seat])
        for seat, n in redundant.most_common()
        if n >= LEAST_REDUNDANT and 2 * n >= sent[seat]
    ]


def _flows_in(trials: Iterable[TrialRecord]) -> Iterator[FlowRecord]:
    """The flows of facts that the trials' records hold."""
    records = (trial.team_task for trial in trials if trial.team_task is not None)
    return (record.flow for record in records if record.flow is not None)


def _repeating(seat: str, sent: int, redundant: int, facts: Counter[str]) -> tuple[str, str]:
    told = ", ".join(f"{fact} ({n:,} times)" for fact, n in facts.most_common(2))
    text = f"sent {redundant:,} of its {sent:,} messages without a fact that was new to their receivers"
    return on_one_line(seat), text + (f"; it repeated {on_one_line(told)}" if told else "")
