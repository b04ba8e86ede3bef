"""Judgments and calibrations as tables on a terminal."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from concord.assessment.result_row import ResultRow
from concord.assessment.results import CriterionVerdict, Judgment
from concord_cli.display_text import printable
from concord_cli.judge.calibration import Calibration, Figure, JudgedTrace
from concord_cli.terminal import plain_table, plain_text


def judgment_of(row: ResultRow) -> RenderableType:
    """The judgment of a row with one trial: points, verdicts, agreement, and reasoning."""
    judge = row.detail.judge
    title = Text(printable(row.detail.assessment_id), style="bold")
    if judge is None:
        return Group(title, "  not judged", "")
    title.append(f" · {' · '.join(map(printable, _headline(judge)))}", style="not bold")
    body: list[RenderableType] = [_verdicts(judge.criteria)] if judge.criteria else []
    body += map(plain_text, _reasoning(judge))
    return Group(title, Padding(Group(*body), (0, 0, 1, 2)))


def _headline(judge: Judgment) -> Iterator[str]:
    yield f"judged by {judge.model}" if judge.source == "llm" else "judged by rules"
    yield "no points" if judge.overall_score is None else f"{judge.overall_score:.2f} of 1"
    yield "task unjudged" if judge.task_success is None else f"task {judge.task_success:.2f}"
    if judge.agreement is not None:
        yield f"{judge.samples} samples agree by {judge.agreement:.0%}"


def _verdicts(criteria: list[CriterionVerdict]) -> Table:
    table = plain_table("criterion", "verdict", "points")
    for each in criteria:
        verdict = each.verdict.replace("_", " ") + ("" if each.verified else ": no quote supports it")
        table.add_row(each.id.replace("_", " "), verdict, "-" if each.points is None else f"{each.points:.1f}")
    return table


def _reasoning(judge: Judgment) -> Iterator[str]:
    if judge.reasoning:
        yield judge.reasoning
    yield from (f"+ {strength}" for strength in judge.strengths)
    yield from (f"- {weakness}" for weakness in judge.weaknesses)
    if judge.reason:
        yield f"({judge.reason})"


def calibration_of(calibration: Calibration) -> RenderableType:
    """The figures, and each trace on which judge and label differ or the judge is undecided."""
    table = plain_table("", "value", "95 %", "")
    kappa = calibration.kappa
    for name, figure, of in (
        ("accuracy", calibration.accuracy, "traces"),
        ("false passes", calibration.false_pass, "labelled fail"),
        ("false fails", calibration.false_fail, "labelled pass"),
    ):
        table.add_row(name, *_figure(figure), f"{figure.count} of {figure.n} {of}")
    span = _span(calibration.kappa_low, calibration.kappa_high)
    table.add_row("Cohen's kappa", "undefined" if kappa is None else f"{kappa:.2f}", span, "")
    shown: list[RenderableType] = [table]
    if notable := [each for each in calibration.traces if each.judged != each.label]:
        shown += [Text("\nDifferences from the labels", style="bold"), _differences(notable)]
    return Group(*shown)


def _differences(traces: list[JudgedTrace]) -> Table:
    table = plain_table("line", "trace", "label", "judged", "points", "")
    for each in traces:
        table.add_row(
            str(each.line),
            plain_text(each.trace_id),
            each.label,
            each.judged or "-",
            "-" if each.points is None else f"{each.points:.2f}",
            plain_text(each.reason or ""),
        )
    return table


def _figure(figure: Figure) -> tuple[str, str]:
    return "undefined" if figure.value is None else f"{figure.value:.2f}", _span(figure.low, figure.high)


def _span(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.2f} to {high:.2f}"
