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
from concord_cli.row_view.flows import coordination_label
from concord_cli.row_view.recorded import failure_text
from concord_cli.terminal import plain_lines

MAX_LINES: Final = 30
"""Limit of the traces, and of the warnings, that the table lists; the others are counted. They fit on a screen."""

MAX_NAMES: Final = 3
"""Limit of the agents named in a line; the others are counted."""

MAX_SHAPES: Final = 5
"""Limit of the traces whose shape is described."""

MAX_FAILURES: Final = 5
"""Limit of the failures named; the others are counted."""


@dataclass(frozen=True, slots=True)
class TraceLine:
    """The figures of a row that the table shows, so that the row itself need not stay in memory.

    `failed`, `repeated`: None for a row without a record of its work. `failures`: the most frequent ones in words, each
    with its number.
    """

    trace: str
    agents: int
    calls: int
    kinds: Mapping[str, int]
    known_by: Mapping[str, int]
    support: Mapping[str, int]
    failed: int | None
    repeated: int | None
    tokens: int | None
    failures: tuple[tuple[str, int], ...]
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
        work = next((trial.work for trial in detail.trials), None)
        return cls(
            trace=detail.assessment_id,
            agents=len(detail.agents),
            calls=sum(call.calls for call in calls),
            kinds=_counted(call.kinds.items() for call in calls),
            known_by=_counted(call.known_by.known().items() for call in calls if call.known_by is not None),
            support=_counted(call.support.known().items() for call in calls if call.support is not None),
            failed=None if work is None else work.failed,
            repeated=None if work is None else work.repeated,
            tokens=None if detail.cost is None else detail.cost.tokens,
            failures=() if work is None else tuple((failure_text(each), each.count) for each in work.failures),
            density=detail.graph_metrics.graph_density,
            bottlenecks=tuple(name for found in detail.findings if found.id == "bottleneck" for name in found.agents),
            isolated=tuple(detail.graph_metrics.isolated_agents),
            label=coordination_label(detail.coordination_quality, detail.coordination_status),
            score=row.score,
            warnings=tuple(warning.partition(": ")[2] for warning in detail.warnings),
        )


def table_of(lines: Sequence[TraceLine]) -> RenderableType:
    """A line for each of the first traces, and below what failed, the shapes, and the warnings, each with its number of
    traces."""
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("trace", overflow="fold")
    for column in ("agents", "calls", "failed", "repeated", "tokens", "score"):
        table.add_column(column, justify="right")
    for line in lines[:MAX_LINES]:
        table.add_row(
            plain_lines(line.trace),
            str(line.agents),
            str(line.calls),
            _count(line.failed),
            _count(line.repeated),
            _count(line.tokens),
            _figure(line.score, 1),
        )
    return Group(table, *_rest(lines), *_failures(lines), *_shapes(lines), *_edges(lines), *_warnings(lines))


def _failures(lines: Iterable[TraceLine]) -> Iterable[RenderableType]:
    """The failures of all traces, the most frequent first."""
    counts: Counter[str] = Counter()
    for line in lines:
        for text, times in line.failures:
            counts[text] += times
    if counts:
        yield Text("\nFailed, as the traces tell", style="bold")
        for text, times in counts.most_common(MAX_FAILURES):
            yield plain_lines(f"  {text}" + (f" ({times} times)" if times > 1 else ""))
        if len(counts) > MAX_FAILURES:
            yield Text(f"  and {len(counts) - MAX_FAILURES} more")


def _shapes(lines: Sequence[TraceLine]) -> Iterable[RenderableType]:
    """How the teams were organised, in words that rate nothing: nobody knows whether another shape had been better."""
    if any(line.agents > 1 for line in lines):
        yield Text("\nShape, which earns and costs no points", style="bold")
        for line in lines[:MAX_SHAPES]:
            yield plain_lines(f"  {line.trace}: {_shape(line)}" if len(lines) > 1 else f"  {_shape(line)}")
        if len(lines) > MAX_SHAPES:
            yield Text(f"  and {len(lines) - MAX_SHAPES} more")


def _shape(line: TraceLine) -> str:
    parts = [f"density {_figure(line.density, 2)}"]
    if line.label is not None:
        parts.append(f"label {line.label}")
    if line.bottlenecks:
        parts.append(f"on most paths: {_names(line.bottlenecks)}")
    if line.isolated:
        parts.append(f"isolated: {_names(line.isolated)}")
    return ", ".join(parts)


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


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MAX_NAMES])
    return shown if len(names) <= MAX_NAMES else f"{shown} +{len(names) - MAX_NAMES}"
