"""The commands under `concord scenario`."""

from pathlib import Path
from typing import Annotated

import typer

from concord_cli.exits import execute, exit_codes
from concord_cli.extras import check_programs
from concord_cli.options import App

app = App(help="Scenarios for assistants: write and check them.", no_args_is_help=True)


@app.callback()
def scenarios() -> None:
    """Scenarios for assistants: write and check them."""


@app.command()
def lint(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDERS", help="Folders with a scenario.json.")],
    play: Annotated[
        bool,
        typer.Option(
            "--play",
            help="Also play each scenario with assistants that do not do the task, and name the criteria that they "
            "pass. Takes one to two seconds for each scenario.",
        ),
    ] = False,
) -> None:
    """Check scenarios for faults that would make their results wrong or unrepeatable. Exit code 1 if there are any."""
    with exit_codes():
        if play:
            check_programs("concord scenario lint --play", "environment")
        from concord_cli.scenario.assistant import lint_folders

        execute(lint_folders(folders, play=play))


@app.command()
def texts(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Labelled texts: JSON lines or CSV with scenario, criterion, text and label (right or wrong).",
        ),
    ],
    folder: Annotated[
        Path, typer.Option("--scenarios", metavar="FOLDER", help="The folder of the scenarios' folders.")
    ] = Path("scenarios/assistant"),
) -> None:
    """Read texts as criteria do, without a language model, and print the verdicts that differ from the labels."""
    with exit_codes():
        from concord_cli.scenario.texts import print_verdicts

        print_verdicts(file, folder)


@app.command()
def new(
    folder: Annotated[
        Path, typer.Argument(metavar="NAME", help="The folder to write; its last part is the scenario's name.")
    ],
) -> None:
    """Write the skeleton of a scenario, which lints and plays, into a new folder."""
    with exit_codes():
        from concord_cli.scenario.assistant import new_folder

        new_folder(folder)
