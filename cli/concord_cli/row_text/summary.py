"""The summary of a result row on a terminal, as rich renderables. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from concord.assessment.result_row import Detail, ResultRow
from concord.assessment.results import Finding, InteractionRecord, LatencySummary, SubScore, TrialRecord
from concord_assistant.results import AssessmentResults
from concord_cli.display_text import counted, printable
from concord_cli.number_text import duration
from concord_cli.row_text.assistant import cut_short, failed_checks, losses, one_line, people_faults, points_table
from concord_cli.row_text.assistant_points import ending_text, of_points, total_points
from concord_cli.row_text.assistant_results import is_lone_assistant, scenario_results
from concord_cli.row_text.interactions import (
    MORE_ON_STRUCTURE,
    REMEDY,
    STRUCTURE_AND_SUCCESS,
    coordination_label,
    no_calls_text,
    unobserved_text,
)
from concord_cli.row_text.score import UNWEIGHTED, Rating, part_notes, pass_count_text, rating_of
from concord_cli.row_text.subject import NOT_ISOLATED, isolated, size_text
from concord_cli.row_text.team_tasks import causes, controls_table, redundant_messages, tasks_table, unproven
from concord_cli.terminal import plain_table, plain_text

_QUALITY_STYLES = {"high": "bold green", "medium": "bold yellow", "low": "bold red", "bottleneck": "bold red"}
_INDENT = (0, 0, 0, 2)
MAX_ASSISTANT_LINES = 25
"""Lines of the summary of an assistant."""

MAX_CALLERS = 20
"""Limit of the callers listed: a team rarely has more, and a screen has room for few more."""

MAX_UNEXPLAINED = 3
"""Limit of the answers without a source that a short summary lists."""


def summary(row: ResultRow) -> RenderableType:
    """The score and what it rests on, findings, graph, latency, calls between agents, and warnings.

    If families generated all tasks, it is short: outcomes, messages, causes, findings and warnings. For an assistant in
    scenarios it is `MAX_ASSISTANT_LINES` long at most: points, what lost them, failed checks, faults, and warnings.
    """
    detail = row.detail
    if results := scenario_results(detail):
        return _of_assistant(row, results)
    if detail.trials and all(trial.team_task is not None for trial in detail.trials):
        return _of_team_tasks(row)
    parts = detail.scoring.sub_scores
    sections: list[tuple[str, RenderableType | None]] = [
        ("Tasks", tasks_table(detail.trials)),
        ("Why answers are wrong", causes(detail.trials)),
        ("Right, and not proven", unproven(detail.trials)),
        ("Controls", controls_table(detail.controls)),
        ("Outcome", _outcomes([part for part in parts if part.id in UNWEIGHTED], detail.trials)),
        ("Parts of the score", _parts([part for part in parts if part.id not in UNWEIGHTED])),
        ("Unobserved calls", _unseen(detail)),
        ("Agent graph", Group(_graph(detail), plain_text(f"{STRUCTURE_AND_SUCCESS} See {MORE_ON_STRUCTURE}.", "dim"))),
        ("Findings", _findings(detail.findings)),
        (_calls_title(len(_played(detail))), _calls(detail)),
        ("Latency", _latency(detail.latency_metrics)),
        ("Judgment", _judgment(detail)),
        ("Warnings", _warnings(detail)),
    ]
    shown = [_section(title, body) for title, body in sections if body is not None]
    return Group("", _headline(row), *shown, "")


def _of_team_tasks(row: ResultRow) -> RenderableType:
    """A summary that fits a screen, of a few tasks. The page has the rest."""
    detail = row.detail
    sections: list[tuple[str, RenderableType | None]] = [
        ("Tasks", tasks_table(detail.trials)),
        ("Why answers are wrong", causes(detail.trials)),
        ("Right, and not proven", unproven(detail.trials)),
        ("Redundant messages", redundant_messages(detail.trials)),
        ("Controls", controls_table(detail.controls)),
        ("Answers without a source", _without_source(detail.findings)),
        ("Warnings", _warnings(detail)),
    ]
    shown = [_section(title, body) for title, body in sections if body is not None]
    return Group("", _team_headline(row), *shown, "")


def _of_assistant(row: ResultRow, results: Sequence[AssessmentResults]) -> RenderableType:
    """A summary that fits a screen. Each line but those of the head is cut at the edge of the screen."""
    detail = row.detail
    head, points = _assistant_headline(row, results), points_table(results)
    below: list[tuple[str, list[Text]]] = [
        ("Checks that failed", cut_short(failed_checks(results))),
        ("Faults of the simulated people", cut_short(people_faults(results))),
        ("Findings", cut_short([one_line(each.advice) for each in detail.findings])),
        ("Warnings", cut_short([one_line(line) for line in warning_lines(detail)])),
    ]
    below = [(title, lines) for title, lines in below if lines]
    used = 5 + len(head) + len(points.rows) + sum(1 + len(lines) for _, lines in below)
    lost = losses(results, MAX_ASSISTANT_LINES - used)
    gap = [""] if used + len(lost) + len(below) <= MAX_ASSISTANT_LINES else []
    return Group(
        "",
        *head,
        "",
        points,
        "",
        _compact_section("Criteria that lost points", lost),
        *(Group(*gap, _compact_section(title, lines)) for title, lines in below),
        "",
    )


def _compact_section(title: str, lines: Sequence[Text]) -> RenderableType:
    return Group(Text(title, style="bold"), Padding(Group(*lines), _INDENT, expand=False))


def _assistant_headline(row: ResultRow, results: Sequence[AssessmentResults]) -> list[Text]:
    """The score and what it rests on, how the turns ended, and for a team its label of coordination."""
    detail, rating = row.detail, rating_of(row)
    lines = [Text.assemble((_score(row, rating), "bold"), plain_text(f": {rating.rests_on}"))]
    if rating.number is not None:
        lines[0].append(f", {of_points(total_points(results))} points")
    lines += [Text(note, "dim") for note in rating.notes]
    ending = ending_text(results[0]) if len(results) == 1 else counted(len(results), "trial")
    scenarios = ", ".join(dict.fromkeys(each.scenario_id for each in results))
    lines.append(one_line(f"{scenarios}: {ending}"))
    confidence = "" if detail.confidence == "adequate" else f" · confidence: {detail.confidence}"
    lines.append(one_line(f"{pass_count_text(row)} · {row.time_used:.1f} s{confidence}"))
    if not is_lone_assistant(detail):
        label = coordination_label(detail.coordination_quality, detail.coordination_status) or "unknown"
        lines.append(one_line(f"a team of {counted(len(detail.agents), 'agent')} · coordination: {label}"))
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    return lines


def _team_headline(row: ResultRow) -> Text:
    detail, rating = row.detail, rating_of(row)
    line = Text.assemble((_score(row, rating), "bold"), plain_text(f": {rating.rests_on}"))
    for note in rating.notes:
        line.append(f"\n{note}", style="dim")
    line.append(f"\n{pass_count_text(row)} · {size_text(detail)} · {row.time_used:.1f} s")
    if detail.confidence != "adequate":
        line.append(f" · confidence: {detail.confidence}", style="yellow")
    if not isolated(detail):
        line.append(f"\n{NOT_ISOLATED}", style="dim")
    return line


def _without_source(findings: list[Finding]) -> RenderableType | None:
    lines = [plain_text(each.advice, "bold red") for each in findings if each.id == "unexplained_knowledge"]
    return Group(*lines[:MAX_UNEXPLAINED]) if lines else None


def _section(title: str, body: RenderableType) -> RenderableType:
    return Group("", Text(title, style="bold"), Padding(body, _INDENT))


def _headline(row: ResultRow) -> Text:
    detail, rating = row.detail, rating_of(row)
    quality = detail.coordination_quality
    line = Text.assemble((_score(row, rating), "bold"), plain_text(f": {rating.rests_on}"))
    for note in rating.notes:
        line.append(f"\n{note}", style="dim")
    line.append("\ncoordination: ")
    label = coordination_label(quality, detail.coordination_status) or "unknown"
    line.append(label, style=_QUALITY_STYLES.get(quality or "", ""))
    passed = pass_count_text(row)
    line.append(f" · {counted(len(detail.agents), 'agent')} · {passed} · {row.time_used:.1f} s")
    if detail.confidence != "adequate":
        line.append(f" · confidence: {detail.confidence}", style="yellow")
    return line


def _score(row: ResultRow, rating: Rating) -> str:
    return "No score" if rating.number is None else f"Score {rating.number} of {row.max_score:.0f}{interval_text(row)}"


def interval_text(row: ResultRow) -> str:
    """The interval of the score, in brackets; empty if unknown."""
    found = row.detail.statistics
    if found.score_low is None or found.score_high is None:
        return ""
    return f" (95 %: {found.score_low:.0f} to {found.score_high:.0f})"


def _outcomes(parts: list[SubScore], trials: list[TrialRecord]) -> Table | None:
    if not parts:
        return None
    table = plain_table()
    for part in parts:
        table.add_row(part.id, _value(part), plain_text("; ".join(part_notes(part, trials))))
    return table


def _parts(sub_scores: list[SubScore]) -> Table | None:
    if not sub_scores:
        return None
    table = plain_table("part", "value", "weight", "")
    for part in sub_scores:
        table.add_row(part.id, _value(part), f"{part.weight:.2f}", plain_text(part.reason or ""))
    return table


def _value(part: SubScore) -> Text:
    return Text("undefined", "dim") if part.value is None else Text(f"{part.value:.2f} {_bar(part.value)}")


def _unseen(detail: Detail) -> RenderableType | None:
    sentence = unobserved_text(detail.trace_integrity)
    return None if sentence is None else Group(plain_text(sentence, "yellow"), *map(plain_text, REMEDY))


def _graph(detail: Detail) -> Table:
    graph = detail.graph_metrics
    density = "undefined" if graph.graph_density is None else f"{graph.graph_density:.2f}"
    bottleneck = {True: Text("yes", "bold red"), False: Text("no", "green"), None: Text("undefined", "dim")}
    table = plain_table()
    table.add_row("density", density)
    table.add_row("bottleneck", bottleneck[graph.has_bottleneck])
    table.add_row("isolated agents", plain_text(", ".join(graph.isolated_agents) or "none"))
    for metric in detail.metrics:
        if metric.agent is None and metric.value is not None and metric.id not in {"density", "graph_density"}:
            table.add_row(metric.id.replace("_", " "), f"{metric.value:.3g}")
    return table


def _findings(findings: list[Finding]) -> RenderableType:
    if not findings:
        return Text("None.", "green")
    table = plain_table()
    for finding in findings:
        title = Text.assemble((finding.id.replace("_", " "), "bold yellow"), "\n", (_figure(finding), "dim"))
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


def _calls_title(trials: int) -> str:
    return "Who called whom" if trials == 1 else f"Who called whom, over {trials} trials"


def _calls(detail: Detail) -> RenderableType:
    calls = [call for trial in _played(detail) for call in trial.interactions]
    if not calls:
        return Text(no_calls_text(detail.trace_integrity), "yellow")
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
    judge = detail.judge
    advice = {finding.advice for finding in detail.findings}
    remarks = [("+", line) for line in detail.strengths]
    remarks += [("-", line) for line in detail.weaknesses if line not in advice]
    if not detail.reasoning and not remarks:
        return None
    sources = {"rules": "by rules, without a language model", "llm": "by a language model"}
    lines = [plain_text(detail.reasoning)] + [plain_text(f"{sign} {line}") for sign, line in remarks]
    if judge is not None:
        lines.append(Text(sources[judge.source] + (f" ({printable(judge.reason)})" if judge.reason else ""), "dim"))
    return Group(*lines)


def _warnings(detail: Detail) -> RenderableType | None:
    lines = list(warning_lines(detail))
    return Group(*(plain_text(line) for line in lines)) if lines else None


def warning_lines(detail: Detail) -> Iterator[str]:
    """Failures of the infrastructure and of trials, doubtful steps, and the row's warnings."""
    for failure in detail.infrastructure:
        yield f"{failure.trial_id or 'assessment'}: {failure.stage} failed: {failure.message}"
    for trial in detail.trials:
        if trial.state != "completed":
            yield f"{trial.trial_id}: {trial.state}" + (f": {trial.error}" if trial.error else "")
    integrity = detail.trace_integrity
    doubtful = {
        "contradicted": integrity.contradicted,
        "conflicting": integrity.conflicting,
        "late": integrity.late,
        "dropped": integrity.dropped,
    }
    if any(doubtful.values()):
        yield "steps of the trace: " + ", ".join(f"{n} {kind}" for kind, n in doubtful.items() if n)
    yield from detail.warnings


def _bar(value: float, width: int = 10) -> str:
    filled = round(value * width)
    return "█" * filled + "░" * (width - filled)
