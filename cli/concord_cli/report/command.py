"""`concord report`, once its arguments are parsed."""

from collections.abc import Sequence
from pathlib import Path

from concord.assessment.result_row import ResultRow
from concord_cli.display_text import shortened
from concord_cli.errors import UsageError
from concord_cli.output_files import prepare_folder, write_text
from concord_cli.report.metrics import installed_definitions
from concord_cli.report.renderer import render
from concord_cli.results_file import read_rows


def report(results: Path, output: Path | None, trial_id: str | None, assessment_id: str | None) -> Path:
    """Writes the page on a row of a results file, or on one of its trials, and returns its path.

    Raises UsageError for an invalid results file or an unknown row or trial; AssessmentError if the page cannot be
    written.
    """
    page = render(_chosen(results, read_rows(results), assessment_id), trial_id, installed_definitions())
    path = results.with_suffix(".html") if output is None else output
    prepare_folder(path)
    write_text(path, page)
    return path


def _chosen(path: Path, rows: Sequence[ResultRow], assessment_id: str | None) -> ResultRow:
    if not rows:
        raise UsageError(f"{path}: the file contains no result")
    ids = ", ".join(shortened(row.detail.assessment_id, 120) for row in rows[:5]) + (", …" if len(rows) > 5 else "")
    if assessment_id is None:
        if len(rows) > 1:
            raise UsageError(f"{path}: the file has {len(rows)} results: choose one with --assessment ({ids})")
        return rows[0]
    for row in rows:
        if row.detail.assessment_id == assessment_id:
            return row
    raise UsageError(f"{path}: the file has no assessment {assessment_id!r}, only: {ids}")
