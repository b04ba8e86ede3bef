"""The table that `concord evaluate` prints: a line for each trace, and the warnings."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from concord.assessment.result_row import ResultRow
from concord.trace.attributes import EdgeKind
from concord_cli.display_text import counted
from concord_cli.row_text.interactions import coordination_label
from concord_cli.terminal import plain_lines

MAX_NAMES: Final = 3
"""Limit of the agents named in a cell; the others are counted."""


@dataclass(frozen=True, slots=True)
class TraceLine:
    """The figures of a row that the table shows, so that the row itself need not stay in memory."""

    trace: str
    agents: int
    calls: int
    kinds: Mapping[str, int]
    density: float | None
    bottlenecks: tuple[str, ...]
    isolated: tuple[str, ...]
    label: str | None
    score: float | None
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, row: ResultRow) -> "TraceLine":
        """The line of a row with one trial."""
        detail = row.detail
        return cls(
            trace=detail.assessment_id,
            agents=len(detail.agents),
            calls=sum(call.calls for trial in detail.trials for call in trial.interactions),
            kinds=_kinds(row),
            density=detail.graph_metrics.graph_density,
            bottlenecks=tuple(name for found in detail.findings if found.id == "bottleneck" for name in found.agents),
            isolated=tuple(detail.graph_metrics.isolated_agents),
            label=coordination_label(detail.coordination_quality, detail.coordination_status),
            score=row.score,
            warnings=tuple(warning.partition(": ")[2] for warning in detail.warnings),
        )


def table_of(lines: Sequence[TraceLine]) -> RenderableType:
    """A line for each trace, and below the warnings, each with its number of traces."""
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("trace", overflow="fold")
    for column in ("agents", "calls", "density"):
        table.add_column(column, justify="right")
    for column in ("bottleneck", "isolated", "label"):
        table.add_column(column, overflow="fold")
    table.add_column("score", justify="right")
    for line in lines:
        table.add_row(
            plain_lines(line.trace),
            str(line.agents),
            str(line.calls),
            _figure(line.density, 2),
            _names(line.bottlenecks),
            _names(line.isolated),
            line.label or "-",
            _figure(line.score, 1),
        )
    return Group(table, *_edges(lines), *_warnings(lines))


def _kinds(row: ResultRow) -> Mapping[str, int]:
    kinds: Counter[str] = Counter()
    for call in (call for trial in row.detail.trials for call in trial.interactions):
        kinds.update(call.kinds)
    return kinds


def _edges(lines: Iterable[TraceLine]) -> Iterable[RenderableType]:
    """The kinds of calls, unless all are delegations."""
    kinds: Counter[str] = Counter()
    for line in lines:
        kinds.update(line.kinds)
    if kinds.keys() - {EdgeKind.DELEGATION}:
        by_kind = ", ".join(f"{kind} {calls}" for kind, calls in sorted(kinds.items()))
        yield Text(f"\nKinds of calls: {by_kind}; the metrics count all of them")


def _warnings(lines: Iterable[TraceLine]) -> Iterable[RenderableType]:
    counts = Counter(warning for line in lines for warning in line.warnings)
    if counts:
        yield Text("\nWarnings", style="bold")
        for warning, traces in counts.items():
            yield plain_lines(f"  {warning} ({counted(traces, 'trace')})")


def _figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _names(names: Sequence[str]) -> Text:
    shown = ", ".join(names[:MAX_NAMES]) or "-"
    return plain_lines(shown if len(names) <= MAX_NAMES else f"{shown} +{len(names) - MAX_NAMES}")
