"""What `concord judge calibrate` does, once its arguments are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from concord.assessment import AssessmentConfig
from concord.assessment.results import Judgment
from concord_cli.errors import AssessmentError
from concord_cli.evaluate.inputs import read_config
from concord_cli.judge.asking import judge_with, sign_of_life
from concord_cli.judge.document import Calibration, Figure, JudgedTrace, Label
from concord_cli.judge.labelled import LabelledTrace, read_labelled
from concord_cli.judge.tables import calibration_of
from concord_cli.results_file import prepare_folder, replace_text
from concord_evaluator.judge import TrialJudge
from concord_evaluator.offline import judge_trace
from concord_evaluator.statistics.agreement import Rate, agreement

WIDE = 200
"""Columns to print on where there is no terminal."""


@dataclass(frozen=True, slots=True)
class Calibrating:
    """The command line."""

    labelled: Path
    output: Path | None
    samples: int
    rules: bool
    config: Path | None
    quiet: bool


async def calibrate_judge(asked: Calibrating) -> None:
    """Judges every labelled trace and prints how far that agrees with its label. Raises UsageError, AssessmentError."""
    judge, config = judge_with(asked.samples, rules=asked.rules), read_config(asked.config)
    if asked.output is not None:
        prepare_folder(asked.output)
    labelled = read_labelled(asked.labelled)
    judgments = []
    async with sign_of_life(Console(stderr=True, highlight=False)) as say:
        for number, each in enumerate(labelled, start=1):
            say(f"Judging {each.trace.trace_id} ({number} of {len(labelled)})")
            judgments.append(await _judged(each, config, judge))
    calibration = calibration_from(labelled, judgments, config.thresholds.pass_mark, by_model=not asked.rules)
    if asked.output is not None:
        _write(asked.output, calibration)
    if not asked.quiet:
        console = Console(highlight=False)
        if not console.is_terminal:
            console = Console(highlight=False, width=WIDE)
        console.print(calibration_of(calibration))


async def _judged(labelled: LabelledTrace, config: AssessmentConfig, judge: TrialJudge) -> Judgment:
    """The judge's own word: what a file says of the success of its task is left out, which is what labels are for."""
    row = await judge_trace(labelled.trace, config, judge)
    judgment = row.detail.judge
    assert judgment is not None  # noqa: S101 - `judge_trace` always judges
    return judgment


def calibration_from(
    labelled: Sequence[LabelledTrace], judgments: Sequence[Judgment], threshold: float, *, by_model: bool
) -> Calibration:
    """The calibration of judgments of labelled traces, each with its own. Pure.

    Points are those for the task where the judge decided that, else the overall ones; from `threshold` on they pass.
    """
    traces = [
        _judged_trace(each, judgment, threshold, by_model=by_model)
        for each, judgment in zip(labelled, judgments, strict=True)
    ]
    said = [(each.label == "pass", each.judged == "pass") for each in traces if each.judged is not None]
    found = agreement(said)
    models = [judgment for judgment in judgments if judgment.source == "llm"]
    return Calibration(
        model=models[0].model if models else None,
        prompt_version=models[0].prompt_version if models else None,
        samples=models[0].samples if models else 0,
        threshold=threshold,
        undecided=len(traces) - len(said),
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


def _write(path: Path, calibration: Calibration) -> None:
    try:
        replace_text(path, calibration.model_dump_json(indent=2) + "\n")
    except OSError as error:
        raise AssessmentError(f"{path}: cannot be written: {error.strerror}") from error
