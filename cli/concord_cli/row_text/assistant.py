"""A summary's sections on an assistant in scenarios: its points, and the faults of others. Pure."""

from collections.abc import Sequence
from typing import Final

from rich.table import Table
from rich.text import Text

from concord_assistant.results import AssessmentResults
from concord_cli.display_text import printable
from concord_cli.row_view.assistant_points import dimension_points, of_points
from concord_cli.terminal import plain_table, plain_text

MAX_DIMENSIONS: Final = 6
_BAR: Final = 10


def points_table(results: Sequence[AssessmentResults]) -> Table:
    """A line for each dimension, with its points as a bar."""
    table = plain_table()
    for name, points in list(dimension_points(results).items())[:MAX_DIMENSIONS]:
        filled = round(points.share * _BAR)
        bar = "█" * filled + "░" * (_BAR - filled)
        table.add_row(plain_text(name.replace("_", " ")), Text(of_points(points), justify="right"), bar)
    return table


def people_faults(results: Sequence[AssessmentResults]) -> list[Text]:
    """A line for each fault of a simulated person."""
    faults = [fault for trial in results for fault in trial.user_faults]
    return [_line(f"turn {fault.turn}, {fault.character}: {fault.fault}") for fault in faults]


def _line(text: str, style: str = "") -> Text:
    return Text(printable(text), style, no_wrap=True, overflow="ellipsis")
