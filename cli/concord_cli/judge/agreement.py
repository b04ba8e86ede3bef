"""`concord evaluate --agreement`: how far the judge agrees with labelled traces, as a table and as JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from concord.assessment.results import Judgment
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.evaluate.inputs import read_config, traces_in
from concord_cli.input_files import content_of, reasons
from concord_cli.judge.rejudge import make_judge
from concord_cli.number_text import figure_or_dash, span
from concord_cli.output_files import prepare_folder, write_text
from concord_cli.terminal import delayed_spinner, output_console, plain_table, plain_text
from concord_evaluator.formats import FormatError, Source, Trace, read_traces
from concord_evaluator.offline import judge_trace
from concord_evaluator.statistics import Rate, agreement

WIDE = 200
"""Width of the output without a terminal."""


async def calibrate_judge(
    labels: Path, output: Path | None, samples: int, config_file: Path | None, *, rules: bool, quiet: bool
) -> None:
    """Judges every labelled trace and prints how far judge and labels agree. Raises UsageError, AssessmentError."""
    judge, config = make_judge(samples, rules=rules), read_config(config_file)
    if output is not None:
        prepare_folder(output)
    labelled = read_labelled(labels)
    judgments: list[Judgment] = []
    async with delayed_spinner(Console(stderr=True, highlight=False), "Judging") as say:
        for number, each in enumerate(labelled, start=1):
            say(f"Judging {each.trace.trace_id} ({number} of {len(labelled)})")
            # `read_labelled` removed the file's own record of the task's success
            row = await judge_trace(each.trace, config, judge, imported_content=True)
            judgments += filter(None, [row.detail.judge])  # there is one
    calibration = calibration_from(labelled, judgments, config.thresholds.pass_mark, by_model=not rules)
    if output is not None:
        write_text(output, calibration.model_dump_json(indent=2) + "\n")
    if not quiet:
        output_console(WIDE).print(calibration_of(calibration))


MAX_BYTES: Final = 64 * 1024 * 1024
"""Of a file with labels, which may hold the traces as well."""

Label = Literal["pass", "fail"]


@dataclass(frozen=True, slots=True)
class LabelledTrace:
    """A trace, its label, and its line number in the file."""

    line: int
    trace: Trace
    label: Label


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    trace: str | Annotated[list[dict[str, JsonValue]], Field(min_length=1)]
    label: Label
    task: str | None = None
    answer: str | None = None

    def of(self, trace: Trace) -> Trace:
        """The trace with the line's task and answer, and without the trace's own record of success."""
        return replace(
            trace,
            task=trace.task if self.task is None else self.task,
            answer=trace.answer if self.answer is None else self.answer,
            task_success=None,
            expected=None,
            grading=None,
        )


def read_labelled(path: Path) -> list[LabelledTrace]:
    """The labelled traces of a file; paths in it are relative to its folder.

    Raises UsageError if the file is invalid, AssessmentError if a trace is.
    """
    lines = content_of(path, MAX_BYTES).splitlines()
    found = [_labelled(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not found:
        raise UsageError(f"{path}: it contains no labelled trace")
    return found


def _labelled(path: Path, number: int, text: bytes) -> LabelledTrace:
    try:
        line = _Line.model_validate_json(text)
    except ValidationError as error:
        raise UsageError(f"{path}:{number}: {reasons(error)}") from error
    try:
        traces = list(_traces(path, number, line))
    except FormatError as error:
        raise AssessmentError(f"{path}:{number}: {error}") from error
    if len(traces) != 1:
        raise AssessmentError(f"{path}:{number}: expected one trace for the label, found {len(traces)}")
    return LabelledTrace(number, line.of(traces[0]), line.label)


def _traces(path: Path, number: int, line: _Line) -> Iterator[Trace]:
    if isinstance(line.trace, str):
        return traces_in(path.parent / line.trace, None, lambda _: None)
    inline = "\n".join(map(json.dumps, line.trace)).encode()
    return read_traces(Source(f"{path.name}:{number}", BytesIO(inline)), "concord")


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Figure(_Record):
    """A rate, `count` of `n`, with its Wilson interval, null if undefined."""

    count: int
    n: int
    value: float | None
    low: float | None
    high: float | None


class JudgedTrace(_Record):
    """One labelled trace. `judged` is null if the judge is undecided, or rules judged in place of the model."""

    line: int
    trace_id: str
    label: Label
    judged: Label | None
    points: float | None
    source: Literal["rules", "llm"]
    reason: str | None


class Calibration(_Record):
    """How far a judge agrees with labels, over the traces that it decided. `model`: null for the rules."""

    model: str | None
    prompt_version: str | None
    samples: int
    threshold: float
    undecided: int
    accuracy: Figure
    false_pass: Figure
    false_fail: Figure
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    traces: list[JudgedTrace]


def calibration_from(
    labelled: Sequence[LabelledTrace], judgments: Sequence[Judgment], threshold: float, *, by_model: bool
) -> Calibration:
    """The calibration of a judge by its judgments of labelled traces, in the same order. Pure.

    A trace passes if its points reach `threshold`: those for the task if the judge gave any, else the overall ones.
    """
    traces = [
        _judged_trace(each, judgment, threshold, by_model=by_model)
        for each, judgment in zip(labelled, judgments, strict=True)
    ]
    decided = [(each.label == "pass", each.judged == "pass") for each in traces if each.judged is not None]
    found = agreement(decided)
    models = [judgment for judgment in judgments if judgment.source == "llm"]
    return Calibration(
        model=models[0].model if models else None,
        prompt_version=models[0].prompt_version if models else None,
        samples=models[0].samples if models else 0,
        threshold=threshold,
        undecided=len(traces) - len(decided),
        accuracy=_figure(found.accuracy),
        false_pass=_figure(found.false_pass),
        false_fail=_figure(found.false_fail),
        kappa=None if found.kappa is None else found.kappa.value,
        kappa_low=None if found.kappa is None else found.kappa.low,
        kappa_high=None if found.kappa is None else found.kappa.high,
        traces=traces,
    )


def _judged_trace(labelled: LabelledTrace, judgment: Judgment, threshold: float, *, by_model: bool) -> JudgedTrace:
    points = judgment.overall_score if judgment.task_success is None else judgment.task_success
    judged: Label | None = None
    if points is not None and (judgment.source == "llm" or not by_model):
        judged = "pass" if points >= threshold else "fail"
    return JudgedTrace(
        line=labelled.line,
        trace_id=labelled.trace.trace_id,
        label=labelled.label,
        judged=judged,
        points=points,
        source=judgment.source,
        reason=judgment.reason,
    )


def _figure(rate: Rate) -> Figure:
    low, high = (None, None) if rate.interval is None else (rate.interval.low, rate.interval.high)
    return Figure(count=rate.count, n=rate.n, value=rate.value, low=low, high=high)


def calibration_of(calibration: Calibration) -> RenderableType:
    """The figures, and each trace on which judge and label differ or the judge is undecided."""
    rates = (
        ("accuracy", calibration.accuracy, "traces"),
        ("false passes", calibration.false_pass, "labelled fail"),
        ("false fails", calibration.false_fail, "labelled pass"),
    )
    kappa = _of_value(calibration.kappa, calibration.kappa_low, calibration.kappa_high)
    rows = [
        (name, *_of_value(each.value, each.low, each.high), f"{each.count} of {each.n} {of}")
        for name, each, of in rates
    ]
    table = plain_table("", "value", "95 %", "", rows=[*rows, ("Cohen's kappa", *kappa, "")])
    shown: list[RenderableType] = [table]
    if notable := [each for each in calibration.traces if each.judged != each.label]:
        shown += [Text("\nDifferences from the labels", style="bold"), _differences(notable)]
    return Group(*shown)


def _differences(traces: list[JudgedTrace]) -> Table:
    rows = (
        (
            *(str(each.line), plain_text(each.trace_id), each.label, each.judged or "-"),
            *(figure_or_dash(each.points, ".2f"), plain_text(each.reason or "")),
        )
        for each in traces
    )
    return plain_table("line", "trace", "label", "judged", "points", "", rows=rows)


def _of_value(value: float | None, low: float | None, high: float | None) -> tuple[str, str]:
    return "undefined" if value is None else f"{value:.2f}", span(low, high, ".2f")
