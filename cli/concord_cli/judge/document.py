"""What a calibration comes to, as JSON: rates with the ends of their intervals, null where there is none."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Label = Literal["pass", "fail"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Figure(_Part):
    """`count` of `n`, and the Wilson interval of that rate."""

    count: int
    n: int
    value: float | None
    low: float | None
    high: float | None


class JudgedTrace(_Part):
    """One labelled trace: `judged` is null where the judge could not say, or a model was asked and rules judged."""

    line: int
    trace_id: str
    label: Label
    judged: Label | None
    points: float | None
    source: Literal["rules", "llm"]
    reason: str | None


class Calibration(_Part):
    """How far a judge agrees with labels, over the traces on which it could say. `model`: null for the rules."""

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
