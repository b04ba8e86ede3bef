"""Judgments and calibrations as a person likes to read them."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from concord.assessment.results import CriterionVerdict, Judgment, ResultRow
from concord_cli.judge.document import Calibration, Figure, JudgedTrace
from concord_cli.narrator import printable


def judgment_of(row: ResultRow) -> RenderableType:
    """The judgment of a row with one trial: points, verdicts, agreement, and what was said."""
    judge = row.detail.judge
    title = Text(printable(row.detail.assessment_id), style="bold")
    if judge is None:
        return Group(title, "  not judged", "")
    title.append(f" · {' · '.join(map(printable, _headline(judge)))}", style="not bold")
    body: list[RenderableType] = [_verdicts(judge.criteria)] if judge.criteria else []
    body += map(_said, _words(judge))
    return Group(title, Padding(Group(*body), (0, 0, 1, 2)))


def _headline(judge: Judgment) -> Iterator[str]:
    yield f"judged by {judge.model}" if judge.source == "llm" else "judged by rules"
    yield "no points" if judge.overall_score is None else f"{judge.overall_score:.2f} of 1"
    yield "task unjudged" if judge.task_success is None else f"task {judge.task_success:.2f}"
    if judge.agreement is not None:
        yield f"{judge.samples} samples agree by {judge.agreement:.0%}"


def _verdicts(criteria: list[CriterionVerdict]) -> Table:
    table = _table("criterion", "verdict", "points")
    for each in criteria:
        verdict = each.verdict.replace("_", " ") + ("" if each.verified else ": no quote bears it out")
        table.add_row(each.id.replace("_", " "), verdict, "-" if each.points is None else f"{each.points:.1f}")
    return table


def _words(judge: Judgment) -> Iterator[str]:
    if judge.reasoning:
        yield judge.reasoning
    yield from (f"+ {strength}" for strength in judge.strengths)
    yield from (f"- {weakness}" for weakness in judge.weaknesses)
    if judge.reason:
        yield f"({judge.reason})"


def calibration_of(calibration: Calibration) -> RenderableType:
    """The figures, and each trace on which judge and label differ or the judge could not say."""
    table = _table("", "value", "95 %", "")
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
        shown += [Text("\nNot as labelled", style="bold"), _differences(notable)]
    return Group(*shown)


def _differences(traces: list[JudgedTrace]) -> Table:
    table = _table("line", "trace", "label", "judged", "points", "")
    for each in traces:
        table.add_row(
            str(each.line),
            _said(each.trace_id),
            each.label,
            each.judged or "-",
            "-" if each.points is None else f"{each.points:.2f}",
            _said(each.reason or ""),
        )
    return table


def _figure(figure: Figure) -> tuple[str, str]:
    return "undefined" if figure.value is None else f"{figure.value:.2f}", _span(figure.low, figure.high)


def _span(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.2f} to {high:.2f}"


def _table(*columns: str) -> Table:
    return Table(*columns, box=None, header_style="dim", padding=(0, 2, 0, 0))


def _said(text: str) -> Text:
    """Text that an agent, a model or a trace may have written: no markup, no escapes."""
    return Text(printable(text))
