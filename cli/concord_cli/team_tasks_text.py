"""The summary of trials of team tasks: outcomes, messages, and the causes of wrong answers. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from concord.assessment.results import TrialRecord
from concord.assessment.team_results import PartFailure, TeamTaskRecord
from concord_cli.display_text import printable
from concord_cli.terminal import plain_table, plain_text

MAX_CAUSES: Final = 8
"""Lines on causes; further ones are counted."""

_CAUSES: Final = {
    "not_sent": "told nobody",
    "misdirected": "told only seats that could not use",
    "not_passed_on": "was told and did not pass on",
    "changed": "told others something else than",
    "too_late": "told too late",
    "answered_early": "answered before it could know",
    "not_used": "knew everything it needed and answered wrong",
    "unreadable": "replied in a form that cannot be read",
    "no_answer": "knew everything it needed and gave no answer",
    "agent_failed": "failed",
}
_WITHOUT_FACTS: Final = frozenset({"not_used", "unreadable", "no_answer", "agent_failed"})


def tasks_table(trials: Sequence[TrialRecord]) -> Table | None:
    """One line per task: outcome, rounds, and messages against the fewest. None without such tasks."""
    by_task: defaultdict[str, list[tuple[TrialRecord, TeamTaskRecord]]] = defaultdict(list)
    for trial in trials:
        if trial.team_task is not None:
            by_task[trial.task_id].append((trial, trial.team_task))
    if not by_task:
        return None
    table = plain_table("task", "outcome", "chance", "rounds", "messages", "fewest", "redundant")
    for task_id, played in by_task.items():
        records = [record for _, record in played]
        fewest = records[0].fewest_messages
        table.add_row(
            plain_text(task_id),
            f"{fmean(outcome_of(trial) for trial, _ in played):.2f}",
            f"{fmean(record.chance for record in records):.2f}",
            _mean([record.rounds for record in records if record.rounds is not None]),
            _mean([record.messages for record in records]),
            f"{fewest}" if records[0].fewest_is_exact else f"≥ {fewest}",
            _mean([record.redundant for record in records]),
        )
    return table


def outcome_of(trial: TrialRecord) -> float:
    """The outcome of a trial, 0 without one."""
    return 0.0 if trial.grading is None or trial.grading.value is None else trial.grading.value


def causes(trials: Sequence[TrialRecord]) -> RenderableType | None:
    """Why answers are wrong: the causes with the most wrong parts first. None if all is right, or for other tasks."""
    found: defaultdict[tuple[str, str, str], list[PartFailure]] = defaultdict(list)
    for trial in trials:
        if trial.team_task is not None and trial.team_task.control is None:
            for failure in trial.team_task.failures:
                found[trial.task_id, " or ".join(failure.seats), failure.cause].append(failure)
    if not found:
        return None
    ranked = sorted(found.items(), key=lambda each: (-len(each[1]), each[0]))
    lines = [_line(*key, failures) for key, failures in ranked[:MAX_CAUSES]]
    if len(ranked) > MAX_CAUSES:
        lines.append(Text(f"and {len(ranked) - MAX_CAUSES} more causes, in the row and the report", "dim"))
    return Group(*lines)


def _line(task_id: str, seat: str, cause: str, failures: Sequence[PartFailure]) -> Text:
    facts = list(dict.fromkeys(fact for failure in failures for fact in failure.facts))
    about = "" if cause in _WITHOUT_FACTS or not facts else f": {', '.join(_shortened(facts))}"
    parts = f"{len(failures)} wrong part" + ("" if len(failures) == 1 else "s")
    return Text.assemble(
        (printable(seat), "bold red"),
        printable(f" {_CAUSES[cause]}{about}"),
        (f" ({printable(task_id)}, {parts})", "dim"),
    )


def _shortened(facts: Sequence[str], limit: int = 4) -> Iterator[str]:
    yield from facts[:limit]
    if len(facts) > limit:
        yield f"and {len(facts) - limit} more"


def _mean(values: Sequence[int]) -> str:
    return f"{fmean(values):.3g}" if values else "-"
