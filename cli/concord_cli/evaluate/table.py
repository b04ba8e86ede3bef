"""The table that `concord evaluate` prints: a line for each trace, and the warnings."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from concord.assessment.result_row import ResultRow
from concord.trace.attributes import EdgeKind
from concord_cli.display_text import counted
from concord_cli.row_text.interactions import coordination_label
from concord_cli.terminal import plain_lines

MAX_LINES: Final = 30
"""Limit of the traces, and of the warnings, that the table lists; the others are counted. They fit on a screen."""

MAX_NAMES: Final = 3
"""Limit of the agents named in a cell; the others are counted."""


@dataclass(frozen=True, slots=True)
class TraceLine:
    """The figures of a row that the table shows, so that the row itself need not stay in memory."""

    trace: str
    agents: int
    calls: int
    kinds: Mapping[str, int]
    known_by: Mapping[str, int]
    support: Mapping[str, int]
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
        calls = [call for trial in detail.trials for call in trial.interactions]
        return cls(
            trace=detail.assessment_id,
            agents=len(detail.agents),
            calls=sum(call.calls for call in calls),
            kinds=_counted(call.kinds.items() for call in calls),
            known_by=_counted(call.known_by.known().items() for call in calls if call.known_by is not None),
            support=_counted(call.support.known().items() for call in calls if call.support is not None),
            density=detail.graph_metrics.graph_density,
            bottlenecks=tuple(name for found in detail.findings if found.id == "bottleneck" for name in found.agents),
            isolated=tuple(detail.graph_metrics.isolated_agents),
            label=coordination_label(detail.coordination_quality, detail.coordination_status),
            score=row.score,
            warnings=tuple(warning.partition(": ")[2] for warning in detail.warnings),
        )


def table_of(lines: Sequence[TraceLine]) -> RenderableType:
    """A line for each of the first traces, and below the warnings, each with its number of traces."""
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("trace", overflow="fold")
    for column in ("agents", "calls", "density"):
        table.add_column(column, justify="right")
    for column in ("bottleneck", "isolated", "label"):
        table.add_column(column, overflow="fold")
    table.add_column("score", justify="right")
    for line in lines[:MAX_LINES]:
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
    return Group(table, *_rest(lines), *_edges(lines), *_warnings(lines))


def _rest(lines: Sequence[TraceLine]) -> Iterable[RenderableType]:
    if rest := lines[MAX_LINES:]:
        calls = sum(line.calls for line in rest)
        more = f"{counted(len(rest), 'more trace')} with {counted(calls, 'call')}"
        yield Text(f"and {more}: write the rows with -o, and `concord report` shows all on one page")


def _counted(counts: Iterable[Iterable[tuple[str, int]]]) -> Mapping[str, int]:
    total: Counter[str] = Counter()
    for name, calls in chain.from_iterable(counts):
        total[name] += calls
    return total


def _edges(lines: Sequence[TraceLine]) -> Iterable[RenderableType]:
    """The kinds of calls, unless all are delegations, and how the calls that were found in spans are known."""
    kinds = _counted(line.kinds.items() for line in lines)
    if kinds.keys() - {EdgeKind.DELEGATION}:
        yield Text(f"\nKinds of calls: {_listed(kinds)}; the metrics count all of them")
    if known_by := _counted(line.known_by.items() for line in lines):
        support = _counted(line.support.items() for line in lines)
        yield Text(f"\nCalls known by: {_listed(known_by)}; by a second source: {_listed(support)}")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {calls}" for name, calls in sorted(counts.items()))


def _warnings(lines: Iterable[TraceLine]) -> Iterable[RenderableType]:
    counts = Counter(warning for line in lines for warning in line.warnings)
    if counts:
        yield Text("\nWarnings", style="bold")
        for warning, traces in counts.most_common(MAX_LINES):
            yield plain_lines(f"  {warning} ({counted(traces, 'trace')})")
        if len(counts) > MAX_LINES:
            yield Text(f"  and {counted(len(counts) - MAX_LINES, 'more warning')}")


def _figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _names(names: Sequence[str]) -> Text:
    shown = ", ".join(names[:MAX_NAMES]) or "-"
    return plain_lines(shown if len(names) <= MAX_NAMES else f"{shown} +{len(names) - MAX_NAMES}")
