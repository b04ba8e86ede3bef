"""The commands about tasks and scenarios: `audit`, and the groups `tasks` and `scenario`."""

from pathlib import Path
from typing import Annotated

import typer

from concord_cli.commands.arguments import AuditArguments, DayArguments, EstimateArguments, Instance, ShowArguments
from concord_cli.commands.options import App
from concord_cli.exits import execute
from concord_cli.extras import check_programs, needing


def audit(asked: AuditArguments) -> None:
    """Attack tasks with known exploits, and list those that score.

    The attacks are those that audits of benchmarks look for. No model is needed.

    Exit codes: 0 no attack earns points; 1 some do, or a right answer earns none; 2 an invalid target.
    """
    with needing("concord audit", "evaluator,gateway,assistant,environment"):
        from concord_cli.audit.command import audit as audit_tasks

        given = asked.targets, asked.scenarios, asked.instances
        execute(audit_tasks(*given, as_json=asked.as_json, verbose=asked.verbose))


tasks = App(help="List, show, generate, grade and estimate team tasks.", no_args_is_help=True)


@tasks.command("list")
def list_families() -> None:
    """List the families of all installed suites, with the outcome that a team reaches without a message."""
    from concord_cli.tasks.command import families_table

    families_table()


@tasks.command()
def show(asked: ShowArguments) -> None:
    """Show a task of a family as a team gets it: the question, and each seat's brief."""
    from concord_cli.tasks.command import show_task

    show_task(
        Instance(asked.family, seats=asked.seats, difficulty=asked.difficulty, topology=asked.topology),
        show_key=asked.key,
    )


@tasks.command()
def generate(instance: Instance) -> None:
    """Generate a task as JSON, with its key, as an assessment with this secret generates it."""
    from concord_cli.tasks.command import write_task

    write_task(instance)


@tasks.command()
def grade(
    task: Annotated[Path, typer.Argument(metavar="TASK", help="A task, as `concord tasks generate` writes it.")],
    answers: Annotated[Path, typer.Argument(metavar="ANSWERS", help="A JSON object from each seat to its answer.")],
) -> None:
    """Grade answers to a generated task: the outcome, and each part."""
    from concord_cli.tasks.command import grade_answers

    grade_answers(task, answers)


@tasks.command()
def estimate(asked: EstimateArguments) -> None:
    """Estimate calls, tokens and time of an assessment before it starts."""
    from concord_cli.tasks.command import print_estimate

    print_estimate(asked.suite, asked.seats, asked.trials, asked.turn_s, asked.exchange)


@tasks.command()
def reveal(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="A results file.")],
    folder: Annotated[
        Path | None, typer.Option(help="The gateway's output folder; by default, the folder of the results file.")
    ] = None,
) -> None:
    """Reveal the secret of an assessment's tasks, so that anybody can generate them again. Not before the last run."""
    from concord_cli.tasks.command import print_secrets

    print_secrets(results, folder or results.parent)


scenario = App(help="Write and check scenarios for assistants.", no_args_is_help=True)


@scenario.callback()
def scenarios() -> None:
    """Write and check scenarios for assistants."""


@scenario.command()
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
    if play:
        check_programs("concord scenario lint --play", "environment")
    from concord_cli.scenario.assistant import lint_folders

    execute(lint_folders(folders, play=play))


@scenario.command("show")
def show_day(asked: DayArguments) -> None:
    """Show a day in the office as a person reads it: what is asked, planted and wanted."""
    with needing("concord scenario show", "assistant"):
        from concord_cli.scenario.office import print_day

        print_day(asked.day, asked.secret, as_json=asked.as_json)


@scenario.command()
def new(
    folder: Annotated[
        Path, typer.Argument(metavar="NAME", help="The folder to write; its last part is the scenario's name.")
    ],
    day: Annotated[
        str | None,
        typer.Option(help="A published day to begin with, such as office-1-04.", show_default="a small order"),
    ] = None,
) -> None:
    """Write a day in the office into a new folder, as a scenario that lints and plays, to be changed."""
    from concord_cli.scenario.assistant import new_folder

    new_folder(folder, day)
