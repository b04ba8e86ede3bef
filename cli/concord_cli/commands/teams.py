"""The commands that run teams: `run`, `serve`, `assess`, `adapt`, `replay`."""

from pathlib import Path
from typing import Annotated

import typer

from concord_cli.commands.options import (
    LOOPBACK,
    RESULTS_FILE,
    AsJson,
    CardUrl,
    Host,
    OutputFile,
    Verbose,
    checked_url,
)
from concord_cli.exits import execute, exit_codes
from concord_cli.extras import check_programs, needing

SHIPPED_SCENARIO = Path(__file__).parents[1] / "quick.toml"
DAYS = "office-"
CALIBRATION_FOLDER = RESULTS_FILE.parent / "calibration"


def run(
    scenario: Annotated[
        Path,
        typer.Argument(
            metavar="SCENARIO",
            help="Scenario file (TOML) with the agents and the config, the folder of an assistant's scenario, or days "
            "in the office (office-1, office-1-07).",
            show_default="a sample team; with --assistant, three days in the office",
        ),
    ] = SHIPPED_SCENARIO,
    endpoint: Annotated[
        str | None,
        typer.Option(
            "--assistant",
            "--endpoint",
            metavar="URL",
            help="The running assistant, for days and folders; by default, Concord's own one if a language model is "
            "configured, else the oracle.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Results file to write.", show_default=str(RESULTS_FILE)),
    ] = None,
    traces: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder to save each trial's trace in, as Concord JSONL.")
    ] = None,
    sample: Annotated[
        bool,
        typer.Option(
            "--sample",
            help="Have the sample agent play in place of each participant, as a reference for `concord compare`.",
        ),
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the services and the team running afterwards, until Ctrl-C.")
    ] = False,
    models: Annotated[
        bool,
        typer.Option(
            "--models",
            help="SCENARIO lists language models (TOML): assess each in all seats, and write a table of their results "
            f"into a folder ({CALIBRATION_FOLDER}).",
        ),
    ] = False,
    verbose: Verbose = False,
) -> None:
    """Assess a team on this machine, from start to result.

    Starts all services and the team, runs one assessment, shows the result, and stops them.

    With --models, an interrupted run goes on with the first model that has no result. Exit code 3 if some have none.
    """
    with exit_codes():
        from concord_cli.errors import UsageError
        from concord_cli.terminal import ProgressLog

        if models and (endpoint or traces or sample or keep):
            raise UsageError("--models goes with --output alone")
        with needing("concord run", "green"), ProgressLog() as progress:
            if not models:
                progress.log(f"{'Running the scenario' if scenario.is_dir() else 'Assessing'} {_named(scenario)}")
            check_programs("concord run", "green")
            # Imported after the first line of output, since A2A and HTTP take a while to load.
            if models:
                from concord_cli.calibrate.command import calibrate, local_play

                execute(calibrate(scenario, output or CALIBRATION_FOLDER, local_play(progress), progress))
                return
            from concord_cli.assessing import RunArguments
            from concord_cli.assessing import run as assess_team

            days = _days(scenario, endpoint)
            arguments = RunArguments(scenario, output or RESULTS_FILE, traces, endpoint, sample, keep, verbose, days)
            execute(assess_team(arguments, progress))


