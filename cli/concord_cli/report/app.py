"""The arguments of `concord summary` and `concord report`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from concord_cli.exits import exit_codes
from concord_cli.options import RESULTS_FILE, OpenPage, Verbose, say_where
from concord_cli.terminal import ProgressLog


def summarise_results(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="Results file (.json or .jsonl) to summarise.")
    ] = RESULTS_FILE,
    assessment: Annotated[
        str | None, typer.Option(metavar="ID", help="Assessment or trace to summarise, if the file has several.")
    ] = None,
    verbose: Verbose = False,
) -> None:
    """Print the verdict of a result again, as at the end of a run; of a file with several, one after the other."""
    with exit_codes(), ProgressLog() as progress:
        from concord_cli.commands import show_row
        from concord_cli.results_file import chosen_rows

        rows = chosen_rows(results, assessment)
        for row in rows:
            name = results.stem if len(rows) == 1 else f"{results.stem} {row.detail.assessment_id}"
            show_row(row, name, progress, verbose=verbose)


def report_results(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="Results file (.json or .jsonl) to report on.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="HTML file to write; by default, the results file's name with .html."),
    ] = None,
    trial: Annotated[
        str | None, typer.Option(metavar="ID", help="Trial to report on, instead of the whole row.")
    ] = None,
    assessment: Annotated[
        str | None, typer.Option(metavar="ID", help="Assessment or trace to report on, if the file has several.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="GROUPS", help="Compare many traces by version, date or label; by all if not given."),
    ] = None,
    at: Annotated[
        datetime | None, typer.Option(help="Compare the traces before a date (UTC) with those since.")
    ] = None,
    open_page: OpenPage = False,
) -> None:
    """Write a result, or many recorded traces, as one self-contained HTML page."""
    with exit_codes():
        from concord_cli.report.command import ReportArguments, report

        cut = None if at is None else at.replace(tzinfo=UTC)
        groups = "date" if by is None and cut is not None else by
        arguments = ReportArguments(results, output, trial, assessment, groups, cut)
        say_where("report", report(arguments), open_page=open_page)
