"""A summary's sections on trials whose tasks families generated: outcomes, messages, causes, controls. Pure."""

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
from concord.assessment.team_results import FlowRecord, PartFailure, TeamTaskRecord
from concord_cli.display_text import counted, printable
from concord_cli.terminal import plain_table, plain_text

MAX_CAUSES: Final = 5
"""Entries on causes; further ones are counted."""

MAX_REPEATING: Final = 3
"""Seats whose redundant messages are counted."""

LEAST_REDUNDANT: Final = 3
"""Fewer redundant messages of a seat are not worth a line."""

CAUSES: Final = {
    "not_sent": "told nobody",
    "misdirected": "told only seats that could not use",
    "not_passed_on": "was told and did not pass on",
    "changed": "changed, and told others something else",
    "contradicted": "took back what it had told, and told something else",
    "invented": "told a value that stands in no brief",
    "truncated": "wrote a message that was cut off",
    "too_late": "told too late",
    "answered_early": "answered before it could know",
    "not_used": "knew everything it needed and answered wrong",
    "unreadable": "replied in a form that cannot be read",
    "no_answer": "knew everything it needed and gave no answer",
    "agent_failed": "failed",
}
CONTROLS: Final = {"solo": "one agent with all briefs", "silent": "no channel", "alone": "the starting agent alone"}
WITHOUT_FACTS: Final = frozenset({"not_used", "unreadable", "no_answer", "agent_failed", "contradicted", "invented"})


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
            _mean([record.redundant for record in records]),
        )
    return table


def proven_text(records: Sequence[TeamTaskRecord]) -> str:
    """The mean credited outcome; empty before version 3 of the scores."""
    known = [record.credited for record in records if record.credited is not None]
    return f"{fmean(known):.2f}" if known else ""


@dataclass(frozen=True, slots=True)
class UnprovenAnswer:
    """Right answers of a seat that rest on facts which nothing told it."""

    seat: str
    text: str


def unproven_answers(trials: Iterable[TrialRecord]) -> list[UnprovenAnswer]:
    """The seats with right answers that are not proven, those with the most parts first."""
    parts, facts = Counter[str](), defaultdict[str, dict[str, None]](dict)
    for record in (trial.team_task for trial in trials if trial.team_task is not None):
        for each in record.unproven:
            parts[each.seat] += 1
            facts[each.seat] |= dict.fromkeys(each.facts)
    return [
        UnprovenAnswer(
            seat,
            f"answered right, and no message told it: {', '.join(_shortened(list(facts[seat])))} "
            f"({counted(n, 'part')})",
        )
        for seat, n in parts.most_common()
    ]


def unproven(trials: Iterable[TrialRecord]) -> RenderableType | None:
    """A line for each seat with right answers that are not proven. None without such a seat."""
    found = unproven_answers(trials)
    lines = [
        Text.assemble((printable(each.seat), "bold red"), printable(f" {each.text}")) for each in found[:MAX_CAUSES]
    ]
    if len(found) > MAX_CAUSES:
        lines.append(Text(f"and {counted(len(found) - MAX_CAUSES, 'more seat')}", "dim"))
    return Group(*lines) if lines else None


def outcome_of(trial: TrialRecord) -> float:
    """The outcome of a trial, 0 without one."""
    return 0.0 if trial.grading is None or trial.grading.value is None else trial.grading.value


def causes(trials: Sequence[TrialRecord]) -> RenderableType | None:
    """Why answers are wrong: the causes with the most wrong parts first. None without tasks of families."""
    played = [trial.team_task for trial in trials if trial.team_task is not None and trial.team_task.control is None]
    if not played:
        return None
    found = causes_found(trials)
    if not found:
        return Text("None is wrong.", "green")
    lines = [_line(cause) for cause in found[:MAX_CAUSES]]
    if len(found) > MAX_CAUSES:
        lines.append(Text(f"and {counted(len(found) - MAX_CAUSES, 'more cause')}, in the row and the report", "dim"))
    if omitted := sum(record.failures_omitted for record in played):
        lines.append(Text(f"and {counted(omitted, 'more failure')}, counted in the row and not listed", "dim"))
    return Group(*lines)


@dataclass(frozen=True, slots=True)
class CauseFound:
    """A cause of wrong parts: `agent/2`, `told nobody`, `crate of 20 grams`, `sort, 4 wrong parts`."""

    seats: str
    cause: str
    facts: str
    where: str

    @property
    def text(self) -> str:
        """The cause with the lost facts, if they matter."""
        return f"{self.cause}: {self.facts}" if self.facts else self.cause


def causes_found(trials: Iterable[TrialRecord], *, over_tasks: bool = False) -> list[CauseFound]:
    """The causes, those with the most wrong parts first, without controls.

    `over_tasks`: the causes of all tasks together instead of those of each task.
    """
    found: defaultdict[tuple[str, str, str], list[tuple[TrialRecord, PartFailure]]] = defaultdict(list)
    for trial in trials:
        if trial.team_task is not None and trial.team_task.control is None:
            for failure in trial.team_task.failures:
                seats = " or ".join(_shortened(failure.seats, 3))
                found["" if over_tasks else trial.task_id, seats, failure.cause].append((trial, failure))
    ranked = sorted(found.items(), key=lambda each: (-_wrong_parts(each[1]), each[0]))
    return [_cause_found(seats, cause, failures) for (_, seats, cause), failures in ranked]


def _cause_found(seats: str, cause: str, failures: Sequence[tuple[TrialRecord, PartFailure]]) -> CauseFound:
    facts = list(dict.fromkeys(fact for _, failure in failures for fact in failure.facts))
    about = "" if cause in WITHOUT_FACTS else ", ".join(_shortened(facts))
    tasks = list(dict.fromkeys(trial.task_id for trial, _ in failures))
    where = tasks[0] if len(tasks) == 1 else counted(len(tasks), "task")
    return CauseFound(seats, CAUSES[cause], about, f"{where}, {counted(_wrong_parts(failures), 'wrong part')}")


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


def _wrong_parts(failures: Iterable[tuple[TrialRecord, PartFailure]]) -> int:
    return len({(trial.trial_id, failure.part) for trial, failure in failures})


def _line(cause: CauseFound) -> Text:
    return Text.assemble(
        (printable(cause.seats), "bold red"),
        printable(f" {cause.text}"),
        (f" ({printable(cause.where)})", "dim"),
    )


def _shortened(facts: Sequence[str], limit: int = 2) -> Iterator[str]:
    yield from facts[:limit]
    if len(facts) > limit:
        yield f"and {len(facts) - limit} more"


def _mean(values: Sequence[int]) -> str:
    if not values:
        return "-"
    mean = fmean(values)
    return f"{mean:,.0f}" if mean >= 100 else f"{mean:.3g}"
