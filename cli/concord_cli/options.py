"""Options that several commands share."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from concord_cli.display_text import printable

RESULTS_FILE = Path("output/results.json")

OutputFile = Annotated[Path, typer.Option("--output", "-o", help="Results file to write.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show the long tables as well.")]
OpenPage = Annotated[bool, typer.Option("--open", help="Open the page in the browser.")]
Port = Annotated[int, typer.Option(min=1, max=65535)]
Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for every interface.")]


def checked_url(url: str | None) -> str | None:
    """The URL of an option, if it has the form of one. Raises typer.BadParameter."""
    from concord.trust.urls import UrlRefusedError, check_form

    try:
        if url is not None:
            check_form(url)
    except UrlRefusedError as error:
        raise typer.BadParameter(str(error)) from error
    return url


CardUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        callback=checked_url,
        help="URL in the agent card, where clients and participants reach the gateway.",
    ),
]


def say_where(what: str, page: Path, *, open_page: bool) -> None:
    """Prints the path of a page, and opens the page with `open_page`."""
    typer.echo(f"The {what} is in {printable(str(page))}")
    if open_page and not webbrowser.open(page.resolve().as_uri()):
        typer.echo("No browser was found: open this file yourself.", err=True)
