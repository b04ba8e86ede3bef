"""Results as a table: a line for each row, trial, call or message, as CSV, JSON or Parquet."""

import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from concord.rows import Line, Records, lines_of
from concord_cli.errors import UsageError
from concord_cli.output_files import output_file
from concord_cli.results_file import rows_in


def write_table(results: Sequence[Path], of: Records, output: Path | None, *, as_json: bool) -> None:
    """Writes the table of results files into a file, or prints it. Raises UsageError, AssessmentError."""
    form = ".jsonl" if as_json else ".csv" if output is None else output.suffix
    if form not in _WRITERS or (output is not None and as_json):
        raise UsageError(f"{output}: the name of the file says its form: {', '.join(_WRITERS)}")
    rows = (row for path in results for row in rows_in(path, tables=of != "rows"))
    lines = lines_of(rows, of)
    if output is not None:
        with output_file(output) as file:
            _WRITERS[form](lines, file)
    else:
        _WRITERS[form](lines, sys.stdout.buffer)


def _write_csv(lines: Iterator[Line], file: IO[bytes]) -> None:
    """An empty cell for what is not known."""
    out, first = _Text(file), next(lines, None)
    if first is None:
        return
    writer = csv.DictWriter(out, list(first), lineterminator="\n")
    writer.writeheader()
    writer.writerow(_for_spreadsheets(first))
    writer.writerows(map(_for_spreadsheets, lines))


class _Text:
    """A binary file, to which text is written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        """Writes text as UTF-8; half a surrogate pair as `?`."""
        self._file.write(text.encode(errors="replace"))


_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def _for_spreadsheets(line: Line) -> Line:
    """The line with an apostrophe before texts of agents that a spreadsheet would compute (OWASP, CSV injection)."""
    return {
        name: f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell for name, cell in line.items()
    }


def _write_json(lines: Iterator[Line], file: IO[bytes]) -> None:
    file.write(json.dumps(list(lines), indent=2).encode() + b"\n")


def _write_json_lines(lines: Iterator[Line], file: IO[bytes]) -> None:
    for line in lines:
        file.write(json.dumps(line).encode() + b"\n")


def _write_parquet(lines: Iterator[Line], file: IO[bytes]) -> None:
    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import pyarrow.parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(lines)), file)


_WRITERS: Final[Mapping[str, Callable[[Iterator[Line], IO[bytes]], None]]] = {
    ".csv": _write_csv,
    ".json": _write_json,
    ".jsonl": _write_json_lines,
    ".parquet": _write_parquet,
}
