"""The commands under `concord scenario`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from concord_cli.exits import execute, exit_codes

app = typer.Typer(help="Scenarios for assistants: check and import them.", no_args_is_help=True)
imports = typer.Typer(help="Import scenarios from other projects.", no_args_is_help=True)
app.add_typer(imports, name="import")


@app.callback()
def scenarios() -> None:
    """Scenarios for assistants: check and import them."""


@imports.callback()
def sources() -> None:
    """Import scenarios from other projects."""


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
        from concord_cli.assistant_scenario import lint_folders

        execute(lint_folders(folders, play=play))


@imports.command()
def agentdojo(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write the scenarios' folders.")],
    python: Annotated[
        Path,
        typer.Option(
            metavar="PATH",
            help="The Python of an environment that has the package agentdojo.",
            show_default="the Python that runs concord",
        ),
    ] = Path(sys.executable),
    attack: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Import the attacked tasks, with this attack's payload. See docs/agentdojo.md."
        ),
    ] = None,
) -> None:
    """Import AgentDojo's workspace suite: its user tasks, or with --attack each of them with each injection task."""
    with exit_codes():
        from concord_cli.assistant_scenario import import_agentdojo

        import_agentdojo(folder, python, attack)
