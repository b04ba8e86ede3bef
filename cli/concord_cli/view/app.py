"""The arguments of `concord view`."""

from pathlib import Path
from typing import Annotated

import typer

from concord_cli.display_text import printable
from concord_cli.exits import exit_codes
from concord_cli.options import RESULTS_FILE, OpenPage, say_where


def view_runs(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder with results files.")] = RESULTS_FILE.parent,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="HTML file to write; by default, index.html in the folder.")
    ] = None,
    open_page: OpenPage = False,
) -> None:
    """Write an index of all runs in a folder of results, in which two runs can be compared, as one HTML page."""
    with exit_codes():
        from concord_cli.view.command import view

        page, unreadable = view(folder, output)
        for line in unreadable:
            typer.echo(f"concord: left out: {printable(line)}", err=True)
        say_where("index", page, open_page=open_page)
