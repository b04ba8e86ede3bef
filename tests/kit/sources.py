"""In-memory trace files for tests, and the values read from them."""

import os
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest

from concord.assessment import AssessmentConfig
from concord.assessment.result_row import ResultRow
from concord_evaluator.formats import FormatError, Source, Trace, read_traces
from concord_evaluator.offline import evaluate_trace

SAMPLES = Path(os.environ.get("CONCORD_TRACE_SAMPLES", os.devnull))
"""A folder of public traces: `marble/*.jsonl`, `cooperbench/*.json`, `nezha/*.csv`, `cooperbench-runs/`."""


def source(content: str | bytes, name: str = "file.json") -> Source:
    return Source(name, BytesIO(content.encode() if isinstance(content, str) else content))


def read(content: str | bytes, name: str = "file.json", format_name: str | None = None) -> list[Trace]:
    return list(read_traces(source(content, name), format_name))


def read_past_faults(
    content: str | bytes, name: str = "file.json", format_name: str | None = None
) -> tuple[list[Trace], list[str]]:
    """The traces of all readable records, and the messages about the others."""
    faults: list[str] = []
    data = content.encode() if isinstance(content, str) else content
    reading = Source(name, BytesIO(data), on_fault=lambda fault: faults.append(str(fault)))
    return list(read_traces(reading, format_name)), faults


def read_file(path: Path) -> list[Trace]:
    return read(path.read_bytes(), path.name)


def refusal(content: str | bytes, format_name: str | None = None, name: str = "file.json") -> str:
    """The error message for a file that is refused."""
    with pytest.raises(FormatError) as refused:
        read(content, name, format_name)
    return str(refused.value)


def evaluated(trace: Trace) -> ResultRow:
    return evaluate_trace(trace, AssessmentConfig())


def calls_between(trace: Trace) -> Counter[tuple[str, str]]:
    """The calls from one agent to another, as the row counts them."""
    [trial] = evaluated(trace).detail.trials
    return Counter({(pair.caller, pair.callee): pair.calls for pair in trial.interactions})


def agents_of(trace: Trace) -> list[str]:
    return [agent.id for agent in evaluated(trace).detail.agents]
