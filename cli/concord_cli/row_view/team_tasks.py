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

MAX_REPEATING: Final = 3
"""Seats whose redundant messages are counted."""

LEAST_REDUNDANT: Final = 3
"""Fewer redundant messages of a seat are not worth a line."""

CONTROLS: Final[Mapping[str, str]] = {
    "solo": "one agent with all briefs",
    "silent": "a team without a channel",
    "alone": "the starting agent alone",
}


@dataclass(frozen=True, slots=True)
class TaskLine:
    """A task over its trials, as means. `outcome_share`: the outcome as a number; `useful`, `sent`: messages with news,
    and all, in multiples of the fewest that suffice; `rounds` is empty for a task without rounds."""

    task_id: str
    topology: str
    outcome: str
    outcome_share: float
    proven: str
    chance: str
    rounds: str
    messages: str
    fewest: str
    redundant: str
    useful: float
    sent: float


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
class RepeatingSeat:
    """A seat with many redundant messages, and what it did."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class TeamSection:
    """The section. `shared_process`: whether one participant took several seats."""

    tasks: list[TaskLine]
    repeating: list[RepeatingSeat]
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
        tasks=[_task(task_id, of_task) for task_id, of_task in by_task.items()],
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


def _task(task_id: str, pairs: Sequence[tuple[TrialRecord, TeamTaskRecord]]) -> TaskLine:
    records = [record for _, record in pairs]
    outcome = fmean(_outcome(trial) for trial, _ in pairs)
    messages = fmean(record.messages for record in records)
    redundant = fmean(record.redundant for record in records)
    rounds = [record.rounds for record in records if record.rounds is not None]
    credited = [record.credited for record in records if record.credited is not None]
    first = records[0]
    fewest = max(1, first.fewest_messages)
    return TaskLine(
        task_id=on_one_line(task_id),
        topology=on_one_line(first.topology.replace("_", " ")),
        outcome=f"{outcome:.2f}",
        outcome_share=outcome,
        proven=f"{fmean(credited):.2f}" if credited else NONE,
        chance=f"{fmean(record.chance for record in records):.2f}",
        rounds=figure(fmean(rounds)) if rounds else "",
        messages=figure(messages),
        fewest=("" if first.fewest_is_exact else "≥ ") + figure(first.fewest_messages),
        redundant=figure(redundant) if credited else NONE,  # not counted before version 3 of the scores
        useful=max(0.0, messages - redundant) / fewest,
        sent=max(0.0, messages) / fewest,
    )


def _outcome(trial: TrialRecord) -> float:
    return 0.0 if trial.grading is None or trial.grading.value is None else trial.grading.value


def _repeating_seats(trials: Iterable[TrialRecord]) -> list[RepeatingSeat]:
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


def _repeating(seat: str, sent: int, redundant: int, facts: Counter[str]) -> RepeatingSeat:
    told = ", ".join(f"{fact} ({n:,} times)" for fact, n in facts.most_common(2))
    text = f"sent {redundant:,} of its {sent:,} messages without a fact that was new to their receivers"
    return RepeatingSeat(on_one_line(seat), text + (f"; it repeated {on_one_line(told)}" if told else ""))
