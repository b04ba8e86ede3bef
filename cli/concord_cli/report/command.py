"""`concord report`, once its arguments are parsed."""

from pathlib import Path

from concord_cli.output_files import prepare_folder, write_text
from concord_cli.report.metrics import installed_definitions
from concord_cli.report.renderer import render
from concord_cli.results_file import chosen_row


def report(results: Path, output: Path | None, trial_id: str | None, assessment_id: str | None) -> Path:
    """Writes the page on a row of a results file, or on one of its trials, and returns its path.

    Raises UsageError for an invalid results file or an unknown row or trial; AssessmentError if the page cannot be
    written.
    """
    page = render(chosen_row(results, assessment_id), trial_id, installed_definitions())
    path = results.with_suffix(".html") if output is None else output
    prepare_folder(path)
    write_text(path, page)
    return path
