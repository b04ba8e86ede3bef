"""The command line: `concord run`, `up`, `assess`, `evaluate`, `report`, `compare`, `judge`, `tasks`."""

from pathlib import Path
from typing import Annotated

import typer

from concord_cli.display_text import printable
from concord_cli.errors import UsageError
from concord_cli.exits import execute, exit_codes, terminable
from concord_cli.judge.app import app as judge_app
from concord_cli.tasks.app import app as tasks_app
from concord_cli.terminal import ProgressLog

SHIPPED_SCENARIO = Path("scenarios/mesh.toml")
RESULTS_FILE = Path("output/results.json")

app = typer.Typer(
    name="concord",
    help="Tells how well a team of A2A agents works together.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(judge_app, name="judge")
app.add_typer(tasks_app, name="tasks")

ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO", help="Who takes part, and how they are assessed.")]
OutputFile = Annotated[Path, typer.Option("--output", "-o", help="Where the results go.")]
Port = Annotated[int, typer.Option(min=1, max=65535)]


@app.command()
def run(
    scenario: ScenarioFile = SHIPPED_SCENARIO,
    output: OutputFile = RESULTS_FILE,
    traces: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep each trial's trace there, as Concord JSONL.")
    ] = None,
) -> None:
    """Assess a team on this machine: start everything, run one assessment, show the result, stop everything."""
    with exit_codes(), ProgressLog() as progress:
        progress.log(f"Concord assesses the team of {scenario}")
        # Imported after the first line of output, since A2A and HTTP take a while to load.
        from concord_cli import commands

        execute(commands.run(scenario, output, traces, progress))


@app.command()
def up(
    scenario: ScenarioFile = SHIPPED_SCENARIO,
    gateway_port: Port = 9009,
    collector_port: Port = 9010,
    agents_port: Annotated[int, typer.Option(min=1, max=65535, help="Of the first agent; the others follow.")] = 9021,
    output_dir: Annotated[Path, typer.Option(help="Where the gateway writes results.")] = RESULTS_FILE.parent,
) -> None:
    """Start the services and a team on this machine, and keep them up until Ctrl-C."""
    with exit_codes(), ProgressLog() as progress:
        progress.log(f"Concord starts the team of {scenario}")
        from concord_cli import commands

        execute(commands.up(scenario, (gateway_port, collector_port, agents_port), output_dir, progress))


@app.command()
def assess(scenario: ScenarioFile, output: OutputFile = RESULTS_FILE) -> None:
    """Ask a green agent that runs already to assess agents that run already, as the AgentBeats client does."""
    with exit_codes(), ProgressLog() as progress:
        progress.log(f"Concord asks for an assessment of the agents in {scenario}")
        from concord_cli import commands

        execute(commands.ask(scenario, output, progress))


@app.command("evaluate")
def evaluate_traces(
    paths: Annotated[list[Path], typer.Argument(metavar="PATHS", help="Files, folders, or - for standard input.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where the rows go: .json in one document, .jsonl a row a line."),
    ] = None,
    graphml: Annotated[
        Path | None, typer.Option(help="Where the agent graph goes: a .graphml file, or a folder for several traces.")
    ] = None,
    format_name: Annotated[
        str | None, typer.Option("--format", help="What the files are, if that cannot be told from themselves.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="Evaluators, metrics, thresholds, weights, evidence, roster; .toml or .json.")
    ] = None,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Leave out files that are no traces.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Evaluate traces that are there already, with no service running: a row for each."""
    with exit_codes(), terminable() as reraise:
        # Imported here, since the graph library takes a while to load and is part of a full installation only.
        try:
            from concord_cli.evaluate.command import EvaluateArguments, evaluate
        except ModuleNotFoundError as error:
            raise UsageError(f"evaluating needs all of Concord, concord-cli[local]: {error.name} is missing") from error

        evaluate(EvaluateArguments(paths, format_name, config, output, graphml, keep_going, quiet), reraise)


@app.command("report")
def report_results(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="A results file: .json, or .jsonl.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where the page goes; else beside the results, as .html.")
    ] = None,
    trial: Annotated[str | None, typer.Option(metavar="ID", help="Only this trial, not the whole row.")] = None,
    assessment: Annotated[
        str | None, typer.Option(metavar="ID", help="Of which assessment or trace, where there are several.")
    ] = None,
) -> None:
    """Write a result as a page to read, print and send on: one HTML file that needs nothing else."""
    with exit_codes():
        from concord_cli.report.command import report

        typer.echo(f"The report is in {printable(str(report(results, output, trial, assessment)))}")


@app.command("compare")
def compare_results(
    results: Annotated[list[Path], typer.Argument(metavar="RESULTS", help="Results files, one for each team.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where the comparison goes as JSON, beside being shown.")
    ] = None,
) -> None:
    """Compare teams on the tasks that they share: differences with intervals, and a ranking no finer than these."""
    with exit_codes():
        try:
            from concord_cli.compare.command import compare
        except ModuleNotFoundError as error:
            raise UsageError(f"comparing needs all of Concord, concord-cli[local]: {error.name} is missing") from error

        compare(results, output)
