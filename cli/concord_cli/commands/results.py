"""The commands that read results: `report`, `compare`, `gate`, `verify`, `rows`."""

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from concord_cli.commands.options import RESULTS_FILE, AsJson, Expect, OpenPage, Verbose, say_where
from concord_cli.errors import UsageError
from concord_cli.exits import execute, exit_codes
from concord_cli.extras import check_programs, needing

SHIPPED_SCENARIOS = [Path("scenarios/assistant")]


Shown = Annotated[
    Path,
    typer.Argument(
        metavar="RESULTS",
        help="Results file (.json or .jsonl); with --index, a folder with results files.",
        show_default=f"{RESULTS_FILE}, or its folder",
    ),
]
PageFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="HTML file to write; by default, the results file's name with .html, or index.html in the folder.",
    ),
]
AsText = Annotated[bool, typer.Option("--text", help="Print the verdict, as at the end of a run.")]
AsIndex = Annotated[
    bool, typer.Option("--index", help="Write an index of all runs in a folder, in which two can be compared.")
]
TrialId = Annotated[str | None, typer.Option(metavar="ID", help="Trial to report on, instead of the whole row.")]
AssessmentId = Annotated[
    str | None, typer.Option(metavar="ID", help="Assessment or trace to report on, if the file has several.")
]
Groups = Annotated[
    str | None,
    typer.Option(metavar="GROUPS", help="Compare many traces by version, date or label; by all if not given."),
]
Since = Annotated[datetime | None, typer.Option(help="Compare the traces before a date (UTC) with those since.")]


