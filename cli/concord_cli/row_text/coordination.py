"""A summary's sections on what coordination costs and carries: the five figures, the gap, and artifacts. Pure."""

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table

from concord.assessment.cost import CoordinationFigures
from concord.assessment.results import TrialRecord
from concord_cli.display_text import counted
from concord_cli.terminal import plain_table, plain_text

MAX_ARTIFACTS: Final = 10
"""Artifacts that are shown of all trials."""


def coordination_table(figures: CoordinationFigures | None) -> RenderableType | None:
    """The five figures that are known, and the gap. None of rows without team tasks."""
    if figures is None:
        return None
    table = plain_table()
    for name, value in (
        ("efficiency", figures.efficiency),
        ("overhead", figures.overhead),
        ("error amplification", figures.error_amplification),
        ("message density", figures.message_density),
        ("redundancy", figures.redundancy),
    ):
        if value is not None:
            table.add_row(name, f"{value:.3g}")
    if figures.turns is not None:
        alone = "" if figures.solo_turns is None else f", one agent alone {figures.solo_turns:.3g}"
        table.add_row("turns", f"{figures.turns:.3g}{alone}")
    lines = [plain_text(_gap(figures))] if figures.failed_parts else []
    if figures.overhead is None:
        lines.append(plain_text("Efficiency, overhead and error amplification need the control `solo`", "dim"))
    return Group(*([table] if table.row_count else []), *lines)


def _gap(figures: CoordinationFigures) -> str:
    parts, seats = counted(figures.failed_parts, "failed part"), counted(figures.failed_seats, "seat")
    return (
        f"In {figures.failed_informed:,} of {parts}, the seat could know all that it needed, and answered wrong "
        f"({figures.informed_seats:,} of {seats})"
    )


def artifacts_table(trials: Sequence[TrialRecord]) -> Table | None:
    """Who changed which artifacts, and who read them after. None without artifacts."""
    used = [each for trial in trials if trial.network is not None for each in trial.network.artifacts]
    if not used:
        return None
    table = plain_table("artifact", "written by", "read after by")
    for each in used[:MAX_ARTIFACTS]:
        readers = ", ".join(each.readers) or "nobody"
        table.add_row(plain_text(each.artifact), plain_text(", ".join(each.writers) or "nobody"), plain_text(readers))
    if len(used) > MAX_ARTIFACTS:
        table.add_row(f"and {len(used) - MAX_ARTIFACTS} more", "", "")
    return table
