"""The terminal's sections on trials whose tasks families generated: outcomes, messages, controls. Pure."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from concord_cli.display_text import counted, printable
from concord_cli.number_text import NONE
from concord_cli.row_view.team_tasks import ControlView, TaskLine, TeamSection
from concord_cli.terminal import plain_table, plain_text


def tasks_table(tasks: Sequence[TaskLine]) -> Table:
    """One line per task: outcome, rounds if any task was played in rounds, and messages against the fewest."""
    in_rounds = any(task.rounds for task in tasks)
    shown_rounds = ["rounds"] if in_rounds else []
    table = plain_table("task", "outcome", "proven", "chance", *shown_rounds, "messages", "fewest", "redundant")
    for task in tasks:
        table.add_row(
            plain_text(task.task_id),
            task.outcome,
            task.proven,
            task.chance,
            *([task.rounds or NONE] if in_rounds else []),
            task.messages,
            task.fewest,
            task.redundant,
        )
    return table


def redundant_messages(section: TeamSection) -> RenderableType | None:
    """A line for each seat of whose messages at least half told nothing new. None without such a seat."""
    lines = [
        Text.assemble((printable(seat.name), "bold yellow"), f" {printable(seat.text)}") for seat in section.repeating
    ]
    if section.repeating_left_out:
        lines.append(Text(f"and {counted(section.repeating_left_out, 'more seat')}", "dim"))
    return Group(*lines) if lines else None


def controls_table(controls: Sequence[ControlView]) -> Table | None:
    """A line for each control: the team's outcome, the control's, and the gap with its interval."""
    if not controls:
        return None
    table = plain_table("control", "team", "control", "gap", "95 %", "pairs")
    for each in controls:
        figures = f"{each.team:.2f}", f"{each.control:.2f}", f"{each.gap:+.2f}"
        table.add_row(each.against, *figures, each.interval or NONE, str(each.pairs))
    return table
