"""A summary's sections on trials whose tasks families generated: outcomes, messages, controls. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from concord.assessment.result_row import ControlRecord
from concord.assessment.results import TrialRecord
from concord.assessment.team_results import FlowRecord, TeamTaskRecord
from concord_cli.display_text import counted, printable
from concord_cli.terminal import plain_table, plain_text

MAX_REPEATING: Final = 3
"""Seats whose redundant messages are counted."""

LEAST_REDUNDANT: Final = 3
"""Fewer redundant messages of a seat are not worth a line."""

CONTROLS: Final = {"solo": "one agent with all briefs", "silent": "no channel", "alone": "the starting agent alone"}


def tasks_table(trials: Sequence[TrialRecord]) -> Table | None:
    """One line per task: outcome, rounds if any task was played in rounds, and messages against the fewest.

    None without such tasks.
    """
    by_task: defaultdict[str, list[tuple[TrialRecord, TeamTaskRecord]]] = defaultdict(list)
    for trial in trials:
        if trial.team_task is not None and trial.team_task.control is None:
            by_task[trial.task_id].append((trial, trial.team_task))
    if not by_task:
        return None
    in_rounds = any(record.rounds is not None for played in by_task.values() for _, record in played)
    shown_rounds = ["rounds"] if in_rounds else []
    table = plain_table("task", "outcome", "proven", "chance", *shown_rounds, "messages", "fewest", "redundant")
    for task_id, played in by_task.items():
        records = [record for _, record in played]
        fewest = records[0].fewest_messages
        table.add_row(
            plain_text(task_id),
            f"{fmean(outcome_of(trial) for trial, _ in played):.2f}",
            proven_text(records) or "-",
            f"{fmean(record.chance for record in records):.2f}",
            *([_mean([record.rounds for record in records if record.rounds is not None])] if in_rounds else []),
            _mean([record.messages for record in records]),
            f"{fewest}" if records[0].fewest_is_exact else f"≥ {fewest}",
            _mean([record.redundant for record in records]) if proven_text(records) else "-",
        )
    return table


def proven_text(records: Sequence[TeamTaskRecord]) -> str:
    """The mean credited outcome; empty before version 3 of the scores."""
    known = [record.credited for record in records if record.credited is not None]
    return f"{fmean(known):.2f}" if known else ""


def outcome_of(trial: TrialRecord) -> float:
    """The outcome of a trial, 0 without one."""
    return 0.0 if trial.grading is None or trial.grading.value is None else trial.grading.value


@dataclass(frozen=True, slots=True)
class RepeatingSeat:
    """A seat with many redundant messages, and how often it told each fact in them, the most frequent first."""

    name: str
    sent: int
    redundant: int
    facts: tuple[tuple[str, int], ...]

    @property
    def facts_text(self) -> str:
        """The facts that it repeated most."""
        return ", ".join(f"{fact} ({n:,} times)" for fact, n in self.facts[:2])


def repeating_seats(trials: Iterable[TrialRecord]) -> list[RepeatingSeat]:
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
        RepeatingSeat(seat, sent[seat], n, tuple(repeated[seat].most_common()))
        for seat, n in redundant.most_common()
        if n >= LEAST_REDUNDANT and 2 * n >= sent[seat]
    ]


def redundant_messages(trials: Iterable[TrialRecord]) -> RenderableType | None:
    """A line for each seat of whose messages at least half told nothing new. None without such a seat."""
    listed = repeating_seats(trials)
    lines = [_repeating(seat) for seat in listed[:MAX_REPEATING]]
    if len(listed) > MAX_REPEATING:
        lines.append(Text(f"and {counted(len(listed) - MAX_REPEATING, 'more seat')}", "dim"))
    return Group(*lines) if lines else None


def _flows_in(trials: Iterable[TrialRecord]) -> Iterator[FlowRecord]:
    """The flows of facts that the trials' records hold."""
    records = (trial.team_task for trial in trials if trial.team_task is not None)
    return (record.flow for record in records if record.flow is not None)


def controls_table(controls: Sequence[ControlRecord]) -> Table | None:
    """A line for each control: the team's outcome, the control's, and the gap with its interval."""
    if not controls:
        return None
    table = plain_table("control", "team", "control", "gap", "95 %", "pairs")
    for each in controls:
        low, high = each.gap_low, each.gap_high
        span = "-" if low is None or high is None else f"{low:+.2f} to {high:+.2f}"
        gap = f"{each.gap:+.2f}"
        table.add_row(CONTROLS[each.control], f"{each.team:.2f}", f"{each.value:.2f}", gap, span, str(each.trials))
    return table


def _repeating(seat: RepeatingSeat) -> Text:
    return Text.assemble(
        (printable(seat.name), "bold yellow"),
        f" sent {seat.redundant:,} of its {seat.sent:,} messages without a fact that was new to their receivers",
        printable(f"; it repeated {seat.facts_text}") if seat.facts else "",
    )


def _mean(values: Sequence[int]) -> str:
    if not values:
        return "-"
    mean = fmean(values)
    return f"{mean:,.0f}" if mean >= 100 else f"{mean:.3g}"
