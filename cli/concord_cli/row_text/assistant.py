"""A summary's sections on an assistant in scenarios: points, what lost them, failed checks, faults of others. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.table import Table
from rich.text import Text

from concord_assistant.results import AssessmentResults
from concord_cli.display_text import printable
from concord_cli.row_text.assistant_points import CriterionPoints, criteria_of, dimension_points, losing, of_points
from concord_cli.terminal import plain_table, plain_text

MAX_DIMENSIONS: Final = 6
MAX_LINES: Final = 2
"""Lines on failed checks, on faults of people and on warnings, each."""

_BAR: Final = 10


def points_table(results: Sequence[AssessmentResults]) -> Table:
    """A line for each dimension, with its points as a bar."""
    table = plain_table()
    for name, points in list(dimension_points(results).items())[:MAX_DIMENSIONS]:
        filled = round(points.share * _BAR)
        bar = "█" * filled + "░" * (_BAR - filled)
        table.add_row(plain_text(name.replace("_", " ")), Text(of_points(points), justify="right"), bar)
    return table


def losses(results: Sequence[AssessmentResults], room: int) -> list[Text]:
    """The criteria that lost points and why, two lines each, in at most `room` lines."""
    criteria = criteria_of(results)
    lost = losing(criteria)
    if not lost:
        return [Text("None." if any(each.checked for each in criteria) else "No criterion was checked.")]
    fit = max(1, room // 2)
    shown = lost if len(lost) <= fit else lost[: max(1, (room - 1) // 2)]
    lines = [line for each in shown for line in _loss(each, len({trial.scenario_id for trial in results}) > 1)]
    if len(lost) > len(shown):
        points = sum(each.lost for each in lost[len(shown) :])
        lines.append(_line(f"and {len(lost) - len(shown)} more, which lost {points:,g} points", "dim"))
    return lines


def failed_checks(results: Sequence[AssessmentResults]) -> list[Text]:
    """A line for each criterion whose check failed: its name, its points, why."""
    failed = [each for each in criteria_of(results) if each.failed]
    return [
        _line(f"{each.name} ({each.failed_points:,g} points): {'; '.join(each.failures)}", "yellow") for each in failed
    ]


def people_faults(results: Sequence[AssessmentResults]) -> list[Text]:
    """A line for each fault of a simulated person."""
    faults = [fault for trial in results for fault in trial.user_faults]
    return [_line(f"turn {fault.turn}, {fault.character}: {fault.fault}") for fault in faults]


def cut_short(lines: Sequence[Text], limit: int = MAX_LINES) -> list[Text]:
    """At most `limit` lines, the last of which counts those left out."""
    if len(lines) <= limit:
        return list(lines)
    return [*lines[: limit - 1], Text(f"and {len(lines) - limit + 1} more", "dim")]


def one_line(text: str, style: str = "") -> Text:
    """Untrusted text that takes one line of the screen and is cut at its end."""
    return _line(text, style)


def _loss(criterion: CriterionPoints, with_scenario: bool) -> Iterator[Text]:
    where = f"{criterion.scenario}: " if with_scenario else ""
    often = "" if criterion.trials == 1 else f", lost in {criterion.losing} of {criterion.trials} trials"
    yield Text.assemble(
        ("✕ ", "bold red"),
        (printable(f"{where}{criterion.name}"), "bold"),
        (f"  {of_points(criterion.points)}{often}", "dim"),
        no_wrap=True,
        overflow="ellipsis",
    )
    yield _line(f"  {'; '.join(criterion.reasons) or 'without an explanation'}")


def _line(text: str, style: str = "") -> Text:
    return Text(printable(text), style, no_wrap=True, overflow="ellipsis")
