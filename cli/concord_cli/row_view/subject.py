"""Texts on the subject of a row: its team, its tasks, its date."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Final

from concord.assessment.result_row import Detail
from concord.assessment.results import TrialRecord
from concord_cli.display_text import counted, on_one_line, shortened

MAX_NAMES: Final = 3
"""The largest number of agents or tasks that a text names; further ones are counted."""

MAX_NAME: Final = 40


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
