"""Results files of hundreds of rows: time and memory of `concord view` and `concord compare`.

`CONCORD_BENCH_BASELINE` is the folder of a checkout of another version. Rounds of both versions alternate.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import Final

from benchmarks.tables import ResultTable
from concord.assessment.result_row import ResultRow
from tests.team_task_rows import team_of_twenty

ROOT: Final = Path(__file__).parents[1]
LISTED, COMPARED = 500, 1_000
ROUNDS: Final = 2
OUTCOMES: Final = {0, 3, 5}
"""Exit codes of a command that did its work: a comparison says with its code what it found."""


def measure(soak_s: float) -> list[ResultTable]:  # noqa: ARG001 - one signature for all sections
    """The table of both commands."""
    baseline = os.environ.get("CONCORD_BENCH_BASELINE")
    roots = [ROOT] if baseline is None else [Path(baseline).resolve(), ROOT]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = _write(folder)
        commands = {
            f"view, {LISTED} rows": ["view", str(folder / "listed"), "--output", str(folder / "index.html")],
            f"compare, 2 files of {COMPARED:,} rows": ["compare", str(folder / "a.jsonl"), str(folder / "b.jsonl")],
        }
        rows = [(command, *_cells(roots, arguments)) for command, arguments in commands.items()]
    versions = ["now"] if baseline is None else ["baseline", "now"]
    columns = ("command", *(f"{version}, {unit}" for version in versions for unit in ("CPU s", "MiB")))
    return [
        ResultTable(
            "Many rows",
            f"Rows of {size / 1000:.0f} kB. The least of {ROUNDS} rounds; memory is the greatest resident set.",
            columns,
            rows,
        )
    ]


def _write(folder: Path) -> int:
    """Writes the results files. Returns the bytes of a row."""
    whole = team_of_twenty()
    # Without its calls, the row has the size of one of a common team.
    trials = [trial.model_copy(update={"calls": []}) for trial in whole.detail.trials]
    row = whole.model_copy(update={"detail": whole.detail.model_copy(update={"trials": trials})})
    (folder / "listed").mkdir()
    for number, each in enumerate(_rows(row, LISTED)):
        (folder / "listed" / f"{number}.jsonl").write_text(each.model_dump_json() + "\n", encoding="utf-8")
    for name in ("a", "b"):
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(each.model_dump_json() + "\n" for each in _rows(row, COMPARED))
    return len(row.model_dump_json())


def _rows(row: ResultRow, count: int) -> Iterator[ResultRow]:
    """The row as that of so many assessments, one an hour, each on a puzzle of its own."""
    for number in range(count):
        trials = [each.model_copy(update={"instance_digest": f"{number:064x}"}) for each in row.detail.trials]
        changes = {
            "assessment_id": f"assessment-{number}",
            "started_at": datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number),
            "trials": trials,
        }
        yield row.model_copy(update={"detail": row.detail.model_copy(update=changes)})


def _cells(roots: Sequence[Path], arguments: Sequence[str]) -> list[str]:
    rounds = [[_cost(root, arguments) for root in roots] for _ in range(ROUNDS)]
    least = [tuple(map(min, zip(*of_root, strict=True))) for of_root in zip(*rounds, strict=True)]
    return [cell for seconds, mebibytes in least for cell in (f"{seconds:.1f}", f"{mebibytes:,.0f}")]


def _cost(root: Path, arguments: Sequence[str]) -> tuple[float, float]:
    """CPU seconds and MiB of a command of a checkout. Raises RuntimeError if it fails."""
    members = (root, root / "shared", root / "cli", root / "services" / "evaluator")
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, members))}
    command = [sys.executable, "-m", "concord_cli", *arguments]
    process = Popen(command, env=variables, stdout=DEVNULL)  # noqa: S603 - our own command
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in OUTCOMES:
        raise RuntimeError(f"{' '.join(arguments)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
