"""The commands that run teams: `run`, `serve`, `assess`, `adapt`, `replay`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import typer

from concord_cli.commands.options import (
    REQUIRED,
    RESULTS_FILE,
    argument,
    json_switch,
    listening_host,
    option,
    output_file,
    tcp_port,
    url,
    verbose_switch,
)
from concord_cli.errors import UsageError
from concord_cli.exits import execute
from concord_cli.extras import check_programs, needing

SHIPPED_SCENARIO = Path(__file__).parents[1] / "quick.toml"
CALIBRATION_FOLDER = RESULTS_FILE.parent / "calibration"


@dataclass(frozen=True, slots=True)
class RunArguments:
    """What to assess, and what to do with the result."""

    scenario: Path = argument(
        SHIPPED_SCENARIO,
        "Scenario file (TOML) with the agents and the config, or the folder of an assistant's scenario.",
        "SCENARIO",
        show_default="a sample team",
    )
    endpoint: str | None = option(
        None,
        "The running assistant, for a folder with an assistant's scenario; by default, Concord's own one if a "
        "language model is configured, else the scenario's oracle.",
        metavar="URL",
    )
    output: Path | None = output_file("Results file to write.", show_default=str(RESULTS_FILE))
    traces: Path | None = option(None, "Folder to save each trial's trace in, as Concord JSONL.", metavar="FOLDER")
    sample: bool = option(
        False,
        "Have the sample agent play in place of each participant, as a reference for `concord compare`.",
        "--sample",
    )
    keep: bool = option(False, "Keep the services and the team running afterwards, until Ctrl-C.", "--keep")
    models: bool = option(
        False,
        "SCENARIO lists language models (TOML): assess each in all seats, and write a table of their results "
        f"into a folder ({CALIBRATION_FOLDER}).",
        "--models",
    )
    verbose: bool = verbose_switch()


def run(arguments: RunArguments) -> None:
    """Assess a team on this machine, from start to result.

    Starts all services and the team, runs one assessment, shows the result, and stops them.

    With --models, an interrupted run goes on with the first model that has no result. Exit code 3 if some have none.
    """
    from concord_cli.terminal import ProgressLog

    scenario = arguments.scenario
    if arguments.models and (arguments.endpoint or arguments.traces or arguments.sample or arguments.keep):
        raise UsageError("--models goes with --output alone")
    with needing("concord run", "green"), ProgressLog() as progress:
        if not arguments.models:
            progress.log(f"{'Running the scenario' if scenario.is_dir() else 'Assessing'} {_named(scenario)}")
        check_programs("concord run", "green")
        # Imported after the first line of output, since A2A and HTTP take a while to load.
        if arguments.models:
            from concord_cli.calibrate.command import calibrate, local_play

            execute(calibrate(scenario, arguments.output or CALIBRATION_FOLDER, local_play(progress), progress))
        else:
            from concord_cli.assessing import run as assess_team

            execute(assess_team(arguments, progress))


@dataclass(frozen=True, slots=True)
class ServeArguments:
    """Which programs to run, and where they listen."""

    scenario: Path | None = argument(
        None, "Scenario file (TOML) whose team to start, too.", "SCENARIO", show_default="no team"
    )
    host: str = listening_host()
    port: int = tcp_port(9009, "Port of the gateway.", "--port", "--gateway-port")
    card_url: str | None = url("URL in the agent card, where clients and participants reach the gateway.")
    collector_port: int | None = tcp_port(
        None, "The collector's own port, beside a team 9010 by default; else the gateway's port serves both."
    )
    agents_port: int = tcp_port(9021, "Port of the team's first agent; the others follow.")
    output_dir: Path = option(RESULTS_FILE.parent, "Folder for the gateway's results, beside a team.")
    separate: bool = option(False, "Start gateway, collector and workers as programs of their own.", "--separate")
    sample_team: bool = option(False, None, "--sample-team", hidden=True)


def serve(arguments: ServeArguments) -> None:
    """Run the green agent, and a scenario's team, until Ctrl-C.

    The green agent is gateway, collector, workers and Redis in one program on one port. SIGTERM ends it, too.
    Without --card-url, the card has the address by which a client requests it.
    """
    from concord_cli.terminal import ProgressLog

    team, collector = arguments.scenario, arguments.collector_port
    if arguments.sample_team and team is None:
        team = SHIPPED_SCENARIO
    with needing("concord serve", "green"), ProgressLog() as progress:
        check_programs("concord serve", "green")
        if team is not None or arguments.separate:
            collector = collector or 9010
        if collector is not None:
            progress.log("Starting the services" if team is None else f"Starting {_named(team)}")
        from concord_cli.assessing import up
        from concord_cli.stack.plan import Listening

        listening = Listening(arguments.host, arguments.port, collector, arguments.card_url)
        places = arguments.agents_port, arguments.output_dir
        execute(up(team, listening, *places, progress, separate=arguments.separate))


@dataclass(frozen=True, slots=True)
class AssessArguments:
    """Whom to ask for an assessment of whom."""

    scenario: Path = argument(REQUIRED, "Scenario file (TOML) with the agents' addresses and the config.", "SCENARIO")
    output: Path = option(RESULTS_FILE, "Results file to write.", "--output", "-o")
    verbose: bool = verbose_switch()


def assess(arguments: AssessArguments) -> None:
    """Ask a running green agent to assess running agents.

    The AgentBeats client does the same.
    """
    from concord_cli.terminal import ProgressLog

    with ProgressLog() as progress:
        progress.log(f"Requesting an assessment of the agents in {arguments.scenario}")
        from concord_cli.assessing import ask

        execute(ask(arguments.scenario, arguments.output, progress, verbose=arguments.verbose))


@dataclass(frozen=True, slots=True)
class AdaptArguments:
    """An agent to start, and where the gateway reaches it."""

    role: str = argument(REQUIRED, "The agent's role in the assessment.", "ROLE")
    command: list[str] = argument(REQUIRED, "The command that starts the agent.", "COMMAND")
    port: int = tcp_port(REQUIRED, "Port where the gateway reaches the agent.")
    host: str = listening_host()
    card_url: str | None = url("URL of that port, for the agent's card.")
    agent: str | None = url("Where COMMAND listens; by default, it gets --host, --port and --card-url.")


def adapt(arguments: AdaptArguments) -> None:
    """Start an agent with configured peers, and observe its calls.

    The agent has its peers' addresses in its own configuration. Its calls go through the gateway, which observes them.
    """
    with needing("concord adapt", "gateway"):
        from concord_cli.adapt.command import adapt as adapt_agent

        raise typer.Exit(execute(adapt_agent(arguments)))


@dataclass(frozen=True, slots=True)
class ReplayArguments:
    """A trial to play on, from which change, and by whom."""

    bundle: Path = argument(REQUIRED, "Bundle of the assessment (bundles/<id>.zip).", "BUNDLE")
    agent: list[str] = option(
        REQUIRED, "A participant and the address at which its agent runs now.", metavar="NAME=URL"
    )
    trial: str | None = option(None, "The trial; without it, the first whose answer is not right.", metavar="ID")
    at: str | None = option(None, "The message to change.", metavar="STEP")
    edit: str | None = option(None, "What arrives instead of the message; empty for nothing.", metavar="TEXT")
    causes: bool = option(False, "Replace the step of each cause by what the task needs.", "--causes")
    pairs: int = option(5, "Pairs of replays, where the team does not do the same twice.", min=2, max=100)
    as_json: bool = json_switch()

    @property
    def agents(self) -> Mapping[str, str]:
        """The addresses of running participants, by name. Raises UsageError."""
        if wrong := [each for each in self.agent if not all(each.partition("="))]:
            raise UsageError(f"{wrong[0]!r} is not NAME=URL")
        return {name: url for name, _, url in (each.partition("=") for each in self.agent)}


def replay(arguments: ReplayArguments) -> None:
    """Play a trial on from a message that you change.

    Says whether its outcome turns. The rounds before are as they were recorded, and the rest is live.

    Exit codes: 0 replayed; 1 the bundle is damaged; 2 an invalid command line.
    """
    with needing("concord replay", "evaluator,gateway"):
        from concord_cli.replay.command import replay as replay_trial

        execute(replay_trial(arguments))


def _named(scenario: Path) -> str:
    if scenario == SHIPPED_SCENARIO:
        return "a sample team"
    return str(scenario) if scenario.is_dir() else f"the team of {scenario}"
