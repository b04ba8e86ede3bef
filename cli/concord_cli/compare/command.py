"""What `concord compare` does, once its arguments are read."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from concord_cli.compare.contest import contest
from concord_cli.compare.table import table_of
from concord_cli.compare.teams import read_teams
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.results_file import prepare_folder, replace_text

WIDE = 200
"""Columns to print on where there is no terminal."""

FEWEST, MOST = 2, 20
"""Results files: each is compared with each, and the more pairs, the wider each interval must be."""


def compare(results: Sequence[Path], output: Path | None) -> None:
    """Prints the comparison of the teams in these files, and writes it as JSON.

    Raises UsageError for what is no results file, or too few or too many of them; AssessmentError if there is nothing
    to compare or the result cannot be written.
    """
    if not FEWEST <= len(results) <= MOST:
        raise UsageError(f"give {FEWEST} to {MOST} results files: there are {len(results)}")
    if output is not None:
        prepare_folder(output)
    comparison = contest(read_teams(results))
    if output is not None:
        try:
            replace_text(output, comparison.model_dump_json(indent=2) + "\n")
        except OSError as error:
            raise AssessmentError(f"{output}: cannot be written: {error.strerror}") from error
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDE)
    console.print(table_of(comparison))
