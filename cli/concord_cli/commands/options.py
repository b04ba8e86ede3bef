"""Options that several commands share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from concord_cli.commands.old_names import present
from concord_cli.display_text import printable
from concord_cli.exits import USAGE, leave

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

RESULTS_FILE = Path("output/results.json")

LOOPBACK = "127.0.0.1"
"""As `concord.loopback.LOOPBACK`, whose import a page of help would wait for."""

OutputFile = Annotated[Path, typer.Option("--output", "-o", help="Results file to write.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show the long tables as well.")]
OpenPage = Annotated[bool, typer.Option("--open", help="Open the page in the browser.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Port = Annotated[int, typer.Option(min=1, max=65535)]
Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for every interface.")]
Expect = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Expected answers (.csv or .jsonl): trace or task (an id or its text), target, scorer (includes).",
    ),
]


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
    import webbrowser

    if open_page and not webbrowser.open(page.resolve().as_uri()):
        typer.echo("No browser was found: open this file yourself.", err=True)


def _as_switches(params: list[Any]) -> list[Any]:
    """Shows flags as switches: Typer would show the type of a value that nobody gives, `--verbose <bool>`."""
    for each in params:
        if isinstance(each, TyperOption) and each.is_bool_flag and each.metavar is None:
            each.metavar = ""
    return params


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - Typer's own types are private
        return _as_switches(super().get_params(ctx))


@contextmanager
def _usage_in_one_line() -> Iterator[None]:
    """Says what is wrong with a command line as any other error; without arguments, a group shows its help."""
    try:
        yield
    except _UsageError as error:  # of all that a command line can have wrong
        if "\n" in (said := error.format_message()):
            raise
        said = said.replace("Value error, ", "").rstrip(".")
        leave(USAGE, said if error.ctx is None else f"{said}: see `{error.ctx.command_path} --help`")


_UsageError: Any = typer.BadParameter.__base__


class _Group(TyperGroup):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        with _usage_in_one_line():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401
        with _usage_in_one_line():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401
        return super().resolve_command(ctx, present(args) if ctx.parent is None else args)

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401
        return _as_switches(super().get_params(ctx))


class App(typer.Typer):
    """A Typer app whose help shows flags as switches."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - Typer's
        super().__init__(cls=_Group, **options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[CommandT], CommandT]:  # noqa: ANN401
        """As Typer's."""
        return super().command(name, cls=_Command, **options)
