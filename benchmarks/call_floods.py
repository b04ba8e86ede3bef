"""Floods of calls through the proxy: the cost of conduct with and without its limit, and of the evaluation."""

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final
from unittest.mock import patch

from benchmarks.one_evaluation import outcome, plan
from benchmarks.synthetic_traces import TRACE_ID
from benchmarks.tables import ResultTable
from concord.trace.report import Channel, ReportBatch, pack
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.pipeline import evaluate_trial, score_inputs
from concord_evaluator.trace import MAX_CARRIED_TEXT

CALLS: Final = (1_000, 5_000, 50_000)
WORDS: Final = 400
"""Words of each request and of each answer."""

AGENTS: Final = 10
STEPS_A_BATCH: Final = 1_000
UNBOUNDED: Final = 10**12

_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def flooded() -> ResultTable:
    """Seconds of CPU for floods of several sizes."""
    return ResultTable(
        "Floods of carried calls",
        f"Seconds of CPU. {AGENTS} agents; each request and each answer has {WORDS} words. Conduct reads the first "
        f"{MAX_CARRIED_TEXT:,} characters that a trial's calls said.",
        ("calls", "conduct without the limit, s", "with it, s", "ratio", "whole evaluation, s"),
        [_row(calls) for calls in CALLS],
    )


def _row(calls: int) -> Sequence[str]:
    batches = list(_batches(calls))
    without, bounded = (_cpu(partial(_conduct, batches, room)) for room in (UNBOUNDED, MAX_CARRIED_TEXT))
    whole = _cpu(partial(evaluate_trial, plan(AGENTS), outcome(), batches))
    return f"{calls:,}", f"{without:.2f}", f"{bounded:.2f}", f"{without / bounded:.1f}", f"{whole:.2f}"


def _conduct(batches: Sequence[ReportBatch], room: int) -> None:
    with patch.object(score_inputs, "MAX_CARRIED_TEXT", room):
        score_inputs.conduct_in(plan(AGENTS), outcome(), batches)


def _batches(calls: int) -> Iterator[ReportBatch]:
    """The gateway's batches for this number of calls. Deterministic."""
    draw = random.Random(calls)  # noqa: S311 - a reproducible draw, not a secret
    words = ["".join(draw.choices(_LETTERS, k=draw.randint(4, 8))) for _ in range(20_000)]
    texts = [" ".join(draw.choices(words, k=WORDS)) for _ in range(1_000)]
    for start in range(0, calls, STEPS_A_BATCH):
        steps = [_step(number, draw, texts) for number in range(start, min(calls, start + STEPS_A_BATCH))]
        body = {"batch_id": str(start), "trace_id": TRACE_ID, "reporter": GREEN_AGENT, "steps": steps}
        packed = pack(json.dumps(body).encode())
        yield ReportBatch(str(start), TRACE_ID, GREEN_AGENT, True, Channel.OBSERVED, _START, len(steps), 0, packed)


def _step(number: int, draw: random.Random, texts: Sequence[str]) -> dict[str, Any]:
    caller, callee = draw.sample(range(AGENTS), 2)
    began = _START + timedelta(milliseconds=3 * number)
    return {
        "step_id": f"{draw.getrandbits(64):016x}",
        "trace_id": TRACE_ID,
        "call_type": "AGENT",
        "step_action": {
            "agent_invocation": {"agent_name": f"agent-{callee}", "requests": {"text": draw.choice(texts)}}
        },
        "additional_attributes": {"agent_name": f"agent-{caller}", "response_text": draw.choice(texts)},
        "start_time": began.isoformat(),
        "end_time": (began + timedelta(milliseconds=2)).isoformat(),
    }


def _cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
