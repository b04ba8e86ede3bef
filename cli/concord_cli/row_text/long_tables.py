"""The long tables of a row on a terminal, beside its verdict: tasks, controls, shape, calls, latency. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from concord.assessment.result_row import Detail, ResultRow
from concord.assessment.results import Finding, InteractionRecord, LatencySummary, SubScore, TrialRecord
from concord_cli.display_text import counted, printable
from concord_cli.number_text import duration
from concord_cli.row_text.assistant import people_faults, points_table
from concord_cli.row_text.coordination import artifacts_table, coordination_table
from concord_cli.row_text.team_tasks import controls_table, redundant_messages, tasks_table
from concord_cli.row_view.assistant_points import ending_text
from concord_cli.row_view.assistant_results import is_lone_assistant, scenario_results
from concord_cli.row_view.interactions import REMEDY, coordination_label, no_calls_text, unobserved_text
from concord_cli.row_view.score import UNWEIGHTED
from concord_cli.row_view.team_tasks import controls_of, section_of
from concord_cli.terminal import plain_table, plain_text

MAX_CALLERS: Final = 20
"""Limit of the callers listed: a team rarely has more, and a screen has room for few more."""

_QUALITY_STYLES: Final = {"high": "bold green", "medium": "bold yellow", "low": "bold red", "bottleneck": "bold red"}


def tables(row: ResultRow) -> RenderableType:
    """What stands behind the verdict, of which only that is shown that the row has."""
    detail = row.detail
    team = section_of(detail.trials, ())
    results, played = scenario_results(detail), _played(detail)
    sections: list[tuple[str, RenderableType | None]] = [
        ("Tasks", None if team is None else tasks_table(team.tasks)),
        ("Redundant messages", None if team is None else redundant_messages(team)),
        ("Controls", controls_table(controls_of(detail.controls))),
        ("Coordination", coordination_table(detail.coordination)),
        ("Artifacts", artifacts_table(detail.trials)),
        ("Points", points_table(results) if results else None),
        ("Turns", _lines([f"{each.scenario_id}: {ending_text(each)}" for each in results])),
        ("Faults of the simulated people", _group(people_faults(results))),
        ("Parts of the score", _parts([each for each in detail.scoring.sub_scores if each.id not in UNWEIGHTED])),
        ("Unobserved calls", _unseen(detail)),
    ]
    if not is_lone_assistant(detail):
        sections += [
            ("Shape", _shape(detail)),
            ("What was seen", _findings(detail.findings)),
            ("Who called whom" if len(played) == 1 else f"Who called whom, over {len(played)} trials", _calls(detail)),
            ("Latency", _latency(detail.latency_metrics)),
        ]
    sections.append(("The model's words", _judgment(detail)))
    return Group(*(_section(title, body) for title, body in sections if body is not None))


def _section(title: str, body: RenderableType) -> RenderableType:
    return Group("", Text(title, style="bold"), Padding(body, (0, 0, 0, 2), expand=False))


def _lines(lines: Iterable[str]) -> RenderableType | None:
    return _group([plain_text(line) for line in lines])


def _group(lines: Sequence[Text]) -> RenderableType | None:
    return Group(*lines) if lines else None


def _parts(sub_scores: Sequence[SubScore]) -> Table | None:
    if not sub_scores:
        return None
    table = plain_table("part", "value", "weight", "")
    for part in sub_scores:
        value = Text("undefined", "dim") if part.value is None else Text(f"{part.value:.2f} {_bar(part.value)}")
        table.add_row(part.id, value, f"{part.weight:.2f}", plain_text(part.reason or ""))
    return table


def _unseen(detail: Detail) -> RenderableType | None:
    sentence = unobserved_text(detail.trace_integrity)
    return None if sentence is None else Group(plain_text(sentence, "yellow"), *map(plain_text, REMEDY))


def _shape(detail: Detail) -> Table | None:
    """The structure of the team; None where nothing of it is known."""
    graph, table = detail.graph_metrics, plain_table()
    quality = detail.coordination_quality
    label = coordination_label(quality, detail.coordination_status)
    if label is not None:
        table.add_row("coordination", Text(label, _QUALITY_STYLES.get(quality or "", "")))
    if graph.graph_density is not None:
        table.add_row("density", f"{graph.graph_density:.2f}")
    if graph.has_bottleneck:
        table.add_row("bottleneck", "yes")
    if graph.isolated_agents:
        table.add_row("isolated agents", plain_text(", ".join(graph.isolated_agents)))
    for metric in detail.metrics:
        if metric.agent is None and metric.value is not None and metric.id not in {"density", "graph_density"}:
            table.add_row(metric.id.replace("_", " "), f"{metric.value:.3g}")
    return table if table.row_count else None


def _findings(findings: Sequence[Finding]) -> Table | None:
    if not findings:
        return None
    table = plain_table()
    for finding in findings:
        title = Text.assemble((finding.id.replace("_", " "), "bold"), "\n", (_figure(finding), "dim"))
        agents = [Text(printable(", ".join(finding.agents)), "bold")] if finding.agents else []
        table.add_row(title, Group(*agents, plain_text(finding.advice)))
    return table


def _figure(finding: Finding) -> str:
    if finding.value is None:
        return ""
    value = f"{finding.value:.2f}"
    return value if finding.threshold in {None, finding.value} else f"{value} (threshold {finding.threshold:.2f})"


def _played(detail: Detail) -> list[TrialRecord]:
    return [trial for trial in detail.trials if not trial.is_control]


def _calls(detail: Detail) -> RenderableType | None:
    calls = [call for trial in _played(detail) for call in trial.interactions]
    if not calls:
        return Text(no_calls_text(detail.trace_integrity), "yellow") if len(detail.agents) > 1 else None
    by_caller = _callees_by_caller(calls)
    table = plain_table()
    for caller, callees in list(by_caller.items())[:MAX_CALLERS]:
        table.add_row(plain_text(caller), Text("→", "dim"), plain_text(", ".join(callees)))
    if len(by_caller) > MAX_CALLERS:
        table.add_row(f"and {len(by_caller) - MAX_CALLERS} more", "", "")
    return table


def _callees_by_caller(calls: Iterable[InteractionRecord]) -> dict[str, list[str]]:
    """By caller, its callees with the number of calls over all trials: `reviewer x3 (1 failed)`."""
    made: dict[tuple[str, str], int] = defaultdict(int)
    failed: dict[tuple[str, str], int] = defaultdict(int)
    for call in calls:
        made[call.caller, call.callee] += call.calls
        failed[call.caller, call.callee] += call.errors
    callees: dict[str, list[str]] = defaultdict(list)
    for (caller, callee), n in sorted(made.items()):
        errors = failed[caller, callee]
        callees[caller].append(f"{callee} x{n}" + (f" ({errors} failed)" if errors else ""))
    return callees


def _latency(latency: LatencySummary) -> RenderableType | None:
    if latency.avg is None:
        return None
    figures = {"avg": latency.avg, "p50": latency.p50, "p95": latency.p95, "p99": latency.p99}
    line = " · ".join(f"{name} {duration(value)}" for name, value in figures.items() if value is not None)
    line += f" · over {counted(latency.n, 'call')}"
    if latency.slowest_agent is not None:
        line += f" · slowest: {latency.slowest_agent}"
    return Group(plain_text(line), Text(latency.warning, "dim"))


def _judgment(detail: Detail) -> RenderableType | None:
    """What a language model wrote; the rules in its place write what the verdict says."""
    judge = detail.judge
    if judge is None or judge.source != "llm":
        return None
    remarks = [f"+ {line}" for line in judge.strengths] + [f"- {line}" for line in judge.weaknesses]
    return _lines([judge.reasoning, *remarks])


def _bar(value: float, width: int = 10) -> str:
    filled = round(value * width)
    return "█" * filled + "░" * (width - filled)
