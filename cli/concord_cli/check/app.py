"""The arguments of `concord check`."""

from pathlib import Path
from typing import Annotated

import typer

from concord_cli.exits import execute, exit_codes
from concord_cli.extras import check_programs, needing
from concord_cli.terminal import ProgressLog

CHECK_FILE = Path("output/check.json")


def check_version(
    scenario: Annotated[
        Path,
        typer.Argument(
            metavar="SCENARIO",
            help="Scenario file (TOML) of the new version, with its config, or its results file to play nothing.",
        ),
    ],
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="RESULTS", help="Results file of the old version, whose puzzles are played again."),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="SCENARIO",
            help="Scenario file of the old version, which plays fresh puzzles in turns with the new one: without a "
            "baseline, or once the baseline's puzzles are used up.",
        ),
    ] = None,
    margin: Annotated[
        float, typer.Option(min=0.1, max=99, metavar="POINTS", help="The loss that passes, of 100 points.")
    ] = 10,
    fail_under: Annotated[
        float | None, typer.Option(min=0, max=100, metavar="SCORE", help="Also fail if the new version scores less.")
    ] = None,
    most_pairs: Annotated[
        int, typer.Option("--max-pairs", min=1, max=1000, help="The most fresh puzzles to play with --against.")
    ] = 120,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Results file of the new version to write.")
    ] = CHECK_FILE,
    report: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="JSON file for the verdict.")] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="JUnit XML file for the verdict.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Markdown file for the verdict, as for a pull request.")
    ] = None,
) -> None:
    """Tell whether a new version of a team is worse than the old one, on the same puzzles, and stop once it is sure.

    Exit codes: 0 better, or shown not to be worse by more than the margin; 5 shown to be worse, or below --fail-under;
    3 nothing is shown, with the number of pairs that would do; 1 could not run; 2 invalid command line, or results that
    cannot be paired.
    """
    with exit_codes(), needing("concord check", "evaluator"), ProgressLog() as progress:
        progress.log(f"Checking the team of {scenario}")
        check_programs("concord check", "green")
        from concord_cli.check.command import CheckArguments, check
        from concord_cli.check.team import LocalTeams

        arguments = CheckArguments(
            scenario, baseline, against, margin, fail_under, most_pairs, output, report, junit, markdown
        )
        codes: list[int] = []

        async def noted() -> None:
            codes.append(await check(arguments, LocalTeams(progress).open, progress))

        execute(noted())
        raise typer.Exit(codes[0])
