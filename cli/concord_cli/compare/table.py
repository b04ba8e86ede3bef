"""A comparison as a person likes to read it: the teams by rank, each pair with its difference, what to be wary of."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from concord_cli.compare.document import Comparison, PairLine, TeamLine
from concord_cli.narrator import printable


def table_of(comparison: Comparison) -> RenderableType:
    """Two tables, who is not told apart, and the warnings."""
    return Group(
        _teams(comparison),
        "",
        Text(f"Differences, paired by task; the intervals hold together at {comparison.level:.0%}", style="bold"),
        _pairs(comparison.pairs),
        *_not_told_apart(comparison),
        *_wary(comparison.warnings),
    )


def _teams(comparison: Comparison) -> Table:
    table = _table(
        "team", "rank", "score", f"{comparison.level:.0%}", "passed", "tasks", "trials", "confidence", "latency ms"
    )
    for team in comparison.teams:
        table.add_row(
            _said(team.name),
            str(team.rank_best) if team.rank_best == team.rank_worst else f"{team.rank_best}-{team.rank_worst}",
            f"{team.score:.1f}",
            _span(team.score_low, team.score_high),
            _passed(team),
            str(team.tasks),
            str(team.trials),
            team.confidence,
            "-" if team.latency_avg_ms is None else f"{team.latency_avg_ms:.0f}",
        )
    return table


def _passed(team: TeamLine) -> str:
    return f"{team.passed} of {team.trials}"


def _pairs(pairs: list[PairLine]) -> Table:
    table = _table("first", "second", "second - first", "interval", "tasks", "trials", "")
    for pair in pairs:
        table.add_row(
            _said(pair.first),
            _said(pair.second),
            "-" if pair.difference is None else f"{pair.difference:+.1f}",
            _span(pair.difference_low, pair.difference_high, "+.1f"),
            str(pair.shared_tasks),
            str(pair.paired_trials),
            _verdict(pair),
        )
    return table


def _verdict(pair: PairLine) -> Text:
    if pair.verdict == "first is better":
        return _said(f"{pair.first} is better", "green")
    if pair.verdict == "second is better":
        return _said(f"{pair.second} is better", "green")
    return Text("too few shared tasks" if pair.verdict == "insufficient" else pair.verdict, "yellow")


def _not_told_apart(comparison: Comparison) -> Iterator[RenderableType]:
    groups = [", ".join(group) for group in comparison.groups if len(group) > 1]
    if groups:
        yield _said(f"\nNot told apart: {'; '.join(groups)}")


def _wary(warnings: list[str]) -> Iterator[RenderableType]:
    if warnings:
        yield Text("\nBe wary", style="bold")
        yield from (_said(f"  {warning}") for warning in warnings)


def _span(low: float | None, high: float | None, form: str = ".1f") -> str:
    return "-" if low is None or high is None else f"{low:{form}} to {high:{form}}"


def _table(*columns: str) -> Table:
    return Table(*columns, box=None, header_style="dim", padding=(0, 2, 0, 0))


def _said(text: str, style: str = "") -> Text:
    """Text that a file or an agent may have written: no markup, no escapes."""
    return Text("\n".join(map(printable, text.split("\n"))), style)
