"""The content of the page on many traces, as texts and tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from concord_cli.display_text import counted, on_one_line, shortened
from concord_cli.number_text import NONE, count, duration, figure
from concord_cli.report.graph import Drawing, draw
from concord_cli.report.traces.failures import FailureGroup, groups_of
from concord_cli.report.traces.runs import (
    Difference,
    Division,
    Edge,
    RunFacts,
    Shape,
    Totals,
    agents_in,
    differences,
    edge_differences,
    edges_in,
    shapes_in,
)
from concord_cli.row_view.flows import Flow
from concord_cli.row_view.table import Cell, Column, Table, not_listed, number_columns, table_of

MAX_ROWS: Final = 100
"""Limit of the rows of each table; the others are counted."""

MAX_SHAPES: Final = 20
MAX_EDGES_NAMED: Final = 12
MAX_TASK_SHOWN: Final = 90
MAX_ERROR: Final = 160
_NUMBERS: Final = "Traces", "Calls", "Failed", "p50", "p95", "Tokens"


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group of traces. `title`: what failed in them; `opened`: it is the one to read first."""

    title: str
    traces: Table
    opened: bool


@dataclass(frozen=True, slots=True)
class DivisionView:
    """Two groups compared. `edges`: pairs of agents whose share of failed calls differs, with both shares."""

    title: str
    measures: Table
    edges: Table
    left_out: int


@dataclass(frozen=True, slots=True)
class TracesPage:
    """One page on all traces of a file. `first`: the largest group of failures in words; None without any.

    `pages`: the numbers of the traces that it links to, and the paths of their pages.
    """

    source: str
    traces: str
    period: str
    calls: str
    failed: str
    with_failures: str
    tokens: str
    first: str | None
    failures: Table
    groups: list[GroupView]
    pages: dict[int, str]
    graph: Drawing
    agents: Table
    edges: Table
    shapes: Table
    divisions: list[DivisionView]


def page_of(source: str, runs: Sequence[RunFacts], divisions: Sequence[Division], folder: str) -> TracesPage:
    """The page on traces. `source`: the name of their file; `folder`: where the pages on single traces will be."""
    agents, edges, shapes = agents_in(runs), edges_in(runs), shapes_in(runs)
    failing = sum(run.failed > 0 for run in runs)
    groups = groups_of(runs)
    pages = {run.number: f"{folder}/trace-{run.number}.html" for group in groups for run in group.listed}
    first = groups[0] if groups and groups[0].failed else None
    return TracesPage(
        source=on_one_line(source),
        traces=f"{len(runs):,}",
        period=_period(runs),
        calls=f"{sum(run.calls for run in runs):,}",
        failed=f"{sum(run.failed for run in runs):,}",
        with_failures=f"{failing:,} ({_share(failing, len(runs))})",
        tokens=count(sum(total.tokens or 0 for total in agents.values()) or None),
        first=None if first is None else f"{_size(first)} of {len(runs):,}: {_title(first)}",
        failures=_failures(groups, len(runs)),
        groups=[_group(each, pages, opened=each is groups[0]) for each in groups],
        pages=pages,
        graph=draw(sorted(agents), [_flow(edge, totals) for edge, totals in sorted(edges.items())]),
        agents=_totals("Agents", ("Agent",), [((agent,), totals) for agent, totals in agents.items()], "further agent"),
        edges=_totals("Who called whom", ("Caller", "Callee"), list(edges.items()), "further pair"),
        shapes=_shapes(shapes, len(runs), {run.trace_id: pages[run.number] for run in runs if run.number in pages}),
        divisions=[_division(each) for each in divisions],
    )


def _failures(groups: Sequence[FailureGroup], traces: int) -> Table:
    """A line for each group, which links to its traces."""
    rows = (
        (
            Cell(f"{len(each.runs):,}", behind=len(each.runs) / max(traces, 1)),
            _share(len(each.runs), traces),
            Cell(each.outcome, "handled" if each.handled else ""),
            NONE if each.agent is None else on_one_line(each.agent),
            Cell("", links=((_error(each), f"#group-{number}"),)),
        )
        for number, each in enumerate(groups, 1)
    )
    numbers = number_columns("Traces", "Share")
    return table_of("What failed", [*numbers, Column("Outcome"), Column("Agent"), Column("Error")], rows, kind="flows")


def _group(group: FailureGroup, pages: Mapping[int, str], *, opened: bool) -> GroupView:
    columns = [Column("Trace", "id"), Column("Task"), Column("Began", optional=True)]
    rows = (
        (
            _linked(on_one_line(run.trace_id), pages[run.number]),
            shortened(run.task, MAX_TASK_SHOWN) if run.task else NONE,
            "" if run.started_at is None else f"{run.started_at:%Y-%m-%d %H:%M}",
            f"{run.calls:,}",
            Cell(f"{run.failed:,}", kind="bad" if run.failed else ""),
            count(sum(run.tokens.values()) or None),
            duration(1000 * min(run.took_s, 1e300)),
        )
        for run in group.listed
    )
    title = f"{_size(group)}: {_title(group)}"
    left_out = not_listed(len(group.runs) - len(group.listed), "further trace")
    more = f"{left_out} To see one: concord report RESULTS --assessment ID" if left_out else ""
    columns += number_columns("Calls", "Failed", "Tokens", "Time")
    return GroupView(title, table_of(title, columns, rows, left_out=more), opened)


