"""`concord report --index`, once its arguments are parsed."""

from pathlib import Path
from typing import Final

from concord_cli.output_files import prepare_folder, write_text
from concord_cli.report.renderer import render_document
from concord_cli.view.costs import cost_chart
from concord_cli.view.runs import MAX_RUNS, find_runs

INDEX: Final = "index.html"


def view(folder: Path, output: Path | None) -> tuple[Path, list[str]]:
    """Writes the index of the runs in a folder, by default as `index.html` in it.

    Returns its path, and a line for each results file that cannot be read. Raises UsageError for a folder without
    results; AssessmentError if the page cannot be written.
    """
    path = folder / INDEX if output is None else output
    found = find_runs(folder, path.parent)
    page = render_document(
        "index.html.j2",
        ("report.css", "index.css"),
        "index.js",
        folder=folder.resolve().name or str(folder),
        lines=[run.line for run in found.runs],
        data=[run.parts for run in found.runs],
        costs=cost_chart(found.runs),
        left_out=found.left_out,
        most=MAX_RUNS,
        unreadable=found.unreadable,
    )
    prepare_folder(path)
    write_text(path, page)
    return path, list(found.unreadable)