def serve(
    scenario: Annotated[
        Path | None,
        typer.Argument(
            metavar="SCENARIO", help="Scenario file (TOML) whose team to start, too.", show_default="no team"
        ),
    ] = None,
    host: Host = LOOPBACK,
    port: Annotated[
        int, typer.Option("--port", "--gateway-port", min=1, max=65535, help="Port of the gateway.")
    ] = 9009,
    card_url: CardUrl = None,
    collector_port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65535,
            help="The collector's own port, beside a team 9010 by default; else the gateway's port serves both.",
        ),
    ] = None,
    agents_port: Annotated[
        int, typer.Option(min=1, max=65535, help="Port of the team's first agent; the others follow.")
    ] = 9021,
    output_dir: Annotated[Path, typer.Option(help="Folder for the gateway's results, beside a team.")] = (
        RESULTS_FILE.parent
    ),
    separate: Annotated[
        bool, typer.Option("--separate", help="Start gateway, collector and workers as programs of their own.")
    ] = False,
    sample_team: Annotated[bool, typer.Option("--sample-team", hidden=True)] = False,
) -> None:
    """Run the green agent, and a scenario's team, until Ctrl-C.

    The green agent is gateway, collector, workers and Redis in one program on one port. SIGTERM ends it, too.
    Without --card-url, the card has the address by which a client requests it.
    """
    with exit_codes(), needing("concord serve", "green"):
        from concord_cli.terminal import ProgressLog

        team = SHIPPED_SCENARIO if sample_team and scenario is None else scenario
        with ProgressLog() as progress:
            check_programs("concord serve", "green")
            if team is not None or separate:
                collector_port = collector_port or 9010
            if collector_port is not None:
                progress.log("Starting the services" if team is None else f"Starting {_named(team)}")
            from concord_cli.assessing import up
            from concord_cli.stack.plan import Listening

            listening = Listening(host, port, collector_port, card_url)
            execute(up(team, listening, agents_port, output_dir, progress, separate=separate))


def assess(
    scenario: Annotated[
        Path,
        typer.Argument(metavar="SCENARIO", help="Scenario file (TOML) with the agents' addresses and the config."),
    ],
    output: OutputFile = RESULTS_FILE,
    verbose: Verbose = False,
) -> None:
    """Ask a running green agent to assess running agents.

    The AgentBeats client does the same.
    """
    with exit_codes():
        from concord_cli.terminal import ProgressLog

        with ProgressLog() as progress:
            progress.log(f"Requesting an assessment of the agents in {scenario}")
            from concord_cli.assessing import ask

            execute(ask(scenario, output, progress, verbose=verbose))


def adapt(
    role: Annotated[str, typer.Argument(metavar="ROLE", help="The agent's role in the assessment.")],
    command: Annotated[list[str], typer.Argument(metavar="COMMAND", help="The command that starts the agent.")],
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port where the gateway reaches the agent.")],
    host: Host = LOOPBACK,
    card_url: Annotated[
        str | None, typer.Option(metavar="URL", callback=checked_url, help="URL of that port, for the agent's card.")
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            callback=checked_url,
            help="Where COMMAND listens; by default, it gets --host, --port and --card-url.",
        ),
    ] = None,
) -> None:
    """Start an agent with configured peers, and observe its calls.

    The agent has its peers' addresses in its own configuration. Its calls go through the gateway, which observes them.
    """
    with exit_codes(), needing("concord adapt", "gateway"):
        from concord_cli.adapt.command import AdaptArguments
        from concord_cli.adapt.command import adapt as adapt_agent

        raise typer.Exit(execute(adapt_agent(AdaptArguments(role, command, host, port, card_url, agent))))


def replay(
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
    as_json: AsJson = False,
) -> None:
    """Play a trial on from a message that you change.

    Says whether its outcome turns. The rounds before are as they were recorded, and the rest is live.

    Exit codes: 0 replayed; 1 the bundle is damaged; 2 an invalid command line.
    """
    with exit_codes(), needing("concord replay", "evaluator,gateway"):
        from concord_cli.errors import UsageError
        from concord_cli.replay.command import ReplayArguments
        from concord_cli.replay.command import replay as replay_trial

        if wrong := [each for each in agent if not all(each.partition("="))]:
            raise UsageError(f"{wrong[0]!r} is not NAME=URL")
        agents = {name: url for name, _, url in (each.partition("=") for each in agent)}
        execute(replay_trial(ReplayArguments(bundle, agents, trial, at, edit, causes, pairs, as_json)))


def _days(scenario: Path, assistant: str | None) -> str | None:
    """The days in the office that a command line names: "" for the first ones, None for no days."""
    if scenario == SHIPPED_SCENARIO:
        return None if assistant is None else ""
    name = str(scenario)
    return name if name.startswith(DAYS) and not scenario.exists() else None


def _named(scenario: Path) -> str:
    if scenario == SHIPPED_SCENARIO:
        return "a sample team"
    return str(scenario) if scenario.is_dir() else f"the team of {scenario}"