def _linked(text: str, page: str | None) -> Cell:
    return Cell(text) if page is None else Cell("", links=((text, quote(page)),))


def _size(group: FailureGroup) -> str:
    return counted(len(group.runs), "trace")


def _title(group: FailureGroup) -> str:
    """`agent-3: RateLimitError: 429, handled; not judged`."""
    where = f"{on_one_line(group.agent)}: " if group.agent is not None else ""
    return f"{where}{_error(group)}{', handled' if group.handled else ''}; {group.outcome}"


def _error(group: FailureGroup) -> str:
    return shortened(group.error, MAX_ERROR) if group.error else "no failure told"


def _totals(title: str, heads: Sequence[str], ranked: Sequence[tuple[tuple[str, ...], Totals]], thing: str) -> Table:
    """A line for each agent, or for caller and callee."""
    most = max((each.calls for _, each in ranked), default=0)
    columns = [*map(Column, heads), *number_columns(*_NUMBERS)]
    rows = (
        (
            *map(on_one_line, name),
            f"{each.traces:,}",
            Cell(f"{each.calls:,}", behind=each.calls / max(most, 1)),
            Cell(f"{each.failed:,}", _share(each.failed, each.calls), "✕", "bad") if each.failed else "0",
            duration(each.duration_ms(0.5)),
            duration(each.duration_ms(0.95)),
            count(each.tokens),
        )
        for name, each in ranked[:MAX_ROWS]
    )
    return table_of(title, columns, rows, kind="flows", left_out=not_listed(len(ranked) - MAX_ROWS, thing))


def _flow(edge: Edge, totals: Totals) -> Flow:
    return Flow(*edge, totals.calls, totals.failed, 0, 0, 0, totals.calls, totals.duration_ms(0.5))


def _shapes(shapes: Sequence[Shape], traces: int, pages: Mapping[str, str]) -> Table:
    rows = (
        (
            Cell(f"{each.traces:,}", behind=each.traces / max(traces, 1)),
            _share(each.traces, traces),
            f"{each.with_failures:,}",
            duration(1000 * each.p50_s),
            _between(each.edges),
            _linked(on_one_line(each.example), pages.get(each.example)),
        )
        for each in shapes[:MAX_SHAPES]
    )
    numbers = number_columns("Traces", "Share", "With failures", "Median time")
    columns = [*numbers, Column("Calls between"), Column("Example", "id")]
    left_out = not_listed(len(shapes) - MAX_SHAPES, "further shape")
    return table_of("Shapes of runs", columns, rows, kind="flows shapes", left_out=left_out)


def _between(edges: Sequence[Edge]) -> str:
    named = [f"{on_one_line(caller)} → {on_one_line(callee)}" for caller, callee in edges[:MAX_EDGES_NAMED]]
    more = [f"and {len(edges) - MAX_EDGES_NAMED} more"] if len(edges) > MAX_EDGES_NAMED else []
    return ", ".join([*named, *more]) or "no calls"


def _division(division: Division) -> DivisionView:
    groups = division.first, division.second
    names = [on_one_line(group.name) for group in groups]
    sizes = [f"{name} ({len(group.runs):,})" for name, group in zip(names, groups, strict=True)]
    shares = [(edge, pair) for edge, pair in edge_differences(division).items() if pair[0] != pair[1]]
    numbers = number_columns(*sizes, "Difference, 95 % interval")
    pairs = (
        (on_one_line(caller), on_one_line(callee), f"{first:.1%}", f"{second:.1%}")
        for (caller, callee), (first, second) in shares[:MAX_EDGES_NAMED]
    )
    columns = Column("Caller"), Column("Callee"), *number_columns(*names)
    title = " and ".join(names)
    return DivisionView(
        title=title,
        measures=table_of(
            title, [Column("Mean of the traces"), *numbers, Column("Verdict")], map(_measure, differences(division))
        ),
        edges=table_of("Failed calls by pair of agents", columns, pairs),
        left_out=division.left_out,
    )


def _measure(found: Difference) -> tuple[Cell | str, ...]:
    known = found.low is not None
    interval = f"{figure(found.low)} to {figure(found.high)}" if known else NONE
    verdict = Cell("differs", kind="sure") if found.sure else "no difference shown" if known else "too few traces"
    return found.measure, figure(found.first), figure(found.second), interval, verdict


def _period(runs: Sequence[RunFacts]) -> str:
    dates = [run.started_at for run in runs if run.started_at is not None]
    if not dates:
        return "times unknown"
    first, last = f"{min(dates):%Y-%m-%d}", f"{max(dates):%Y-%m-%d}"
    return first if first == last else f"{first} to {last}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else NONE
