"""The long tables of a row on a terminal, beside its verdict: tasks, controls, shape, calls, latency. Pure."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from concord.assessment.cost import CoordinationFigures
from concord.assessment.result_row import Detail
from concord.assessment.results import TrialRecord
from concord_cli.display_text import counted, printable
from concord_cli.number_text import NONE
from concord_cli.row_view.assistant import DimensionView
from concord_cli.row_view.flows import REMEDY, LatencyView, unobserved_text
from concord_cli.row_view.head import ScorePart
from concord_cli.row_view.table import Column, Table, table_of
from concord_cli.row_view.team_tasks import ControlView
from concord_cli.row_view.verdict import FindingView, JudgeView
from concord_cli.row_view.view import RowView
from concord_cli.terminal import plain_table, plain_text

MAX_ROWS: Final = 40
"""Limit of the rows of a table: a screen has room for few more. A page has them all."""

MAX_DIMENSIONS: Final = 6
_BAR: Final = 10

_QUALITY_STYLES: Final = {"high": "bold green", "medium": "bold yellow", "low": "bold red", "bottleneck": "bold red"}


def tables(view: RowView) -> RenderableType:
    """What stands behind the verdict, of which only that is shown that the row has."""
    detail, team, assistant = view.scope.row.detail, view.team, view.assistant
    sections: list[tuple[str, RenderableType | None]] = []
    if team is not None:
        named = [
            Text.assemble((printable(name), "bold yellow"), f" {printable(text)}") for name, text in team.repeating
        ]
        more = counted(team.repeating_left_out, "more seat")
        named += [Text(f"and {more}", "dim")] if team.repeating_left_out else []
        sections += [("Tasks", as_rich(team.tasks)), ("Redundant messages", _group(named))]
    sections += [
        ("Controls", _table(_controls(view.controls))),
        ("Coordination", _coordination(detail.coordination)),
        ("Artifacts", _table(_artifacts(detail.trials))),
    ]
    if assistant is not None:
        faults = [f"{where}, {who}: {fault}" for where, who, fault in assistant.faults]
        sections += [
            ("Points", points_table(assistant.dimensions)),
            ("Turns", _group(map(plain_text, assistant.endings))),
            (
                "Faults of the simulated people",
                _group(Text(printable(each), no_wrap=True, overflow="ellipsis") for each in faults),
            ),
        ]
    sections += [
        ("Parts of the score", _parts([each for each in view.head.parts if each.weight is not None])),
        ("Unobserved calls", _unseen(detail)),
    ]
    if not view.lone_assistant:
        played = sum(not trial.is_control for trial in detail.trials)
        silent = Text(view.no_calls_text, "yellow") if len(detail.agents) > 1 else None
        sections += [
            ("Shape", _shape(view)),
            ("What was seen", _findings(view.findings)),
            (
                "Who called whom" if played == 1 else f"Who called whom, over {played} trials",
                silent if view.calls is None else as_rich(view.calls),
            ),
            ("Latency", None if view.latency is None else _latency(view.latency)),
        ]
    sections.append(("The model's words", None if view.judge is None else _judgment(view.judge)))
    return Group(*(_section(title, body) for title, body in sections if body is not None))


def as_rich(table: Table) -> RichTable:
    """The table for a terminal, without the columns that only a page can draw."""
    words = [[cell.words for cell in row] for row in table.rows[:MAX_ROWS]]
    drawn = [any(row[i] for row in words) for i in range(len(table.columns))]
    heads = [each.title.lower() for each, shown in zip(table.columns, drawn, strict=True) if shown]
    cells = ([plain_text(text) for text, shown in zip(row, drawn, strict=True) if shown] for row in words)
    rich = plain_table(*heads, rows=cells)
    if len(table.rows) > MAX_ROWS:
        rich.add_row(f"and {len(table.rows) - MAX_ROWS} more")
    return rich


def points_table(dimensions: Sequence[DimensionView]) -> RichTable:
    """A line for each dimension, with its points as a bar."""
    shown = dimensions[:MAX_DIMENSIONS]
    rows = ((plain_text(each.name.lower()), Text(each.points, justify="right"), bar(each.share)) for each in shown)
    return plain_table(rows=rows)


def bar(share: float) -> str:
    """A share as a bar of characters."""
    filled = round(share * _BAR)
    return "█" * filled + "░" * (_BAR - filled)


def _section(title: str, body: RenderableType) -> RenderableType:
    return Group("", Text(title, style="bold"), Padding(body, (0, 0, 0, 2), expand=False))


def _group(lines: Iterable[Text]) -> RenderableType | None:
    shown = list(lines)
    return Group(*shown) if shown else None


def _table(table: Table) -> RichTable | None:
    return as_rich(table) if table.rows else None


def _controls(controls: Sequence[ControlView]) -> Table:
    """A line for each control: the team's outcome, the control's, and the gap with its interval."""
    heads = "Control", "Team", "Control", "Gap", "95 %", "Pairs"
    rows = (
        (
            each.against,
            f"{each.team:.2f}",
            f"{each.control:.2f}",
            f"{each.gap:+.2f}",
            each.interval or NONE,
            f"{each.pairs}",
        )
        for each in controls
    )
    return table_of("Controls", list(map(Column, heads)), rows)


def _coordination(figures: CoordinationFigures | None) -> RenderableType | None:
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


def _artifacts(trials: Sequence[TrialRecord]) -> Table:
    """Who changed which artifacts, and who read them after."""
    used = [each for trial in trials if trial.network is not None for each in trial.network.artifacts]
    rows = ((each.artifact, *(", ".join(them) or "nobody" for them in (each.writers, each.readers))) for each in used)
    return table_of("Artifacts", list(map(Column, ("Artifact", "Written by", "Read after by"))), rows)


def _parts(parts: Sequence[ScorePart]) -> RichTable | None:
    if not parts:
        return None
    table = plain_table("part", "value", "weight", "")
    for part in parts:
        undefined = part.value == "undefined"
        value = Text(part.value, "dim") if undefined else Text(f"{part.value} {bar(part.share)}")
        table.add_row(part.title.lower(), value, part.weight, plain_text(", ".join(part.notes)))
    return table


def _unseen(detail: Detail) -> RenderableType | None:
    sentence = unobserved_text(detail.trace_integrity)
    return None if sentence is None else Group(plain_text(sentence, "yellow"), *map(plain_text, REMEDY))


def _shape(view: RowView) -> RichTable | None:
    """The structure of the team; None where nothing of it is known."""
    detail, table = view.scope.row.detail, plain_table()
    graph = detail.graph_metrics
    if view.head.label is not None:
        style = _QUALITY_STYLES.get(detail.coordination_quality or "", "")
        table.add_row("coordination", Text(view.head.label, style))
    if graph.graph_density is not None:
        table.add_row("density", f"{graph.graph_density:.2f}")
    if graph.has_bottleneck:
        table.add_row("bottleneck", "yes")
    if graph.isolated_agents:
        table.add_row("isolated agents", plain_text(", ".join(graph.isolated_agents)))
    for metric in view.metrics.team:
        if metric.value != NONE and metric.title not in {"Density", "Graph density"}:
            table.add_row(plain_text(metric.title.lower()), metric.value)
    return table if table.row_count else None


def _findings(findings: Sequence[FindingView]) -> RichTable | None:
    if not findings:
        return None
    table = plain_table()
    for finding in findings:
        threshold = "" if finding.threshold in {None, finding.figure} else f" (threshold {finding.threshold})"
        title = Text.assemble((finding.title.lower(), "bold"), "\n", (f"{finding.figure or ''}{threshold}", "dim"))
        agents = [plain_text(", ".join(finding.agents), "bold")] if finding.agents else []
        table.add_row(title, Group(*agents, plain_text(finding.words)))
    return table


def _latency(latency: LatencyView) -> RenderableType:
    figures = [f"{name.lower()} {value}" for name, value, _ in latency.figures if value != NONE]
    slowest = [] if latency.slowest is None else [f"slowest: {latency.slowest}"]
    line = " · ".join([*figures, f"over {counted(latency.n, 'call')}", *slowest])
    return Group(plain_text(line), Text(latency.warning, "dim"))


def _judgment(judge: JudgeView) -> RenderableType | None:
    """What a language model wrote; the rules in its place write what the verdict says."""
    remarks = [f"+ {line}" for line in judge.strengths] + [f"- {line}" for line in judge.weaknesses]
    return _group(map(plain_text, [judge.reasoning, *remarks]))
