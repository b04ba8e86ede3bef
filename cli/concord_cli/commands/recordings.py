"""The commands that read existing traces: `evaluate`, `explain`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from concord_cli.commands.options import LOOPBACK, Quiet, checked_url
from concord_cli.errors import UsageError
from concord_cli.exits import execute, exit_codes, terminable
from concord_cli.extras import needing

if TYPE_CHECKING:
    from concord.assessment.recorded_work import Redaction

COLLECTOR = f"http://{LOOPBACK}:9010"

Format = Annotated[str | None, typer.Option("--format", help="Format of the files, if it cannot be detected.")]


def evaluate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATHS", help="Files or folders to evaluate, or - for standard input."),
    ] = None,
    collector: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            callback=checked_url,
            help="Evaluate the traces of this collector (CONCORD_OPEN=1) instead of files.",
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only traces with spans since then: 10m, 2h, or an ISO date.")
    ] = None,
    list_traces: Annotated[
        bool, typer.Option("--list", help="List the traces that the collector has, and evaluate none.")
    ] = False,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Print a line per minute about the traces that the collector gets, until Ctrl-C."),
    ] = False,
    every: Annotated[float, typer.Option(min=1, metavar="SECONDS", help="The time between two lines of --watch.")] = 60,
    rejudge: Annotated[
        bool,
        typer.Option(
            "--rejudge",
            help="Judge the traces with the configured language model (AGENTBEATS_LLM_API_KEY, _BASE_URL, _MODEL).",
        ),
    ] = False,
    agreement: Annotated[
        bool,
        typer.Option(
            "--agreement",
            help="Compare the judge with labels: PATHS is a JSON lines file with "
            '{"trace": path or lines, "label": "pass" or "fail"} on each line.',
        ),
    ] = False,
    samples: Annotated[int, typer.Option(min=1, max=9, help="Number of times that the model judges each trace.")] = 1,
    rules: Annotated[bool, typer.Option("--rules", help="Judge by rules, without a language model.")] = False,
    judge_content: Annotated[
        bool,
        typer.Option("--judge-content", help="Let the texts of imported traces leave this machine: to the model."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Results file to write: .json for one document, .jsonl for one row per line; with --agreement, its "
            "figures (JSON).",
        ),
    ] = None,
    graphml: Annotated[
        Path | None, typer.Option(help="GraphML file to write the agent graph to, or a folder for several traces.")
    ] = None,
    format_name: Format = None,
    config: Annotated[
        Path | None,
        typer.Option(help="Config file (.toml or .json) with evaluators, metrics, thresholds, evidence, roster."),
    ] = None,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Skip files that are not traces.")] = False,
    redact: Annotated[
        Literal["drop", "hash"] | None,
        typer.Option(help="Drop all texts of the traces, or replace them by digests."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Evaluate recorded traces: one row for each.

    Reads trace files, or the traces of an open collector, and needs no service.
    """
    with exit_codes(), needing("concord evaluate", "evaluator"):
        _check(paths, collector, since, one_of=(list_traces, watch, rejudge, agreement), live=list_traces or watch)
        if list_traces:
            from concord_cli.traces.collector import print_traces

            print_traces(collector or COLLECTOR, since)
        elif watch:
            with terminable():
                from concord_cli.traces.watch import watch as watch_traces

                watch_traces(collector or COLLECTOR, every)
        elif agreement:
            from concord_cli.judge.agreement import calibrate_judge

            [labels] = paths or [Path()]
            with _judge_warnings():
                execute(calibrate_judge(labels, output, samples, config, rules=rules, quiet=quiet))
        elif rejudge:
            from concord_cli.judge.rejudge import rejudge_traces

            given = (paths or [], output, samples, format_name, config, _redaction(redact))
            with _judge_warnings():
                execute(rejudge_traces(*given, rules=rules, quiet=quiet, content=judge_content))
        else:
            with terminable() as reraise:
                from concord_cli.evaluate.command import EvaluateArguments, evaluate_collector
                from concord_cli.evaluate.command import evaluate as evaluate_files

                arguments = EvaluateArguments(
                    *(paths or [], format_name, config, output, graphml, keep_going, quiet), _redaction(redact)
                )
                if collector is not None:
                    evaluate_collector(collector, since, arguments, reraise)
                else:
                    evaluate_files(arguments, reraise)


def explain(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATHS", help="Trace files or folders, or - for standard input.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each trace, one per line.")] = False,
    format_name: Format = None,
) -> None:
    """Say why recorded traces failed, and which steps to read first."""
    with exit_codes(), needing("concord explain", "evaluator"), terminable():
        from concord_cli.causes.command import causes

        causes(paths, format_name, as_json=as_json)


def _check(
    paths: list[Path] | None, collector: str | None, since: str | None, *, one_of: tuple[bool, ...], live: bool
) -> None:
    """Raises UsageError for options that do not go together."""
    if sum(one_of) > 1:
        raise UsageError("give one of --list, --watch, --rejudge and --agreement")
    if live and paths:
        raise UsageError("--list and --watch read a collector, not files")
    judging = any(one_of) and not live
    if judging and (collector is not None or not paths):
        raise UsageError("--rejudge and --agreement read files: give their paths, and no --collector")
    if one_of[3] and len(paths or ()) != 1:
        raise UsageError("--agreement reads one file of labels")
    if not live and since is not None and collector is None:
        raise UsageError("--since needs --collector")
    if not live and not paths and collector is None:
        raise UsageError("give files or folders, or --collector URL")


def _redaction(given: str | None) -> "Redaction | None":
    from concord.assessment.recorded_work import Redaction

    return None if given is None else Redaction(given)


@contextmanager
def _judge_warnings() -> Iterator[None]:
    """Sends the judge's warnings to standard error."""
    from concord.service.logs import configure_logging

    configure_logging("judge", level="WARNING")
    yield
