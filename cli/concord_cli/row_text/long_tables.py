"""The long tables of a row on a terminal, beside its verdict: tasks, controls, shape, calls, latency. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from concord.assessment.result_row import Detail
from concord_cli.display_text import counted
from concord_cli.number_text import NONE
from concord_cli.row_text.assistant import bar, people_faults, points_table
from concord_cli.row_text.coordination import artifacts_table, coordination_table
from concord_cli.row_text.team_tasks import controls_table, redundant_messages, tasks_table
from concord_cli.row_view.findings import FindingView
from concord_cli.row_view.flows import LatencyView
from concord_cli.row_view.head import ScorePart
from concord_cli.row_view.interactions import REMEDY, unobserved_text
from concord_cli.row_view.view import JudgeView, RowView
from concord_cli.terminal import plain_table, plain_text

MAX_CALLERS: Final = 20
"""Limit of the callers listed: a team rarely has more, and a screen has room for few more."""

_QUALITY_STYLES: Final = {"high": "bold green", "medium": "bold yellow", "low": "bold red", "bottleneck": "bold red"}


def tables(view: RowView) -> RenderableType:
    """What stands behind the verdict, of which only that is shown that the row has."""
    detail, team, assistant = view.scope.row.detail, view.team, view.assistant
    sections: list[tuple[str, RenderableType | None]] = [
        ("Tasks", None if team is None else tasks_table(team.tasks)),
        ("Redundant messages", None if team is None else redundant_messages(team)),
        ("Controls", controls_table(view.controls)),
        ("Coordination", coordination_table(detail.coordination)),
        ("Artifacts", artifacts_table(detail.trials)),
    ]
    if assistant is not None:
        sections += [
            ("Points", points_table(assistant.dimensions)),
            ("Turns", _lines(assistant.endings)),
            ("Faults of the simulated people", _group(people_faults(assistant.faults))),
        ]
    sections += [
        ("Parts of the score", _parts([each for each in view.head.parts if each.weight is not None])),
        ("Unobserved calls", _unseen(detail)),
    ]
    if not view.lone_assistant:
        played = sum(not trial.is_control for trial in detail.trials)
        sections += [
            ("Shape", _shape(view)),
            ("What was seen", _findings(view.findings)),
            ("Who called whom" if played == 1 else f"Who called whom, over {played} trials", _calls(view)),
            ("Latency", None if view.latency is None else _latency(view.latency)),
        ]
    sections.append(("The model's words", None if view.judge is None else _judgment(view.judge)))
    return Group(*(_section(title, body) for title, body in sections if body is not None))


def _section(title: str, body: RenderableType) -> RenderableType:
    return Group("", Text(title, style="bold"), Padding(body, (0, 0, 0, 2), expand=False))


def _lines(lines: Iterable[str]) -> RenderableType | None:
    return _group([plain_text(line) for line in lines])


def _group(lines: Sequence[Text]) -> RenderableType | None:
    return Group(*lines) if lines else None


def _parts(parts: Sequence[ScorePart]) -> Table | None:
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


def _shape(view: RowView) -> Table | None:
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


def _findings(findings: Sequence[FindingView]) -> Table | None:
    if not findings:
        return None
    table = plain_table()
    for finding in findings:
        threshold = "" if finding.threshold in {None, finding.figure} else f" (threshold {finding.threshold})"
        title = Text.assemble((finding.title.lower(), "bold"), "\n", (f"{finding.figure or ''}{threshold}", "dim"))
        agents = [plain_text(", ".join(finding.agents), "bold")] if finding.agents else []
        table.add_row(title, Group(*agents, plain_text(finding.words)))
    return table


def _calls(view: RowView) -> RenderableType | None:
    if not view.flows:
        return Text(view.no_calls_text, "yellow") if len(view.scope.agents) > 1 else None
    by_caller: defaultdict[str, list[str]] = defaultdict(list)
    for flow in view.flows:
        failed = f" ({flow.errors} failed)" if flow.errors else ""
        by_caller[flow.caller].append(f"{flow.callee} x{flow.calls}{failed}")
    table = plain_table()
    for caller, callees in list(by_caller.items())[:MAX_CALLERS]:
        table.add_row(plain_text(caller), Text("→", "dim"), plain_text(", ".join(callees)))
    if len(by_caller) > MAX_CALLERS:
        table.add_row(f"and {len(by_caller) - MAX_CALLERS} more", "", "")
    return table


def _latency(latency: LatencyView) -> RenderableType:
    figures = [f"{each.name.lower()} {each.value}" for each in latency.figures if each.value != NONE]
    slowest = [] if latency.slowest is None else [f"slowest: {latency.slowest}"]
    line = " · ".join([*figures, f"over {counted(latency.n, 'call')}", *slowest])
    return Group(plain_text(line), Text(latency.warning, "dim"))


def _judgment(judge: JudgeView) -> RenderableType | None:
    """What a language model wrote; the rules in its place write what the verdict says."""
    remarks = [f"+ {line}" for line in judge.strengths] + [f"- {line}" for line in judge.weaknesses]
    return _lines([judge.reasoning, *remarks])
