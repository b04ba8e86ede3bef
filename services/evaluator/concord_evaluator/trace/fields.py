"""Fields of many steps at once, as typed arrays: their kinds, latencies, starts and tokens."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
from msgspec import UNSET

from concord.trace.step import CallType, as_utc
from concord_evaluator.trace.columns import KINDS, NEVER, NONE, Amounts, Bytes
from concord_evaluator.trace.lean_steps import LeanCall, LeanStep
from concord_evaluator.trace.trees import Numbers, compact

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_UNKNOWN_MS: Final = float("nan")
EARLIEST: Final = -(2**62)
"""The bound of starts that are derived from absurd latencies (µs)."""

_EXACT_UNTIL: Final = 2**31
"""Seconds since 1970 until which a float tells every microsecond."""

_HOST: Final = KINDS.index(CallType.HOST)
_KIND_CODES: Final = {id(kind): code for code, kind in enumerate(KINDS)}
"""By identity, because enumerations hash in Python."""


def kinds_of(steps: Sequence[LeanStep]) -> Bytes:
    """Codes as in `KINDS`. A tool's attribute may tell that the step is work on the agent's own host."""
    kinds = np.fromiter([_KIND_CODES[id(step.call_type)] for step in steps], np.int8, len(steps))
    for place, step in enumerate(steps):
        if (told := step.additional_attributes.call_type) and told == CallType.HOST:
            kinds[place] = _HOST
    return kinds


def latencies_ms(steps: Sequence[LeanStep]) -> Amounts:
    """Milliseconds: as told, else the end minus the start; NaN if neither is known."""
    told: list[float | None] = [step.latency for step in steps]
    if None in told:
        told = [_latency_ms(step) if ms is None else ms for ms, step in zip(told, steps, strict=True)]
    return np.fromiter(told, np.float64, len(steps))


def _latency_ms(step: LeanStep) -> float:
    if step.start_time is None or step.end_time is None:
        return _UNKNOWN_MS
    return max(0.0, (as_utc(step.end_time) - as_utc(step.start_time)).total_seconds() * 1000)


def starts_us(steps: Sequence[LeanStep]) -> Numbers:
    """Microseconds since 1970, from the end and the latency if need be; `NEVER` if unknown."""
    moments = [step.start_time for step in steps]
    zoned = [moment.timestamp() for moment in moments if moment is not None and moment.tzinfo is not None]
    if len(zoned) == len(steps):
        seconds = np.fromiter(zoned, np.float64, len(steps))
        if ((seconds >= 0) & (seconds < _EXACT_UNTIL)).all():
            return np.rint(seconds * 1e6).astype(np.int64)
    return np.fromiter(map(_start_us, steps), np.int64, len(steps))


def _start_us(step: LeanStep) -> int:
    if step.start_time is not None:
        return (as_utc(step.start_time) - _EPOCH) // _MICROSECOND
    if step.end_time is None or step.latency is None:
        return NEVER
    return max((as_utc(step.end_time) - _EPOCH) // _MICROSECOND - 1000 * step.latency, EARLIEST)


def tokens_of(steps: Sequence[LeanStep]) -> Numbers:
    """Tokens; `NONE` if unknown or absurd."""
    told = [step.total_tokens for step in steps]
    return compact(
        np.maximum(np.fromiter([NONE if each is None else each for each in told], np.int64, len(steps)), NONE)
    )


def call_in(step: LeanStep) -> LeanCall:
    """The call that a step of the kind `AGENT` is, in either form."""
    action = step.step_action
    if action is None or action.agent_invocation is None:
        return LeanCall(agent_name=step.name or "", requests=step.requests)
    return action.agent_invocation


def failure_of(step: LeanStep) -> str | None:
    """The error, in the reporter's words; None if the step succeeded."""
    if step.error is not None:
        return str(step.error)
    told = step.additional_attributes.error
    return None if told is UNSET else told
