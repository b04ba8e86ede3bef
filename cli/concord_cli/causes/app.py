"""The arguments of `concord causes`."""

from pathlib import Path
from typing import Annotated

import typer

from concord_cli.exits import exit_codes, terminable
from concord_cli.extras import needing


def show_causes(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATHS", help="Trace files or folders, or - for standard input.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each trace, one per line.")] = False,
    format_name: Annotated[
        str | None, typer.Option("--format", help="Format of the files, if it cannot be detected.")
    ] = None,
) -> None:
    """Say what existing traces show of their failures: causes, observations, and the steps to read first."""
    with exit_codes(), needing("concord causes", "evaluator"), terminable():
        from concord_cli.causes.command import causes

        causes(paths, format_name, as_json=as_json)
