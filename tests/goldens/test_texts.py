"""The texts of the command line keep their words: the help of each command, and rows as terminal text and as pages."""

from collections.abc import Iterator
from io import StringIO

import pytest
from rich.console import Console
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from concord.assessment.result_row import ResultRow
from concord_cli.main import app
from concord_cli.report.renderer import render
from concord_cli.row_text.brief import Brief
from concord_cli.row_text.long_tables import tables
from concord_cli.row_view.view import view_of
from tests.goldens.golden import check
from tests.kit import assistant_rows, team_rows, team_task_rows

ROWS = {
    make.__name__: make
    for make in (
        team_rows.mesh_of_five,
        team_rows.troubled_six,
        team_rows.ground_truth,
        team_rows.half_judged,
        team_rows.unjudged_and_unseen,
        team_rows.recorded,
        team_rows.silent_team,
        team_task_rows.withholding_team,
        team_task_rows.clean_team,
        team_task_rows.team_by_calls,
        assistant_rows.lone_assistant,
        assistant_rows.assistant_in_two_trials,
    )
}


def commands(group: TyperGroup, names: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of each command and of each group of commands."""
    yield names
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from commands(command, (*names, name))
        else:
            yield (*names, name)


def as_text(row: ResultRow) -> str:
    out = StringIO()
    Console(file=out, width=120, highlight=False, force_terminal=False).print(
        Brief(view_of(row), "row"), tables(view_of(row))
    )
    return out.getvalue()


def test_the_help_of_each_command_keeps_its_words() -> None:
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    run = CliRunner(env={"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}).invoke
    check("texts/help", {" ".join(names): run(app, [*names, "--help"]).output.split("\n") for names in commands(group)})


@pytest.mark.parametrize("name", ROWS)
def test_a_row_keeps_its_words_in_the_terminal_and_on_its_page(name: str) -> None:
    row = ROWS[name]()
    check(f"texts/{name}", {"terminal": as_text(row).split("\n"), "page": render(row).split("\n")})
