"""`concord calibrate` on the command line."""

from pathlib import Path
from typing import Annotated

import typer

from concord_cli.exits import execute, exit_codes
from concord_cli.extras import check_programs, needing
from concord_cli.terminal import ProgressLog

FOLDER = Path("output/calibration")


def calibrate_models(
    models: Annotated[
        Path, typer.Argument(metavar="MODELS", help="TOML file with the models, their endpoints, and the config.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the table and the rows.")
    ] = FOLDER,
) -> None:
    """Assess a list of language models on the same tasks, each in all seats, and write the table of their results.

    An interrupted calibration goes on with the first model that has no row. Exit codes: 0 if all models have one; 3 if
    some have none; 2 invalid file or command line.
    """
    with exit_codes(), needing("concord calibrate", "green"), ProgressLog() as progress:
        check_programs("concord calibrate", "green")
        from concord_cli.calibrate.command import calibrate, local_play

        execute(calibrate(models, output, local_play(progress), progress))
