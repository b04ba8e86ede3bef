"""The commands that run teams: `run`, `serve`, `assess`, `adapt`, `replay`."""

from pathlib import Path

import typer

from concord_cli.commands.arguments import (
    CALIBRATION_FOLDER,
    SHIPPED_SCENARIO,
    AdaptArguments,
    AssessArguments,
    ReplayArguments,
    RunArguments,
    ServeArguments,
)
from concord_cli.errors import UsageError
from concord_cli.exits import execute
from concord_cli.extras import check_programs, needing


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


def assess(arguments: AssessArguments) -> None:
    """Ask a running green agent to assess running agents.

    The AgentBeats client does the same.
    """
    from concord_cli.terminal import ProgressLog

    with ProgressLog() as progress:
        progress.log(f"Requesting an assessment of the agents in {arguments.scenario}")
        from concord_cli.assessing import ask

        execute(ask(arguments.scenario, arguments.output, progress, verbose=arguments.verbose))


def adapt(arguments: AdaptArguments) -> None:
    """Start an agent with configured peers, and observe its calls.

    The agent has its peers' addresses in its own configuration. Its calls go through the gateway, which observes them.
    """
    with needing("concord adapt", "gateway"):
        from concord_cli.adapt.command import adapt as adapt_agent

        raise typer.Exit(execute(adapt_agent(arguments)))


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
