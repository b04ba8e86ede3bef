"""The command line: `concord run`, `up`, `green`, `assess`, `evaluate`, `report`, `compare`, and groups of commands."""

from pathlib import Path
from typing import Annotated

import typer

from concord_cli.display_text import printable
from concord_cli.errors import UsageError
from concord_cli.exits import execute, exit_codes, terminable
from concord_cli.judge.app import app as judge_app
from concord_cli.scenario_app import app as scenario_app
from concord_cli.tasks.app import app as tasks_app
from concord_cli.terminal import ProgressLog

SHIPPED_SCENARIO = Path("scenarios/quick.toml")
RESULTS_FILE = Path("output/results.json")

app = typer.Typer(
    name="concord",
    help="Measure how well a team of A2A agents works together.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(judge_app, name="judge")
app.add_typer(tasks_app, name="tasks")
app.add_typer(scenario_app, name="scenario")

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO", help="Scenario file (TOML) with the agents and the assessment's config.")
]
OutputFile = Annotated[Path, typer.Option("--output", "-o", help="Results file to write.")]
Port = Annotated[int, typer.Option(min=1, max=65535)]
Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for every interface.")]
LOOPBACK = "127.0.0.1"


def _checked_url(url: str | None) -> str | None:
    from concord.trust.urls import UrlRefusedError, check_form

    try:
        if url is not None:
            check_form(url)
    except UrlRefusedError as error:
        raise typer.BadParameter(str(error)) from error
    return url


CardUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        callback=_checked_url,
        help="URL in the agent card, where clients and participants reach the gateway.",
    ),
]


@app.command()
def run(
    scenario: Annotated[
        Path,
        typer.Argument(
            metavar="SCENARIO",
            help="Scenario file (TOML) with the agents and the config, or the folder of an assistant's scenario.",
        ),
    ] = SHIPPED_SCENARIO,
    endpoint: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The running assistant, for a folder with an assistant's scenario. Without it: the rule-based one.",
        ),
    ] = None,
    output: OutputFile = RESULTS_FILE,
    traces: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder to save each trial's trace in, as Concord JSONL.")
    ] = None,
) -> None:
    """Assess a team on this machine: start all services, run one assessment, show the result, stop the services."""
    with exit_codes(), ProgressLog() as progress:
        progress.log(f"Assessing the {'assistant in' if scenario.is_dir() else 'team of'} {scenario}")
        # Imported after the first line of output, since A2A and HTTP take a while to load.
        from concord_cli import commands

        execute(commands.run(scenario, output, traces, progress, endpoint))


@app.command()
def up(
    scenario: ScenarioFile = SHIPPED_SCENARIO,
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
) -> None:
    """Start the services and a team on this machine, and keep them running until Ctrl-C."""
    with exit_codes(), ProgressLog() as progress:
        progress.log("Starting the services" if no_team else f"Starting the team of {scenario}")
        from concord_cli import commands
        from concord_cli.stack.plan import Listening

        listening = Listening(host, port, collector_port, card_url)
        execute(commands.up(None if no_team else scenario, listening, agents_port, output_dir, progress))


@app.command("green")
def green_agent(
    host: Host = LOOPBACK,
    port: Port = 9009,
    card_url: CardUrl = None,
) -> None:
    """Run the whole green agent on one port: gateway, collector, workers and Redis. Ends on Ctrl-C or SIGTERM.

    Without --card-url, the card has the address by which a client requests it.
    """
    with exit_codes(), ProgressLog() as progress:
        try:
            from concord_cli.green.command import green
            from concord_cli.green.plan import Address
        except ModuleNotFoundError as error:
            raise UsageError(f"`concord green` needs the module {error.name}: install concord-cli[green]") from error

        execute(green(Address(host, port, card_url), progress))


@app.command()
def assess(scenario: ScenarioFile, output: OutputFile = RESULTS_FILE) -> None:
    """Request an assessment of running agents from a running green agent, as the AgentBeats client does."""
    with exit_codes(), ProgressLog() as progress:
        progress.log(f"Requesting an assessment of the agents in {scenario}")
        from concord_cli import commands

        execute(commands.ask(scenario, output, progress))


@app.command("evaluate")
def evaluate_traces(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATHS", help="Files or folders to evaluate, or - for standard input.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Results file to write: .json for one document, .jsonl for one row per line."
        ),
    ] = None,
    graphml: Annotated[
        Path | None, typer.Option(help="GraphML file to write the agent graph to, or a folder for several traces.")
    ] = None,
    format_name: Annotated[
        str | None, typer.Option("--format", help="Format of the files, if it cannot be detected.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="Config file (.toml or .json) with evaluators, metrics, thresholds, evidence, roster."),
    ] = None,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Skip files that are not traces.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Evaluate existing trace files, without any service: write one row per trace."""
    with exit_codes(), terminable() as reraise:
        # Imported here, since the graph library takes a while to load and is part of a full installation only.
        try:
            from concord_cli.evaluate.command import EvaluateArguments, evaluate
        except ModuleNotFoundError as error:
            raise UsageError(f"`concord evaluate` needs the module {error.name}: install concord-cli[local]") from error

        evaluate(EvaluateArguments(paths, format_name, config, output, graphml, keep_going, quiet), reraise)


@app.command("report")
def report_results(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="Results file (.json or .jsonl) to report on.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="HTML file to write; by default, the results file's name with .html."),
    ] = None,
    trial: Annotated[
        str | None, typer.Option(metavar="ID", help="Trial to report on, instead of the whole row.")
    ] = None,
    assessment: Annotated[
        str | None, typer.Option(metavar="ID", help="Assessment or trace to report on, if the file has several.")
    ] = None,
) -> None:
    """Write a result as one self-contained HTML page."""
    with exit_codes():
        from concord_cli.report.command import report

        typer.echo(f"The report is in {printable(str(report(results, output, trial, assessment)))}")


@app.command("compare")
def compare_results(
    results: Annotated[list[Path], typer.Argument(metavar="RESULTS", help="Results files to compare, one per team.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file to write the comparison to.")] = None,
) -> None:
    """Compare teams on the tasks that they share: show differences with intervals, and a ranking."""
    with exit_codes():
        try:
            from concord_cli.compare.command import compare
        except ModuleNotFoundError as error:
            raise UsageError(f"`concord compare` needs the module {error.name}: install concord-cli[local]") from error

        compare(results, output)
