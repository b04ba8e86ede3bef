"""Recorded traces: `concord evaluate` and `concord report` of files in every form, as one trace and as thousands."""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from concord.trace.report import unpack
from lab.benchmarks.tables import ResultTable
from lab.benchmarks.traces.recorded_spans import PROTOBUF, write
from lab.benchmarks.usage import Cost, cost_of
from tests.kit.synthetic_traces import TRACE_ID, roster, stored_batches

SPANS: Final = 100_000
TRACES: Final = (1, 2_858)
"""One long run, and runs of 35 spans each."""

AGENTS: Final = 100
"""Of the trace in Concord's JSONL."""

_MIB: Final = 1 << 20


def measure(*, soak_s: float) -> list[ResultTable]:  # noqa: ARG001 - see `sections.Measure`
    """The table of both commands."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [
            ResultTable(
                "Recorded traces, from the file to the page",
                f"{SPANS:,} spans with their content, as `lab.benchmarks.traces.recorded_spans` writes them, or "
                f"steps of {AGENTS} agents. The rows are compressed (`.jsonl.gz`). The memory is that of the largest "
                "process.",
                (
                    "traces",
                    "file",
                    "MiB",
                    "command",
                    "seconds",
                    "CPU, s",
                    "CPU, µs a span",
                    "peak, MiB",
                    "written, MiB",
                ),
                [row for traces in TRACES for row in _rows(folder, traces)],
            )
        ]


def recordings(folder: Path, spans: int, traces: int) -> dict[str, Path]:
    """The same spans in OTLP's JSON and protobuf, and for one trace as many steps in Concord's JSONL, by name.

    Writes files that the folder does not have yet.
    """
    files = {
        "OTLP JSON": folder / f"{traces}-{spans}.jsonl",
        "OTLP protobuf": folder / f"{traces}-{spans}{PROTOBUF}",
    }
    for file in files.values():
        if not file.exists():
            write(file, spans, traces)
    if traces == 1:
        files["Concord JSONL"] = steps = folder / f"steps-{spans}.jsonl"
        if not steps.exists():
            _write_steps(steps, spans)
    return files


def _write_steps(file: Path, steps: int) -> None:
    """A trace as batches, each with what the collector knows of its reporter."""
    facts = {"trace_id": TRACE_ID, "roster": [entry.model_dump(mode="json") for entry in roster(AGENTS)]}
    with file.open("w", encoding="utf-8") as written:
        written.write(json.dumps({"trace": facts}) + "\n")
        for batch in stored_batches(AGENTS, steps):
            line: dict[str, Any] = json.loads(unpack(batch.body))
            line |= {"channel": batch.channel, "authenticated": batch.authenticated}
            written.write(json.dumps(line) + "\n")


def _rows(folder: Path, traces: int) -> Iterator[tuple[str, ...]]:
    for form, file in recordings(folder, SPANS, traces).items():
        rows, page = folder / "rows.jsonl.gz", folder / "page.html"
        yield _row(traces, form, file, "evaluate", _concord("evaluate", "-q", file, "-o", rows), rows)
        yield _row(traces, form, file, "report", _concord("report", rows, "-o", page), page)


def _row(traces: int, form: str, file: Path, command: str, cost: Cost, written: Path) -> tuple[str, ...]:
    return (
        f"{traces:,}",
        form,
        f"{file.stat().st_size / _MIB:.0f}",
        command,
        f"{cost.seconds:.1f}",
        f"{cost.cpu_s:.1f}",
        f"{cost.cpu_s / SPANS * 1e6:.0f}",
        f"{cost.peak_mib:.0f}",
        f"{written.stat().st_size / _MIB:.2f}",
    )


def _concord(*words: str | Path) -> Cost:
    return cost_of([sys.executable, "-m", "concord_cli", *words])
