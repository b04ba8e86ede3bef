"""The command line: fifteen commands, and their earlier names."""

from collections.abc import Callable
from typing import Annotated, Final

import typer

from concord_cli.commands import recordings, results, tasks, teams
from concord_cli.commands.options import App

app = App(
    name="concord",
    help="Measure how well a team of A2A agents works together.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # a page of help would wait for rich, which takes as long as all the rest
)

_COMMANDS: Final[dict[str, tuple[Callable[..., None], ...]]] = {
    "Assess teams": (teams.run, teams.serve, teams.assess, teams.adapt),
    "Results": (results.report, results.compare, results.gate, results.verify, results.rows, teams.replay),
    "Recorded traces": (recordings.evaluate, recordings.explain),
    "Tasks": (tasks.audit,),
}

for panel, commands in _COMMANDS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
app.add_typer(tasks.tasks, name="tasks", rich_help_panel="Tasks")
app.add_typer(tasks.scenario, name="scenario", rich_help_panel="Tasks")


def _print_version(wanted: bool) -> None:
    if wanted:
        from concord.version import VERSION

        typer.echo(f"concord {VERSION}")
        raise typer.Exit


@app.callback()
def concord(
    _: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Measure how well a team of A2A agents works together."""
