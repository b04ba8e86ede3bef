"""The content of the page on many traces, as texts and shapes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from concord_cli.display_text import on_one_line
from concord_cli.number_text import NONE, duration, figure, percent
from concord_cli.report.graph import Drawing, draw
from concord_cli.report.traces.facts import Edge, RunFacts
from concord_cli.report.traces.groups import Difference, Division, differences, edge_differences
from concord_cli.report.traces.totals import Shape, Totals, agents_in, edges_in, shapes_in
from concord_cli.row_view.flows import Flow

MAX_ROWS: Final = 100
"""Limit of the rows of each table; the others are counted."""

MAX_SHAPES: Final = 20
MAX_EDGES_NAMED: Final = 12


@dataclass(frozen=True, slots=True)
class TotalsRow:
    """A row of a table of totals. `name`: an agent, or caller and callee."""

    name: tuple[str, ...]
    traces: str
    calls: str
    width: str
    failed: str
    failed_share: str
    p50: str
    p95: str
    tokens: str

    @property
    def failing(self) -> bool:
        """Whether any call failed."""
        return self.failed != "0"


@dataclass(frozen=True, slots=True)
class ShapeView:
    """A shape of traces. `more`: pairs of agents that are not named."""

    traces: str
    share: str
    width: str
    with_failures: str
    p50: str
    edges: list[tuple[str, str]]
    more: int
    example: str


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """A measure in two groups. `verdict`: in words, whether they differ beyond chance."""

    measure: str
    first: str
    second: str
    interval: str
    verdict: str
    sure: bool


@dataclass(frozen=True, slots=True)
class DivisionView:
    """Two groups compared. `edges`: pairs of agents whose share of failed calls differs, with both shares."""

    first: str
    second: str
    sizes: tuple[str, str]
    left_out: int
    rows: list[DifferenceRow]
    edges: list[tuple[str, str, str, str]]


@dataclass(frozen=True, slots=True)
class TracesPage:
    """One page on all traces of a file."""

    source: str
    traces: str
    period: str
    calls: str
    failed: str
    with_failures: str
    tokens: str
    graph: Drawing
    agents: list[TotalsRow]
    agents_left_out: int
    edges: list[TotalsRow]
    edges_left_out: int
    shapes: list[ShapeView]
    shapes_left_out: int
    divisions: list[DivisionView]


def page_of(source: str, runs: Sequence[RunFacts], divisions: Sequence[Division]) -> TracesPage:
    """The page on traces. `source`: the name of their file."""
    agents, edges, shapes = agents_in(runs), edges_in(runs), shapes_in(runs)
    failing = sum(run.failed > 0 for run in runs)
    return TracesPage(
        source=on_one_line(source),
        traces=f"{len(runs):,}",
        period=_period(runs),
        calls=f"{sum(run.calls for run in runs):,}",
        failed=f"{sum(run.failed for run in runs):,}",
        with_failures=f"{failing:,} ({_share(failing, len(runs))})",
        tokens=_count(sum(total.tokens or 0 for total in agents.values()) or None),
        graph=draw(sorted(agents), [_flow(edge, totals) for edge, totals in sorted(edges.items())]),
        agents=_rows(((agent,), totals) for agent, totals in agents.items()),
        agents_left_out=max(0, len(agents) - MAX_ROWS),
        edges=_rows(edges.items()),
        edges_left_out=max(0, len(edges) - MAX_ROWS),
        shapes=[_shape(shape, len(runs)) for shape in shapes[:MAX_SHAPES]],
        shapes_left_out=max(0, len(shapes) - MAX_SHAPES),
        divisions=[_division(each) for each in divisions],
    )


def _rows(totals: Iterable[tuple[tuple[str, ...], Totals]]) -> list[TotalsRow]:
    ranked = list(totals)
    most = max((each.calls for _, each in ranked), default=0)
    return [_row(name, each, most) for name, each in ranked[:MAX_ROWS]]


def _row(name: tuple[str, ...], totals: Totals, most: int) -> TotalsRow:
    return TotalsRow(
        name=tuple(map(on_one_line, name)),
        traces=f"{totals.traces:,}",
        calls=f"{totals.calls:,}",
        width=percent(totals.calls / max(most, 1)),
        failed=f"{totals.failed:,}",
        failed_share=_share(totals.failed, totals.calls),
        p50=duration(totals.p50_ms),
        p95=duration(totals.p95_ms),
        tokens=_count(totals.tokens),
    )


def _flow(edge: Edge, totals: Totals) -> Flow:
    return Flow(*edge, totals.calls, totals.failed, 0, 0, 0, totals.calls, totals.p50_ms)


def _shape(shape: Shape, traces: int) -> ShapeView:
    return ShapeView(
        traces=f"{shape.traces:,}",
        share=_share(shape.traces, traces),
        width=percent(shape.traces / max(traces, 1)),
        with_failures=f"{shape.with_failures:,}",
        p50=duration(1000 * shape.p50_s),
        edges=[(on_one_line(caller), on_one_line(callee)) for caller, callee in shape.edges[:MAX_EDGES_NAMED]],
        more=max(0, len(shape.edges) - MAX_EDGES_NAMED),
        example=on_one_line(shape.example),
    )


def _division(division: Division) -> DivisionView:
    shares = [(edge, pair) for edge, pair in edge_differences(division).items() if pair[0] != pair[1]]
    return DivisionView(
        first=on_one_line(division.first.name),
        second=on_one_line(division.second.name),
        sizes=(f"{len(division.first.runs):,}", f"{len(division.second.runs):,}"),
        left_out=division.left_out,
        rows=[_difference(each) for each in differences(division)],
        edges=[
            (on_one_line(caller), on_one_line(callee), f"{first:.1%}", f"{second:.1%}")
            for (caller, callee), (first, second) in shares[:MAX_EDGES_NAMED]
        ],
    )


def _difference(found: Difference) -> DifferenceRow:
    known = found.low is not None
    return DifferenceRow(
        measure=found.measure,
        first=figure(found.first),
        second=figure(found.second),
        interval=f"{figure(found.low)} to {figure(found.high)}" if known else NONE,
        verdict="differs" if found.sure else "no difference shown" if known else "too few traces",
        sure=found.sure,
    )


def _period(runs: Sequence[RunFacts]) -> str:
    dates = [run.started_at for run in runs if run.started_at is not None]
    if not dates:
        return "times unknown"
    first, last = f"{min(dates):%Y-%m-%d}", f"{max(dates):%Y-%m-%d}"
    return first if first == last else f"{first} to {last}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else NONE


def _count(value: int | None) -> str:
    return NONE if value is None else f"{value:,}"
