"""Fields of many steps at once, as typed arrays: their kinds, latencies, starts and tokens."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from concord.trace.step import CallFacts, StepFacts, as_utc
from concord_evaluator.trace.columns import KINDS, NEVER, NONE, Amounts, Bytes
from concord_evaluator.trace.trees import Numbers

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_UNKNOWN_MS: Final = float("nan")
_EARLIEST: Final = -(2**62)
"""The bound of starts that are derived from absurd latencies (µs)."""

_EXACT_UNTIL: Final = 2**31
"""Seconds since 1970 until which a float tells every microsecond."""

_KIND_CODES: Final = {id(kind): code for code, kind in enumerate(KINDS)}
"""By identity, because enumerations hash in Python."""


def kinds_of(steps: Sequence[StepFacts], attributes: Sequence[Mapping[str, str]]) -> Bytes:
    """Codes as in `KINDS`. `attributes`: of the same steps."""
    kinds = np.array([_KIND_CODES[id(step.call_type)] for step in steps], np.int8)
    for place, each in enumerate(attributes):
        if "call_type" in each:
            kinds[place] = _KIND_CODES[id(steps[place].kind)]
    return kinds


def latencies_ms(steps: Sequence[StepFacts]) -> Amounts:
    """Milliseconds; NaN if unknown."""
    told = [step.latency for step in steps]
    if None in told:
        known = [step.latency_ms for step in steps]
        return np.array([_UNKNOWN_MS if each is None else each for each in known], np.float64)
    return np.array(told, np.float64)


def starts_us(steps: Sequence[StepFacts]) -> Numbers:
    """Microseconds since 1970, from the end and the latency if need be; `NEVER` if unknown."""
    moments = [step.start_time for step in steps]
    zoned = [moment.timestamp() for moment in moments if moment is not None and moment.tzinfo is not None]
    if len(zoned) == len(steps):
        seconds = np.array(zoned, np.float64)
        if ((seconds >= 0) & (seconds < _EXACT_UNTIL)).all():
            return np.rint(seconds * 1e6).astype(np.int64)
    return np.array([_start_us(step) for step in steps], np.int64)


def _start_us(step: StepFacts) -> int:
    if step.start_time is not None:
        return (as_utc(step.start_time) - _EPOCH) // _MICROSECOND
    if step.end_time is None or step.latency is None:
        return NEVER
    return max((as_utc(step.end_time) - _EPOCH) // _MICROSECOND - 1000 * step.latency, _EARLIEST)


def tokens_of(steps: Sequence[StepFacts]) -> Numbers:
    """Tokens; `NONE` if unknown or absurd."""
    told = [step.total_tokens for step in steps]
    return np.maximum(np.array([NONE if each is None else each for each in told], np.int64), NONE)


def call_in(step: StepFacts) -> CallFacts | None:
    """The call that a step of the kind `AGENT` is."""
    action = step.step_action
    called = None if action is None else action.agent_invocation
    return step.agent_call if called is None else called
