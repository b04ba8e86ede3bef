"""Recorded traces: `concord evaluate` and `concord report` of 100,000 spans, as one trace and as thousands."""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.recorded_spans import write
from benchmarks.tables import ResultTable

SPANS: Final = 100_000
TRACES: Final = (1, 2_858)
"""One long run, and runs of 35 spans each."""

_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took, all its processes together; `peak_mib`: of the largest of them."""

    seconds: float
    cpu_s: float
    peak_mib: float


def measure(soak_s: float) -> list[ResultTable]:  # noqa: ARG001 - one signature for all sections
    """All figures of recorded traces."""
    with tempfile.TemporaryDirectory() as folder:
        return [
            ResultTable(
                "Recorded traces, from the file to the page",
                f"{SPANS:,} spans with their content, written by `benchmarks.recorded_spans`. The rows are compressed "
                "(`.jsonl.gz`). The memory is that of the largest process.",
                ("traces", "file, MiB", "command", "seconds", "CPU, s", "peak, MiB", "written, MiB"),
                [row for traces in TRACES for row in _rows(Path(folder), traces)],
            )
        ]


def _rows(folder: Path, traces: int) -> list[tuple[str, ...]]:
    spans, rows, page = folder / f"{traces}.jsonl", folder / f"{traces}-rows.jsonl.gz", folder / f"{traces}.html"
    write(spans, SPANS, traces)
    commands: dict[str, tuple[list[str | Path], Path]] = {
        "evaluate": (["evaluate", "-q", spans, "-o", rows], rows),
        "report": (["report", rows, "-o", page], page),
    }
    return [
        (
            f"{traces:,}",
            f"{spans.stat().st_size / _MIB:.0f}",
            name,
            *(f"{value:.1f}" for value in (cost.seconds, cost.cpu_s)),
            f"{cost.peak_mib:.0f}",
            f"{written.stat().st_size / _MIB:.2f}",
        )
        for name, (arguments, written) in commands.items()
        for cost in [_cost(arguments)]
    ]


def _cost(arguments: list[str | Path]) -> Cost:
    started = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "concord_cli", *map(str, arguments)], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"concord {arguments[0]} ended with {process.returncode}")
    return Cost(time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
