"""The terminal's sections on an assistant in scenarios: its points, and the faults of others. Pure."""

from collections.abc import Sequence
from typing import Final

from rich.table import Table
from rich.text import Text

from concord_cli.display_text import printable
from concord_cli.row_view.assistant_section import DimensionView, FaultView
from concord_cli.terminal import plain_table, plain_text

MAX_DIMENSIONS: Final = 6
_BAR: Final = 10


def bar(share: float) -> str:
    """A share as a bar of characters."""
    filled = round(share * _BAR)
    return "█" * filled + "░" * (_BAR - filled)


def points_table(dimensions: Sequence[DimensionView]) -> Table:
    """A line for each dimension, with its points as a bar."""
    table = plain_table()
    for each in dimensions[:MAX_DIMENSIONS]:
        table.add_row(plain_text(each.name.lower()), Text(each.points, justify="right"), bar(each.share))
    return table


def people_faults(faults: Sequence[FaultView]) -> list[Text]:
    """A line for each fault of a simulated person."""
    return [_fault(each) for each in faults]


def _fault(fault: FaultView) -> Text:
    trial = "" if fault.trial is None else f"{fault.trial}, "
    text = printable(f"{trial}turn {fault.turn}, {fault.character}: {fault.fault}")
    return Text(text, no_wrap=True, overflow="ellipsis")
