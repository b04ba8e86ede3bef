"""The commands about tasks and scenarios: `audit`, and the groups `tasks` and `scenario`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from concord_cli.commands.options import App, AsJson
from concord_cli.exits import execute, exit_codes
from concord_cli.extras import check_programs, needing


def audit(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGETS",
            help="Scenario files (TOML), suites (manifests, families, groups of families), folders of an assistant's "
            "scenario, days in the office (office-1-07), or folders of any of these.",
        ),
    ],
    scenarios: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The folder of assistants' scenarios that a scenario file names.")
    ] = Path("scenarios/assistant"),
    instances: Annotated[
        int, typer.Option(min=2, max=1000, help="Instances of each team task on which seats pretend.")
    ] = 12,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list with an object for each target.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every attack and every item.")] = False,
) -> None:
    """Attack tasks with known exploits, and list those that score.

    The attacks are those that audits of benchmarks look for. No model is needed.

    Exit codes: 0 no attack earns points; 1 some do, or a right answer earns none; 2 an invalid target.
    """
    with exit_codes(), needing("concord audit", "evaluator,gateway,assistant,environment"):
        from concord_cli.audit.command import audit as audit_tasks

        execute(audit_tasks(targets, scenarios, instances, as_json=as_json, verbose=verbose))


tasks = App(help="List, show, generate, grade and estimate team tasks.", no_args_is_help=True)

FamilyName = Annotated[str, typer.Argument(metavar="FAMILY", help="A family, as `concord tasks list` shows them.")]
Seats = Annotated[int, typer.Option(min=2, max=100, help="The size of the team.")]
Difficulty = Annotated[int, typer.Option(min=1, max=5)]
TopologyName = Annotated[
    str, typer.Option("--topology", help="complete, star, chain, ring, tree, small-world or scale-free.")
]
Secret = Annotated[
    str | None,
    typer.Option(envvar="CONCORD_TASK_SECRET", help="64 hexadecimal digits; without it, a new one is drawn."),
]


@tasks.command("list")
def list_families() -> None:
    """List the families of all installed suites, with the outcome that a team reaches without a message."""
    with exit_codes():
        from concord_cli.tasks.command import families_table

        families_table()


@tasks.command()
def show(
    family: FamilyName,
    seats: Seats = 5,
    difficulty: Difficulty = 2,
    topology: TopologyName = "complete",
    key: Annotated[bool, typer.Option("--key", help="Show the right answers, too.")] = False,
) -> None:
    """Show a task of a family as a team gets it: the question, and each seat's brief."""
    with exit_codes():
        from concord_cli.tasks.command import Instance, show_task

        show_task(Instance(family, seats, difficulty, topology), show_key=key)


@tasks.command()
def generate(
    family: FamilyName,
    secret: Secret = None,
    task: Annotated[str | None, typer.Option(help="The id of the task; by default the family's name.")] = None,
    run: Annotated[int, typer.Option(min=1)] = 1,
    attempt: Annotated[int, typer.Option(min=1, help="Above 1 for a trial that was run again.")] = 1,
    seats: Seats = 5,
    difficulty: Difficulty = 2,
    topology: TopologyName = "complete",
    names: Annotated[str, typer.Option(help="The seats' names are this, a slash, and their number.")] = "agent",
) -> None:
    """Generate a task as JSON, with its key, as an assessment with this secret generates it."""
    with exit_codes():
        from concord_cli.tasks.command import Instance, write_task

        write_task(Instance(family, seats, difficulty, topology, names, secret, task, run, attempt))


@tasks.command()
def grade(
    task: Annotated[Path, typer.Argument(metavar="TASK", help="A task, as `concord tasks generate` writes it.")],
    answers: Annotated[Path, typer.Argument(metavar="ANSWERS", help="A JSON object from each seat to its answer.")],
) -> None:
    """Grade answers to a generated task: the outcome, and each part."""
    with exit_codes():
        from concord_cli.tasks.command import grade_answers

        grade_answers(task, answers)


@tasks.command()
def estimate(
    suite: Annotated[list[str], typer.Argument(metavar="SUITE", help="Manifests, families, or groups of families.")],
    seats: Annotated[int | None, typer.Option(min=2, max=100, help="By default what the manifest says, or 5.")] = None,
    trials: Annotated[int, typer.Option(min=1, max=100, help="Of each task.")] = 1,
    turn_s: Annotated[float, typer.Option(min=0.01, help="How long an agent takes for a turn (seconds).")] = 5.0,
    exchange: Annotated[
        Literal["rounds", "calls"] | None,
        typer.Option(help="How the seats exchange messages; by default as in the manifest, or in rounds."),
    ] = None,
) -> None:
    """Estimate calls, tokens and time of an assessment before it starts."""
    with exit_codes():
        from concord_cli.tasks.command import print_estimate

        print_estimate(suite, seats, trials, turn_s, exchange)


@tasks.command()
def reveal(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="A results file.")],
    folder: Annotated[
        Path | None, typer.Option(help="The gateway's output folder; by default, the folder of the results file.")
    ] = None,
) -> None:
    """Reveal the secret of an assessment's tasks, so that anybody can generate them again. Not before the last run."""
    with exit_codes():
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
    with exit_codes():
        if play:
            check_programs("concord scenario lint --play", "environment")
        from concord_cli.scenario.assistant import lint_folders

        execute(lint_folders(folders, play=play))


@scenario.command("show")
def show_day(
    day: Annotated[str, typer.Argument(metavar="DAY", help="A published day in the office, such as office-1-01.")],
    secret: Annotated[
        str | None,
        typer.Option(help="The secret of its values, 64 hexadecimal digits.", show_default="an example's"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a day in the office as a person reads it: what is asked, planted and wanted."""
    with exit_codes(), needing("concord scenario show", "assistant"):
        from concord_cli.scenario.office import print_day

        print_day(day, secret, as_json=as_json)


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
    with exit_codes():
        from concord_cli.scenario.assistant import new_folder

        new_folder(folder, day)
