"""How far a judge agrees with labels: the JSON document, and how it is computed."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from concord.assessment.results import Judgment
from concord_cli.judge.labelled import Label, LabelledTrace
from concord_evaluator.statistics import Rate, agreement


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
