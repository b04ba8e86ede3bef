"""The commands that read results: `report`, `compare`, `gate`, `verify`, `rows`."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import typer

from concord_cli.commands.options import (
    REQUIRED,
    RESULTS_FILE,
    argument,
    expected_answers,
    json_switch,
    option,
    output_file,
    say_where,
    verbose_switch,
)
from concord_cli.errors import UsageError
from concord_cli.exits import execute
from concord_cli.extras import check_programs, needing


@dataclass(frozen=True, slots=True)
class ReportArguments:
    """What to show, and how. `by`: a division of many traces; None for all. `at`: the time at which `date` divides."""

    results: Path = argument(
        RESULTS_FILE,
        "Results file (.json or .jsonl); with --index, a folder with results files.",
        "RESULTS",
        show_default=f"{RESULTS_FILE}, or its folder",
    )
    output: Path | None = output_file(
        "HTML file to write; by default, the results file's name with .html, or index.html in the folder."
    )
    text: bool = option(False, "Print the verdict, as at the end of a run.", "--text")
    index: bool = option(False, "Write an index of all runs in a folder, in which two can be compared.", "--index")
    trial_id: str | None = option(None, "Trial to report on, instead of the whole row.", "--trial", metavar="ID")
    assessment_id: str | None = option(
        None, "Assessment or trace to report on, if the file has several.", "--assessment", metavar="ID"
    )
    by: str | None = option(
        None, "Compare many traces by version, date or label; by all if not given.", metavar="GROUPS"
    )
    at: datetime | None = option(None, "Compare the traces before a date (UTC) with those since.")
    open_page: bool = option(False, "Open the page in the browser.", "--open")
    verbose: bool = verbose_switch()
    as_json: bool = json_switch()


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


@dataclass(frozen=True, slots=True)
class CompareArguments:
    """What to compare. `reference`: the files of the sample agent. `expect`: answers of recordings."""

    results: list[Path] = argument(
        REQUIRED,
        "Results files to compare, one per team; or files of traces, or folders of them.",
        "RESULTS",
    )
    output: Path | None = output_file("JSON file to write the comparison to.")
    reference: list[Path] | None = option(
        None,
        "Results of the sample agent (`concord run SCENARIO --sample`): shown in their kind, and not ranked.",
        metavar="FILE",
    )
    expect: Path | None = expected_answers()
    as_json: bool = json_switch()


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


@dataclass(frozen=True, slots=True)
class CheckArguments:
    """Two versions, and what a verdict on the new one takes. `margin`, `least_score`: in points.

    `scenario`: of the new version, or its results file or recordings. `expect`: answers of recordings.
    """

    scenario: Path = argument(
        REQUIRED,
        "Scenario file (TOML) of the new version, with its config; or, to play nothing, its results "
        "file, file of traces or folder of recordings.",
        "SCENARIO",
    )
    baseline: Path | None = option(
        None,
        "Results file of the old version, whose puzzles are played again; or its recordings.",
        metavar="RESULTS",
    )
    against: Path | None = option(
        None,
        "Scenario file of the old version, which plays fresh puzzles in turns with the new one: without a "
        "baseline, or once the baseline's puzzles are used up.",
        metavar="SCENARIO",
    )
    margin: float = option(10, "The loss that passes, of 100 points.", min=0.1, max=99, metavar="POINTS")
    least_score: float | None = option(
        None, "Also fail if the new version scores less.", "--fail-under", min=0, max=100, metavar="SCORE"
    )
    most_pairs: int = option(120, "The most fresh puzzles to play with --against.", "--max-pairs", min=1, max=1000)
    report: Path | None = output_file("JSON file for the verdict.", metavar="FILE")
    output: Path = option(
        RESULTS_FILE.parent / "gate.json",
        "Results file of the new version to write, if it plays.",
        "--results",
        metavar="FILE",
    )
    junit: Path | None = option(None, "JUnit XML file for the verdict.", metavar="FILE")
    markdown: Path | None = option(None, "Markdown file for the verdict, as for a pull request.", metavar="FILE")
    expect: Path | None = expected_answers()
    as_json: bool = json_switch()


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


@dataclass(frozen=True, slots=True)
class VerifyArguments:
    """What to verify, and against what."""

    results: Path = argument(REQUIRED, "Results file (.json) to verify.", "RESULTS")
    sign: bool = option(False, "Also sign rows, bundles, manifests and the images' digests.", "--sign")
    bundle: Path | None = option(
        None,
        "The bundle, or a folder with <assessment id>.zip for each row; by default, bundles/ beside the results.",
        metavar="PATH",
    )
    key: Path | None = option(
        None,
        "Public key (PEM, ed25519) to check the signature; with --sign, the private key, by default in "
        "CONCORD_SIGNING_KEY.",
        metavar="FILE",
    )
    signature: Path | None = option(
        None, "The signature; by default, the results file's name with .sig.", metavar="FILE"
    )
    provenance: Path | None = option(None, "provenance.json with the digests of the images that ran.", metavar="FILE")
    scenarios: list[Path] = option(
        [Path("scenarios/assistant")],
        "Folder with the scenarios of assistants. Only code that equals theirs is executed.",
        "--scenarios",
        metavar="FOLDER",
    )
    bundle_from: str | None = option(
        None,
        "The green agent from which to download the bundles that are not there, with the key in CONCORD_API_KEY.",
        metavar="URL",
    )

    @property
    def bundles(self) -> Path:
        """The bundle, or the folder of the bundles."""
        return self.bundle or self.results.parent / "bundles"


def verify(arguments: VerifyArguments) -> None:
    """Compute results again from their records; check or sign them.

    Exit codes: 0 verified; 1 a difference, a damaged bundle or a wrong signature; 2 an invalid command line or file;
    3 verified, but shards are missing.
    """
    with needing("concord verify", "evaluator,gateway"):
        from concord_cli.verify.command import sign_results
        from concord_cli.verify.command import verify as verify_results

        execute(sign_results(arguments) if arguments.sign else verify_results(arguments))


@dataclass(frozen=True, slots=True)
class RowsArguments:
    """Which table to write, and where to."""

    results: list[Path] = argument(REQUIRED, "Results files (.json or .jsonl).", "RESULTS")
    of: Literal["rows", "trials", "calls", "messages"] = option("rows", "What a line of the table is.")
    output: Path | None = output_file(
        "File to write: .csv, .json, .jsonl or .parquet (needs pyarrow); without it, CSV is printed."
    )
    as_json: bool = json_switch("Print JSON lines instead of CSV.")


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
