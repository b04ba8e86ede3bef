"""Results files of hundreds of rows: time and memory of `concord report --index` and `concord compare`."""

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from concord.assessment.result_row import ResultRow
from lab.benchmarks.tables import ResultTable
from lab.benchmarks.usage import Cost, cost_of
from tests.kit.team_task_rows import team_of_twenty

LISTED, COMPARED = 500, 1_000
ROUNDS: Final = 2
OUTCOMES: Final = (0, 3, 5)
"""Exit codes of a command that did its work: a comparison says with its code what it found."""


def measure(*, soak_s: float) -> list[ResultTable]:  # noqa: ARG001 - see `sections.Measure`
    """The table of both commands."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [(command, *_cells(words)) for command, words in commands(folder).items()]
        size = (folder / "listed" / "0.jsonl").stat().st_size
    return [
        ResultTable(
            "Many rows",
            f"Rows of {size / 1000:.0f} kB. The least of {ROUNDS} rounds; memory is the greatest resident set.",
            ("command", "seconds", "CPU, s", "peak, MiB"),
            rows,
        )
    ]


def commands(folder: Path) -> Mapping[str, Sequence[str]]:
    """The measured commands, by name. Writes the files that they read, if the folder does not have them yet."""
    if not (folder / "listed").exists():
        _write(folder)
    return {
        f"view, {LISTED} rows": ["view", str(folder / "listed"), "--output", str(folder / "index.html")],
        f"compare, 2 files of {COMPARED:,} rows": ["compare", str(folder / "a.jsonl"), str(folder / "b.jsonl")],
    }


def _write(folder: Path) -> None:
    """Writes the results files."""
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


def _cells(words: Sequence[str]) -> tuple[str, ...]:
    costs = [_concord(words) for _ in range(ROUNDS)]
    return (
        f"{min(cost.seconds for cost in costs):.1f}",
        f"{min(cost.cpu_s for cost in costs):.1f}",
        f"{min(cost.peak_mib for cost in costs):,.0f}",
    )


def _concord(words: Sequence[str]) -> Cost:
    return cost_of([sys.executable, "-m", "concord_cli", *words], succeeds_with=OUTCOMES)
