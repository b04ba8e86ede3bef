"""The command line: `concord run`, `up`, `green`, `assess`, `evaluate`, `report`, `view`, `compare`, and groups."""

from pathlib import Path
from typing import Annotated

import typer

from concord.loopback import LOOPBACK
from concord_cli.adapt.app import adapt_agent
from concord_cli.audit.app import audit_tasks
from concord_cli.calibrate.app import calibrate_models
from concord_cli.causes.app import show_causes
from concord_cli.check.app import check_version
from concord_cli.compare.app import compare_results
from concord_cli.evaluate.app import evaluate_traces
from concord_cli.exits import execute, exit_codes
from concord_cli.extras import check_programs, needing
from concord_cli.judge.app import app as judge_app
from concord_cli.options import RESULTS_FILE, App, CardUrl, Host, OutputFile, Port, Verbose
from concord_cli.replay.app import replay_trial
from concord_cli.report.app import report_results, summarise_results
from concord_cli.scenario.app import app as scenario_app
from concord_cli.tasks.app import app as tasks_app
from concord_cli.terminal import ProgressLog
from concord_cli.traces.app import app as traces_app
from concord_cli.traces.app import watch_collector
from concord_cli.verify.app import sign_results, verify_results
from concord_cli.view.app import view_runs

SHIPPED_SCENARIO = Path(__file__).with_name("quick.toml")

app = App(
    name="concord",
    help="Measure how well a team of A2A agents works together.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(judge_app, name="judge")
app.add_typer(tasks_app, name="tasks")
app.add_typer(scenario_app, name="scenario")
app.add_typer(traces_app, name="traces")

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO", help="Scenario file (TOML) with the agents and the assessment's config.")
]


def _print_version(wanted: bool) -> None:
    if wanted:
        from concord.version import VERSION

        typer.echo(f"concord {VERSION}")
        raise typer.Exit


def _named(scenario: Path) -> str:
    if scenario == SHIPPED_SCENARIO:
        return "a sample team"
    return str(scenario) if scenario.is_dir() else f"the team of {scenario}"


@app.callback()
def concord(
    _: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Measure how well a team of A2A agents works together."""


@app.command()
def run(
    scenario: Annotated[
        Path,
        typer.Argument(
            metavar="SCENARIO",
            help="Scenario file (TOML) with the agents and the config, or the folder of an assistant's scenario.",
            show_default="a sample team",
        ),
    ] = SHIPPED_SCENARIO,
    endpoint: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The running assistant, for a folder with an assistant's scenario; by default, Concord's own one if a "
            "language model is configured, else the scenario's oracle.",
        ),
    ] = None,
    output: OutputFile = RESULTS_FILE,
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
    verbose: Verbose = False,
) -> None:
    """Assess a team on this machine: start all services, run one assessment, show the result, stop the services."""
    with exit_codes(), ProgressLog() as progress:
        progress.log(f"{'Running the scenario' if scenario.is_dir() else 'Assessing'} {_named(scenario)}")
        check_programs("concord run", "green")
        # Imported after the first line of output, since A2A and HTTP take a while to load.
        from concord_cli import commands

        execute(commands.run(scenario, output, traces, progress, endpoint, sample=sample, verbose=verbose))


@app.command()
def up(
    scenario: Annotated[
        Path,
        typer.Argument(
            metavar="SCENARIO",
            help="Scenario file (TOML) with the agents and the config.",
            show_default="a sample team",
        ),
    ] = SHIPPED_SCENARIO,
    host: Host = LOOPBACK,
    port: Annotated[
        int, typer.Option("--port", "--gateway-port", min=1, max=65535, help="Port of the gateway.")
    ] = 9009,
    card_url: CardUrl = None,
    no_team: Annotated[bool, typer.Option("--no-team", help="Start the services without a team.")] = False,
    collector_port: Port = 9010,
    agents_port: Annotated[
        int, typer.Option(min=1, max=65535, help="Port of the first agent; the others follow.")
    ] = 9021,
    output_dir: Annotated[Path, typer.Option(help="Folder for the gateway's results.")] = RESULTS_FILE.parent,
    separate: Annotated[
        bool, typer.Option("--separate", help="Start gateway, collector and workers as programs of their own.")
    ] = False,
) -> None:
    """Start the services and a team on this machine, and keep them running until Ctrl-C."""
    with exit_codes(), ProgressLog() as progress:
        progress.log("Starting the services" if no_team else f"Starting {_named(scenario)}")
        check_programs("concord up", "green")
        from concord_cli import commands
        from concord_cli.stack.plan import Listening

        listening = Listening(host, port, collector_port, card_url)
        team = None if no_team else scenario
        execute(commands.up(team, listening, agents_port, output_dir, progress, separate=separate))


@app.command("green")
def green_agent(
    host: Host = LOOPBACK,
    port: Port = 9009,
    card_url: CardUrl = None,
) -> None:
    """Run the whole green agent on one port: gateway, collector, workers and Redis. Ends on Ctrl-C or SIGTERM.

    Without --card-url, the card has the address by which a client requests it.
    """
    with exit_codes(), needing("concord green", "green"), ProgressLog() as progress:
        check_programs("concord green", "green")
        from concord_cli.green.command import green
        from concord_cli.green.plan import Address

        execute(green(Address(host, port, card_url), progress))


@app.command()
def assess(scenario: ScenarioFile, output: OutputFile = RESULTS_FILE, verbose: Verbose = False) -> None:
    """Request an assessment of running agents from a running green agent, as the AgentBeats client does."""
    with exit_codes(), ProgressLog() as progress:
        progress.log(f"Requesting an assessment of the agents in {scenario}")
        from concord_cli import commands

        execute(commands.ask(scenario, output, progress, verbose=verbose))


app.command("adapt")(adapt_agent)
app.command("evaluate")(evaluate_traces)
app.command("causes")(show_causes)
app.command("watch")(watch_collector)
app.command("summary")(summarise_results)
app.command("report")(report_results)
app.command("view")(view_runs)
app.command("compare")(compare_results)
app.command("audit")(audit_tasks)
app.command("check")(check_version)
app.command("calibrate")(calibrate_models)
app.command("verify")(verify_results)
app.command("replay")(replay_trial)
app.command("sign")(sign_results)
