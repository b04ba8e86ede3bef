"""The command line: `concord run`, `up`, `green`, `assess`, `evaluate`, `report`, `view`, `compare`, and groups."""

import webbrowser
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from concord.loopback import LOOPBACK
from concord_cli.audit.app import audit_tasks
from concord_cli.calibrate.app import calibrate_models
from concord_cli.check.app import check_version
from concord_cli.display_text import printable
from concord_cli.errors import UsageError
from concord_cli.exits import execute, exit_codes, terminable
from concord_cli.extras import check_programs, needing
from concord_cli.judge.app import Redact
from concord_cli.judge.app import app as judge_app
from concord_cli.replay.app import replay_trial
from concord_cli.scenario.app import app as scenario_app
from concord_cli.tasks.app import app as tasks_app
from concord_cli.terminal import ProgressLog
from concord_cli.traces.app import DEFAULT_COLLECTOR, CollectorUrl, Since
from concord_cli.traces.app import app as traces_app
from concord_cli.verify.app import sign_results, verify_results

SHIPPED_SCENARIO = Path(__file__).with_name("quick.toml")
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
app.add_typer(traces_app, name="traces")

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO", help="Scenario file (TOML) with the agents and the assessment's config.")
]
OutputFile = Annotated[Path, typer.Option("--output", "-o", help="Results file to write.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show the long tables as well.")]
Port = Annotated[int, typer.Option(min=1, max=65535)]
Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for every interface.")]


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


@app.command("adapt")
def adapt_agent(
    role: Annotated[str, typer.Argument(metavar="ROLE", help="The agent's role in the assessment.")],
    command: Annotated[list[str], typer.Argument(metavar="COMMAND", help="The command that starts the agent.")],
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port where the gateway reaches the agent.")],
    host: Host = LOOPBACK,
    card_url: Annotated[
        str | None, typer.Option(metavar="URL", callback=_checked_url, help="URL of that port, for the agent's card.")
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            callback=_checked_url,
            help="Where COMMAND listens; by default, it gets --host, --port and --card-url.",
        ),
    ] = None,
) -> None:
    """Start an agent that has its peers' addresses in its own configuration, and let the gateway observe its calls."""
    with exit_codes(), needing("concord adapt", "gateway"):
        from concord_cli.adapt.command import AdaptArguments, adapt

        codes: list[int] = []
        execute(_noted(adapt(AdaptArguments(role, command, host, port, card_url, agent)), codes))
        raise typer.Exit(codes[0])


async def _noted(work: Coroutine[None, None, int], codes: list[int]) -> None:
    codes.append(await work)


@app.command("evaluate")
def evaluate_traces(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATHS", help="Files or folders to evaluate, or - for standard input."),
    ] = None,
    collector: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Evaluate the traces of this collector (CONCORD_OPEN=1) instead of files."),
    ] = None,
    since: Since = None,
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
    redact: Redact = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Evaluate existing trace files, without any service: write one row per trace."""
    with exit_codes(), needing("concord evaluate", "evaluator"), terminable() as reraise:
        # Imported here, since the graph library takes a while to load and is part of a full installation only.
        from concord_cli.evaluate.command import EvaluateArguments, evaluate, evaluate_collector

        arguments = EvaluateArguments(paths or [], format_name, config, output, graphml, keep_going, quiet, redact)
        if collector is not None:
            evaluate_collector(collector, since, arguments, reraise)
        elif paths and since is None:
            evaluate(arguments, reraise)
        else:
            raise UsageError("--since needs --collector" if paths else "give files or folders, or --collector URL")


@app.command("causes")
def show_causes(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATHS", help="Trace files or folders, or - for standard input.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each trace, one per line.")] = False,
    format_name: Annotated[
        str | None, typer.Option("--format", help="Format of the files, if it cannot be detected.")
    ] = None,
) -> None:
    """Say what existing traces show of their failures: causes, observations, and the steps to read first."""
    with exit_codes(), needing("concord causes", "evaluator"), terminable():
        from concord_cli.causes.command import causes

        causes(paths, format_name, as_json=as_json)


@app.command("watch")
def watch_collector(
    collector: CollectorUrl = DEFAULT_COLLECTOR,
    every: Annotated[float, typer.Option(min=1, metavar="SECONDS", help="The time between two lines.")] = 60,
) -> None:
    """Print a line per minute about the traces that an open collector gets, until Ctrl-C."""
    with exit_codes(), needing("concord watch", "evaluator"), terminable():
        from concord_cli.traces.watch import watch

        watch(collector, every)


@app.command("summary")
def summarise_results(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="Results file (.json or .jsonl) to summarise.")
    ] = RESULTS_FILE,
    assessment: Annotated[
        str | None, typer.Option(metavar="ID", help="Assessment or trace to summarise, if the file has several.")
    ] = None,
    verbose: Verbose = False,
) -> None:
    """Print the verdict of a result again, as at the end of a run."""
    with exit_codes(), ProgressLog() as progress:
        from concord_cli.commands import show_row
        from concord_cli.results_file import chosen_row

        show_row(chosen_row(results, assessment), results.stem, progress, verbose=verbose)


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
    by: Annotated[
        str | None,
        typer.Option(metavar="GROUPS", help="Compare many traces by version, date or label; by all if not given."),
    ] = None,
    at: Annotated[
        datetime | None, typer.Option(help="Compare the traces before a date (UTC) with those since.")
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Write a result, or many recorded traces, as one self-contained HTML page."""
    with exit_codes():
        from concord_cli.report.command import ReportArguments, report

        cut = None if at is None else at.replace(tzinfo=UTC)
        groups = "date" if by is None and cut is not None else by
        arguments = ReportArguments(results, output, trial, assessment, groups, cut)
        _say_where("report", report(arguments), open_page=open_page)


@app.command("view")
def view_runs(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder with results files.")] = RESULTS_FILE.parent,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="HTML file to write; by default, index.html in the folder.")
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Write an index of all runs in a folder of results, in which two runs can be compared, as one HTML page."""
    with exit_codes():
        from concord_cli.view.command import view

        page, unreadable = view(folder, output)
        for line in unreadable:
            typer.echo(f"concord: left out: {printable(line)}", err=True)
        _say_where("index", page, open_page=open_page)


def _say_where(what: str, page: Path, *, open_page: bool) -> None:
    """Prints the path of a page, and opens the page with `open_page`."""
    typer.echo(f"The {what} is in {printable(str(page))}")
    if open_page and not webbrowser.open(page.resolve().as_uri()):
        typer.echo("No browser was found: open this file yourself.", err=True)


@app.command("compare")
def compare_results(
    results: Annotated[list[Path], typer.Argument(metavar="RESULTS", help="Results files to compare, one per team.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file to write the comparison to.")] = None,
    reference: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Results of the sample agent (`concord run SCENARIO --sample`): shown in their kind, and not ranked.",
        ),
    ] = None,
) -> None:
    """Compare teams on the tasks that they share: show differences with intervals, and a ranking.

    Two teams are compared in their order, with their tasks and causes. Exit codes are then 5 if the second is shown to
    be worse, and 3 if nothing can be told.
    """
    with exit_codes(), needing("concord compare", "evaluator"):
        from concord_cli.compare.command import compare

        raise typer.Exit(compare(results, output, reference or ()))


app.command("audit")(audit_tasks)
app.command("check")(check_version)
app.command("calibrate")(calibrate_models)
app.command("verify")(verify_results)
app.command("replay")(replay_trial)
app.command("sign")(sign_results)