def report(
    results: Shown = RESULTS_FILE,
    output: PageFile = None,
    text: AsText = False,
    index: AsIndex = False,
    trial: TrialId = None,
    assessment: AssessmentId = None,
    by: Groups = None,
    at: Since = None,
    open_page: OpenPage = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Show a result as a web page, or as text.

    A page is one HTML file that needs no network. It shows a row, many recorded traces, or an index of all runs.
    """
    with exit_codes():
        if as_json and (text or index or output or by or at or open_page):
            raise UsageError("--json goes with --assessment and --trial, and not with options of a page or a text")
        if as_json:
            from concord_cli.report.command import ReportArguments, report_as_json

            typer.echo(report_as_json(ReportArguments(results, None, trial, assessment)))
            return
        if text + index > 1 or (text and (output or trial or by or at or open_page)):
            raise UsageError("--text goes with --assessment and --verbose, and not with options of a page")
        if index and (trial or assessment or by or at):
            raise UsageError("--index goes with --output and --open, and not with options of one result")
        if text:
            from concord_cli.assessing import print_results

            print_results(results, assessment, verbose=verbose)
        elif index:
            from concord_cli.report.index import write_index

            folder = results.parent if results == RESULTS_FILE else results
            _say_index(*write_index(folder, output), open_page=open_page)
        else:
            from concord_cli.report.command import ReportArguments
            from concord_cli.report.command import report as write_report

            cut = None if at is None else at.replace(tzinfo=UTC)
            groups = "date" if by is None and cut is not None else by
            arguments = ReportArguments(results, output, trial, assessment, groups, cut)
            say_where("report", write_report(arguments), open_page=open_page)


def _say_index(page: Path, unreadable: list[str], *, open_page: bool) -> None:
    from concord_cli.display_text import printable

    for line in unreadable:
        typer.echo(f"concord: left out: {printable(line)}", err=True)
    say_where("index", page, open_page=open_page)


def compare(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS", help="Results files to compare, one per team; or files of traces, or folders of them."
        ),
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file to write the comparison to.")] = None,
    reference: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Results of the sample agent (`concord run SCENARIO --sample`): shown in their kind, and not ranked.",
        ),
    ] = None,
    expect: Expect = None,
    as_json: AsJson = False,
) -> None:
    """Compare finished results or recordings, task by task.

    Shows differences with intervals over the shared tasks, and a ranking. Two files are compared in their order, with
    their tasks and causes. Exit codes are then 0 if the second is shown to be better, 5 if it is shown to be worse, and
    3 if nothing is shown.
    """
    with exit_codes(), needing("concord compare", "evaluator"):
        from concord_cli.compare.command import compare as compare_results

        raise typer.Exit(compare_results(results, output, reference or (), expect, as_json=as_json))


NewVersion = Annotated[
    Path,
    typer.Argument(
        metavar="SCENARIO",
        help="Scenario file (TOML) of the new version, with its config; or, to play nothing, its results "
        "file, file of traces or folder of recordings.",
    ),
]
Baseline = Annotated[
    Path | None,
    typer.Option(
        metavar="RESULTS", help="Results file of the old version, whose puzzles are played again; or its recordings."
    ),
]
Against = Annotated[
    Path | None,
    typer.Option(
        metavar="SCENARIO",
        help="Scenario file of the old version, which plays fresh puzzles in turns with the new one: without a "
        "baseline, or once the baseline's puzzles are used up.",
    ),
]
Margin = Annotated[float, typer.Option(min=0.1, max=99, metavar="POINTS", help="The loss that passes, of 100 points.")]
FailUnder = Annotated[
    float | None, typer.Option(min=0, max=100, metavar="SCORE", help="Also fail if the new version scores less.")
]
MostPairs = Annotated[
    int, typer.Option("--max-pairs", min=1, max=1000, help="The most fresh puzzles to play with --against.")
]
VerdictFile = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="JSON file for the verdict.")]
PlayedFile = Annotated[
    Path, typer.Option(metavar="FILE", help="Results file of the new version to write, if it plays.")
]
JUnitFile = Annotated[Path | None, typer.Option(metavar="FILE", help="JUnit XML file for the verdict.")]
MarkdownFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Markdown file for the verdict, as for a pull request.")
]


def gate(
    scenario: NewVersion,
    baseline: Baseline = None,
    against: Against = None,
    margin: Margin = 10,
    fail_under: FailUnder = None,
    most_pairs: MostPairs = 120,
    output: VerdictFile = None,
    results: PlayedFile = RESULTS_FILE.parent / "gate.json",
    junit: JUnitFile = None,
    markdown: MarkdownFile = None,
    expect: Expect = None,
    as_json: AsJson = False,
) -> None:
    """Tell whether a new version of a team is worse than the old one.

    Plays both versions until the answer is sure, or reads two results files, or recordings of both.

    Exit codes: 0 better, or shown not to be worse by more than the margin; 5 shown to be worse, or below --fail-under;
    3 nothing is shown, with the number of pairs that would do; 1 could not run; 2 invalid command line, or results that
    cannot be paired.
    """
    with exit_codes(), needing("concord gate", "evaluator"):
        from rich.console import Console

        from concord_cli.terminal import ProgressLog

        # With --json, standard output is the verdict alone.
        with ProgressLog(Console(stderr=True, highlight=False) if as_json else None) as progress:
            progress.log(f"Checking {scenario}")
            check_programs("concord gate", "green")
            from concord_cli.check.command import CheckArguments, check
            from concord_cli.check.team import LocalTeams

            arguments = CheckArguments(
                *(scenario, baseline, against, margin, fail_under, most_pairs),
                *(results, output, junit, markdown, as_json, expect),
            )
            raise typer.Exit(execute(check(arguments, LocalTeams(progress).open, progress)))


Verified = Annotated[Path, typer.Argument(metavar="RESULTS", help="Results file (.json) to verify.")]
Sign = Annotated[bool, typer.Option("--sign", help="Also sign rows, bundles, manifests and the images' digests.")]
BundlePath = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH",
        help="The bundle, or a folder with <assessment id>.zip for each row; by default, bundles/ beside the results.",
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Public key (PEM, ed25519) to check the signature; with --sign, the private key, by default in "
        "CONCORD_SIGNING_KEY.",
    ),
]
SignatureFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The signature; by default, the results file's name with .sig.")
]
ProvenanceFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="provenance.json with the digests of the images that ran.")
]
ScenarioFolders = Annotated[
    list[Path],
    typer.Option(
        "--scenarios",
        metavar="FOLDER",
        help="Folder with the scenarios of assistants. Only code that equals theirs is executed.",
    ),
]
BundleUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The green agent from which to download the bundles that are not there, with the key in CONCORD_API_KEY.",
    ),
]


def verify(
    results: Verified,
    sign: Sign = False,
    bundle: BundlePath = None,
    key: KeyFile = None,
    signature: SignatureFile = None,
    provenance: ProvenanceFile = None,
    scenarios: ScenarioFolders = SHIPPED_SCENARIOS,
    bundle_from: BundleUrl = None,
) -> None:
    """Compute results again from their records; check or sign them.

    Exit codes: 0 verified; 1 a difference, a damaged bundle or a wrong signature; 2 an invalid command line or file;
    3 verified, but shards are missing.
    """
    with exit_codes(), needing("concord verify", "evaluator,gateway"):
        from concord_cli.verify.command import VerifyArguments, sign_results
        from concord_cli.verify.command import verify as verify_results

        arguments = VerifyArguments(results, bundle, scenarios, key, signature, provenance, bundle_from)
        execute(sign_results(arguments) if sign else verify_results(arguments))


class Records(StrEnum):
    """What a line of the table is."""

    ROWS = "rows"
    TRIALS = "trials"
    CALLS = "calls"
    MESSAGES = "messages"


def rows(
    results: Annotated[list[Path], typer.Argument(metavar="RESULTS", help="Results files (.json or .jsonl).")],
    of: Annotated[Records, typer.Option(help="What a line of the table is.")] = Records.ROWS,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write: .csv, .json, .jsonl or .parquet (needs pyarrow); without it, CSV is printed.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines instead of CSV.")] = False,
) -> None:
    """Write results as a table: CSV, JSON or Parquet.

    A line is a row, a trial, a call or a message.
    """
    with exit_codes(), needing("concord rows", "evaluator,tables"):
        from concord_cli.row_table import write_table

        if as_json and output is not None:
            raise UsageError("--json prints, and --output writes a file: give one of them")
        write_table(results, of.value, output, as_json=as_json)
