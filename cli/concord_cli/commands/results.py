"""The commands that read results: `report`, `compare`, `gate`, `verify`, `rows`."""

from dataclasses import replace
from datetime import UTC
from pathlib import Path

import typer

from concord_cli.commands.arguments import (
    CheckArguments,
    CompareArguments,
    ReportArguments,
    RowsArguments,
    VerifyArguments,
)
from concord_cli.commands.options import (
    RESULTS_FILE,
    say_where,
)
from concord_cli.errors import UsageError
from concord_cli.exits import execute
from concord_cli.extras import check_programs, needing


def report(arguments: ReportArguments) -> None:
    """Show a result as a web page, or as text.

    A page is one HTML file that needs no network. It shows a row, many recorded traces, or an index of all runs.
    """
    asked, at = arguments, arguments.at
    of_page = asked.output or asked.by or at or asked.open_page
    if asked.as_json and (asked.text or asked.index or of_page):
        raise UsageError("--json goes with --assessment and --trial, and not with options of a page or a text")
    if not asked.as_json and (asked.text + asked.index > 1 or (asked.text and (asked.trial_id or of_page))):
        raise UsageError("--text goes with --assessment and --verbose, and not with options of a page")
    if asked.index and (asked.trial_id or asked.assessment_id or asked.by or at):
        raise UsageError("--index goes with --output and --open, and not with options of one result")
    if asked.as_json:
        from concord_cli.report.command import report_as_json

        typer.echo(report_as_json(asked))
    elif asked.text:
        from concord_cli.assessing import print_results

        print_results(asked.results, asked.assessment_id, verbose=asked.verbose)
    elif asked.index:
        from concord_cli.report.index import write_index

        folder = asked.results.parent if asked.results == RESULTS_FILE else asked.results
        _say_index(*write_index(folder, asked.output), open_page=asked.open_page)
    else:
        from concord_cli.report.command import report as write_report

        if at is not None:
            asked = replace(asked, at=at.replace(tzinfo=UTC), by=asked.by or "date")
        say_where("report", write_report(asked), open_page=asked.open_page)


def _say_index(page: Path, unreadable: list[str], *, open_page: bool) -> None:
    from concord_cli.display_text import printable

    for line in unreadable:
        typer.echo(f"concord: left out: {printable(line)}", err=True)
    say_where("index", page, open_page=open_page)


def compare(arguments: CompareArguments) -> None:
    """Compare finished results or recordings, task by task.

    Shows differences with intervals over the shared tasks, and a ranking. Two files are compared in their order, with
    their tasks and causes. Exit codes are then 0 if the second is shown to be better, 5 if it is shown to be worse, and
    3 if nothing is shown.
    """
    with needing("concord compare", "evaluator"):
        from concord_cli.compare.command import compare as compare_results

        asked, references = arguments, arguments.reference or ()
        found = compare_results(asked.results, asked.output, references, asked.expect, as_json=asked.as_json)
        raise typer.Exit(found)


def gate(arguments: CheckArguments) -> None:
    """Tell whether a new version of a team is worse than the old one.

    Plays both versions until the answer is sure, or reads two results files, or recordings of both.

    Exit codes: 0 better, or shown not to be worse by more than the margin; 5 shown to be worse, or below --fail-under;
    3 nothing is shown, with the number of pairs that would do; 1 could not run; 2 invalid command line, or results that
    cannot be paired.
    """
    with needing("concord gate", "evaluator"):
        from rich.console import Console

        from concord_cli.terminal import ProgressLog

        # With --json, standard output is the verdict alone.
        with ProgressLog(Console(stderr=True, highlight=False) if arguments.as_json else None) as progress:
            progress.log(f"Checking {arguments.scenario}")
            check_programs("concord gate", "green")
            from concord_cli.check.command import check
            from concord_cli.check.team import LocalTeams

            raise typer.Exit(execute(check(arguments, LocalTeams(progress).open, progress)))


def verify(arguments: VerifyArguments) -> None:
    """Compute results again from their records; check or sign them.

    Exit codes: 0 verified; 1 a difference, a damaged bundle or a wrong signature; 2 an invalid command line or file;
    3 verified, but shards are missing.
    """
    with needing("concord verify", "evaluator,gateway"):
        from concord_cli.verify.command import sign_results
        from concord_cli.verify.command import verify as verify_results

        execute(sign_results(arguments) if arguments.sign else verify_results(arguments))


def rows(arguments: RowsArguments) -> None:
    """Write results as a table: CSV, JSON or Parquet.

    A line is a row, a trial, a call or a message.
    """
    with needing("concord rows", "evaluator,tables"):
        from concord_cli.row_table import write_table

        asked = arguments
        if asked.as_json and asked.output is not None:
            raise UsageError("--json prints, and --output writes a file: give one of them")
        write_table(asked.results, asked.of, asked.output, as_json=asked.as_json)
