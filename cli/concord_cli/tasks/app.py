"""The commands under `concord tasks`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from concord_cli.exits import exit_codes
from concord_cli.options import App

app = App(help="Tasks that need a team: list, show, generate, grade, estimate, reveal.", no_args_is_help=True)

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


@app.command("list")
def list_families() -> None:
    """List the families of all installed suites, with the outcome that a team reaches without a message."""
    with exit_codes():
        from concord_cli.tasks.command import families_table

        families_table()


@app.command()
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


@app.command()
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


@app.command()
def grade(
    task: Annotated[Path, typer.Argument(metavar="TASK", help="A task, as `concord tasks generate` writes it.")],
    answers: Annotated[Path, typer.Argument(metavar="ANSWERS", help="A JSON object from each seat to its answer.")],
) -> None:
    """Grade answers to a generated task: the outcome, and each part."""
    with exit_codes():
        from concord_cli.tasks.command import grade_answers

        grade_answers(task, answers)


@app.command()
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


@app.command()
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
