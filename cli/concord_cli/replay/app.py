"""The arguments of `concord replay`."""

from pathlib import Path
from typing import Annotated

import typer

from concord_cli.exits import execute, exit_codes
from concord_cli.extras import needing


def replay_trial(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="Bundle of the assessment (bundles/<id>.zip).")],
    agent: Annotated[
        list[str],
        typer.Option(metavar="NAME=URL", help="A participant and the address at which its agent runs now."),
    ],
    trial: Annotated[
        str | None, typer.Option(metavar="ID", help="The trial; without it, the first whose answer is not right.")
    ] = None,
    at: Annotated[str | None, typer.Option(metavar="STEP", help="The message to change.")] = None,
    edit: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What arrives instead of the message; empty for nothing.")
    ] = None,
    causes: Annotated[
        bool, typer.Option("--causes", help="Replace the step of each cause by what the task needs.")
    ] = False,
    pairs: Annotated[
        int, typer.Option(min=2, max=100, help="Pairs of replays, where the team does not do the same twice.")
    ] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Play a trial in rounds on from one of its messages, with a change, and say whether its outcome turns.

    The rounds before are as they were recorded, and the rest is live. Exit codes: 0 replayed; 1 the bundle is damaged;
    2 an invalid command line.
    """
    with exit_codes(), needing("concord replay", "evaluator,gateway"):
        from concord_cli.errors import UsageError
        from concord_cli.replay.command import ReplayArguments, replay

        if wrong := [each for each in agent if not all(each.partition("="))]:
            raise UsageError(f"{wrong[0]!r} is not NAME=URL")
        agents = {name: url for name, _, url in (each.partition("=") for each in agent)}
        execute(replay(ReplayArguments(bundle, agents, trial, at, edit, causes, pairs, as_json)))
