"""Options that several commands share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, Final, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from concord_cli.commands.old_names import present
from concord_cli.display_text import printable
from concord_cli.exits import USAGE, exit_codes, leave

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

RESULTS_FILE = Path("output/results.json")

LOOPBACK = "127.0.0.1"
"""As `concord.loopback.LOOPBACK`, whose import a page of help would wait for."""

REQUIRED: Final = ...
"""The default of an argument that must be given."""


def argument(default: object, about: str, metavar: str, **more: Any) -> Any:  # noqa: ANN401 - as `dataclasses.field`
    """An argument of a command, as a field of the dataclass that the command takes. `more`: as `typer.Argument`."""
    return _field(default, typer.Argument(default, metavar=metavar, help=about, **more))


def option(default: object, about: str | None = None, *names: str, **more: Any) -> Any:  # noqa: ANN401
    """An option, likewise; without `names`, it has the field's. `more`: as `typer.Option`."""
    return _field(default, typer.Option(default, *names, help=about, **more))


def _field(default: object, shown: object) -> Any:  # noqa: ANN401
    if isinstance(default, list):
        return field(default_factory=default.copy, metadata={"typer": shown})
    return field(default=MISSING if default is REQUIRED else default, metadata={"typer": shown})


def output_file(about: str, **more: Any) -> Any:  # noqa: ANN401
    """The file that a command writes."""
    return option(None, about, "--output", "-o", **more)


def json_switch(about: str = "Print the result as JSON.") -> Any:  # noqa: ANN401
    """Whether a command prints JSON."""
    return option(False, about, "--json")


def verbose_switch(about: str = "Show the long tables as well.") -> Any:  # noqa: ANN401
    """Whether a command prints all that it has."""
    return option(False, about, "--verbose", "-v")


def tcp_port(default: object, about: str, *names: str) -> Any:  # noqa: ANN401
    """A TCP port."""
    return option(default, about, *names, min=1, max=65535)


def listening_host() -> Any:  # noqa: ANN401
    """Where a command listens."""
    return option(LOOPBACK, "Address to listen on; 0.0.0.0 for every interface.")


def url(about: str) -> Any:  # noqa: ANN401
    """A URL, checked for its form."""
    return option(None, about, metavar="URL", callback=_checked_url)


def expected_answers() -> Any:  # noqa: ANN401
    """The file with the answers that code judges recordings by."""
    about = "Expected answers (.csv or .jsonl): trace or task (an id or its text), target, scorer (includes)."
    return option(None, about, metavar="FILE")


def _checked_url(url: str | None) -> str | None:
    """The URL of an option, if it has the form of one. Raises typer.BadParameter."""
    from concord.trust.urls import UrlRefusedError, check_form

    try:
        if url is not None:
            check_form(url)
    except UrlRefusedError as error:
        raise typer.BadParameter(str(error)) from error
    return url


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
        """As Typer's. A function that takes a dataclass has its fields as parameters; errors become exit codes."""

        def taken(command: CommandT) -> CommandT:
            super(App, self).command(name, cls=_Command, **options)(_with_parameters(command))
            return command

        return taken


def _with_parameters(command: Callable[..., None]) -> Callable[..., None]:
    own = list(signature(command).parameters.values())
    arguments: Any = own[0].annotation if own and is_dataclass(own[0].annotation) else None

    @wraps(command)
    def run(**given: object) -> None:
        with exit_codes():
            command(**given) if arguments is None else command(arguments(**given))

    if arguments is not None:
        made = ((each.name, each.type, each.metadata["typer"]) for each in fields(arguments))
        own = [Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=shown) for name, kind, shown in made]
    run.__signature__ = Signature(own)  # type: ignore[attr-defined]  # as `inspect.signature` reads it
    return run
