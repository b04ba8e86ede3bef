"""`concord report`, once its arguments are parsed."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

import typer

from concord.assessment import Mode
from concord.assessment.result_row import ResultRow
from concord.rows import COMPRESSED, lines_of
from concord_cli.commands.arguments import ReportArguments
from concord_cli.errors import UsageError
from concord_cli.output_files import prepare_folder, write_text
from concord_cli.report.renderer import render, render_document
from concord_cli.results_file import chosen_rows, rows_in
from concord_cli.row_view.metrics import installed_definitions
from concord_cli.row_view.scope import scope_of

_T = TypeVar("_T")


def report(arguments: ReportArguments) -> Path:
    """Writes the page on a row of a results file, on one of its trials, or on all of many recorded traces.

    Returns its path. Raises UsageError for an invalid results file or an unknown row or trial; AssessmentError if the
    page cannot be written.
    """
    uncompressed = arguments.results.with_suffix("") if arguments.results.suffix == COMPRESSED else arguments.results
    path = uncompressed.with_suffix(".html") if arguments.output is None else arguments.output
    page = _page(arguments, path)
    prepare_folder(path)
    write_text(path, page)
    return path


def _page(arguments: ReportArguments, path: Path) -> str:
    """The page at that path. Those on single traces, to which a page on many links, are written into a folder."""
    chosen = arguments.trial_id is not None or arguments.assessment_id is not None
    rows = rows_in(arguments.results)
    first = [] if chosen else list(islice(rows, 2))
    if len(first) > 1 and all(row.detail.mode is Mode.RECORDED for row in first):
        return _page_on_many(arguments, _recorded(chain(first, rows), arguments.results), path)
    if arguments.by is not None or arguments.at is not None:
        raise UsageError(f"{arguments.results}: --by and --at compare many recorded traces, and this is one result")
    return render(_one_row(arguments), arguments.trial_id, installed_definitions())


def _one_row(arguments: ReportArguments) -> ResultRow:
    """The chosen row, or that of the lowest score."""
    results = chosen_rows(arguments.results, arguments.assessment_id)
    worst = min(results, key=lambda row: (row.score is None, row.score))
    if len(results) > 1:
        shown = f"that of {worst.detail.assessment_id} is shown, which has the lowest score"
        typer.echo(f"concord: {arguments.results} has {len(results)} results: {shown}; --assessment chooses", err=True)
    return worst


def report_as_json(arguments: ReportArguments) -> str:
    """A row of a results file, or one of its trials, in the columns of `concord rows`. Raises UsageError."""
    scope = scope_of(_one_row(arguments), arguments.trial_id)
    of = "rows" if scope.trial is None else "trials"
    lines = lines_of([scope.row], of)
    return json.dumps(next(line for line in lines if scope.trial is None or line["trial"] == scope.trial.trial_id))


def _recorded(rows: Iterator[ResultRow], path: Path) -> Iterator[ResultRow]:
    for row in rows:
        if row.detail.mode is not Mode.RECORDED:
            other = row.detail.assessment_id
            raise UsageError(f"{path}: has recorded traces and assessments: choose one with --assessment ({other}, …)")
        yield row


def _counted(each: Iterable[_T], doing: str, total: int | None = None) -> Iterable[_T]:
    """The same, with a bar on a terminal that counts them."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return track(each, doing, total, console=console, transient=True, disable=not console.is_terminal)


def _page_on_many(arguments: ReportArguments, rows: Iterator[ResultRow], path: Path) -> str:
    from concord_cli.report import traces  # late: a page on one row needs none of it

    runs = [traces.RunFacts.of(number, row) for number, row in enumerate(_counted(rows, "reading traces"), 1)]
    ways: dict[str, Callable[[Sequence[traces.RunFacts]], traces.Division | None]] = {
        "version": traces.by_version,
        "date": partial(traces.by_date, at=arguments.at),
        "label": traces.by_label,
    }
    if arguments.by is not None and arguments.by not in ways:
        raise UsageError(f"--by {arguments.by}: one of {', '.join(ways)}")
    wanted = ways if arguments.by is None else (arguments.by,)
    divisions = {name: found for name in wanted if (found := ways[name](runs)) is not None}
    if arguments.by is not None and not divisions:
        raise UsageError(f"{arguments.results}: its traces have no two groups by {arguments.by}")
    page = traces.page_of(arguments.results.name, runs, list(divisions.values()), f"{path.stem}-traces")
    again = enumerate(rows_in(arguments.results), 1)
    listed = ((number, row) for number, row in again if number in page.pages)
    define = installed_definitions()
    for number, row in _counted(listed, "writing their pages", len(page.pages)):
        of_trace = path.with_name(f"{path.stem}-traces") / f"trace-{number}.html"
        prepare_folder(of_trace)
        write_text(of_trace, render(row, define=define))
    return render_document("traces.html.j2", ("report.css", "traces.css"), "report.js", page=page)
