"""The arguments of `concord compare`."""

from pathlib import Path
from typing import Annotated

import typer

from concord_cli.exits import exit_codes
from concord_cli.extras import needing


def compare_results(
    results: Annotated[list[Path], typer.Argument(metavar="RESULTS", help="Results files to compare, one per team.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file to write the comparison to.")] = None,
    reference: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Results of the sample agent (`concord run SCENARIO --sample`): shown in their kind, and not ranked.",
        ),
    ] = None,
) -> None:
    """Compare teams on the tasks that they share: show differences with intervals, and a ranking.

    Two teams are compared in their order, with their tasks and causes. Exit codes are then 0 if the second is shown to
    be better, 5 if it is shown to be worse, and 3 if nothing is shown.
    """
    with exit_codes(), needing("concord compare", "evaluator"):
        from concord_cli.compare.command import compare

        raise typer.Exit(compare(results, output, reference or ()))
