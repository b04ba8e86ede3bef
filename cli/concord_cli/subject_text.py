"""Texts on the subject of a row: its team, its tasks, its date."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Final

from concord.assessment.result_row import Detail
from concord_cli.display_text import counted, on_one_line, shortened

MAX_NAMES: Final = 3
"""The largest number of agents or tasks that a text names; further ones are counted."""

MAX_NAME: Final = 40


def team_text(detail: Detail) -> str:
    """The participants: `planner and writer`, `agent in 5 seats`, `planner, writer, critic and 3 more`."""
    declared = [agent.id for agent in detail.agents if agent.declared] or [agent.id for agent in detail.agents]
    groups = [(name, len(list(seats))) for name, seats in groupby(declared, key=lambda agent: agent.split("/")[0])]
    names = [shortened(name, MAX_NAME) + (f" in {n} seats" if n > 1 else "") for name, n in groups]
    return _joined(names) or "no agent"


def tasks_text(detail: Detail) -> str:
    """The tasks: `review`, or `maximum-5, median-5 and 4 more`. Controls are no tasks."""
    played = (trial for trial in detail.trials if trial.team_task is None or trial.team_task.control is None)
    tasks = dict.fromkeys(trial.task_id for trial in played)
    return _joined([shortened(task, MAX_NAME) for task in tasks]) or "no task"


def date_text(started_at: datetime | None) -> str | None:
    """The start of the assessment: `8 Sep 2026, 12:36 UTC`; None if unknown."""
    if started_at is None:
        return None
    date = started_at.astimezone(UTC) if started_at.tzinfo else started_at
    return f"{date.day} {date:%b} {date.year}, {date:%H:%M} UTC"


def size_text(detail: Detail) -> str:
    """The size of the team: `5 agents`, `5 seats in one process`."""
    records = [trial.team_task for trial in detail.trials if trial.team_task is not None]
    shared = any(record.shared_process for record in records)
    return counted(len(detail.agents), "seat" if records else "agent") + (" in one process" if shared else "")


def _joined(names: Sequence[str]) -> str:
    if len(names) > MAX_NAMES + 1:
        return f"{', '.join(names[:MAX_NAMES])} and {len(names) - MAX_NAMES} more"
    return on_one_line(" and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)) if names else ""
