"""The commands that read existing traces: `evaluate`, `explain`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from concord_cli.commands.options import LOOPBACK, argument, expected_answers, option, output_file, url
from concord_cli.errors import UsageError
from concord_cli.exits import execute, exit_codes, terminable
from concord_cli.extras import needing

if TYPE_CHECKING:
    from concord.assessment.recorded_work import Redaction

COLLECTOR = f"http://{LOOPBACK}:9010"

Format = Annotated[str | None, typer.Option("--format", help="Format of the files, if it cannot be detected.")]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Which traces to evaluate, list, watch or judge, and what to write."""

    paths: list[Path] | None = argument(None, "Files or folders to evaluate, or - for standard input.", "PATHS")
    collector: str | None = url("Evaluate the traces of this collector (CONCORD_OPEN=1) instead of files.")
    since: str | None = option(None, "Only traces with spans since then: 10m, 2h, or an ISO date.", metavar="TIME")
    list_traces: bool = option(False, "List the traces that the collector has, and evaluate none.", "--list")
    watch: bool = option(
        False, "Print a line per minute about the traces that the collector gets, until Ctrl-C.", "--watch"
    )
    every: float = option(60, "The time between two lines of --watch.", min=1, metavar="SECONDS")
    rejudge: bool = option(
        False,
        "Judge the traces with the configured language model (AGENTBEATS_LLM_API_KEY, _BASE_URL, _MODEL).",
        "--rejudge",
    )
    agreement: bool = option(
        False,
        "Compare the judge with labels: PATHS is a JSON lines file with "
        '{"trace": path or lines, "label": "pass" or "fail"} on each line.',
        "--agreement",
    )
    samples: int = option(1, "Number of times that the model judges each trace.", min=1, max=9)
    rules: bool = option(False, "Judge by rules, without a language model.", "--rules")
    judge_content: bool = option(
        False, "Let the texts of imported traces leave this machine: to the model.", "--judge-content"
    )
    output: Path | None = output_file(
        "Results file to write: .json for one document, .jsonl for one row per line; with --agreement, its "
        "figures (JSON)."
    )
    graphml: Path | None = option(None, "GraphML file to write the agent graph to, or a folder for several traces.")
    format_name: str | None = option(None, "Format of the files, if it cannot be detected.", "--format")
    config: Path | None = option(
        None, "Config file (.toml or .json) with evaluators, metrics, thresholds, evidence, roster."
    )
    expect: Path | None = expected_answers()
    keep_going: bool = option(False, "Skip files that are not traces.", "--keep-going")
    redact: Literal["drop", "hash"] | None = option(None, "Drop all texts of the traces, or replace them by digests.")
    quiet: bool = option(False, "Print errors only.", "--quiet", "-q")

    def check(self) -> None:
        """Raises UsageError for options that do not go together."""
        live, judging = self.list_traces or self.watch, self.rejudge or self.agreement
        if self.expect is not None and (live or judging):
            raise UsageError(
                "--expect has code judge the traces: it goes without --list, --watch, --rejudge, --agreement"
            )
        if self.list_traces + self.watch + self.rejudge + self.agreement > 1:
            raise UsageError("give one of --list, --watch, --rejudge and --agreement")
        if live and self.paths:
            raise UsageError("--list and --watch read a collector, not files")
        if judging and (self.collector is not None or not self.paths):
            raise UsageError("--rejudge and --agreement read files: give their paths, and no --collector")
        if self.agreement and len(self.paths or ()) != 1:
            raise UsageError("--agreement reads one file of labels")
        if not live and self.since is not None and self.collector is None:
            raise UsageError("--since needs --collector")
        if not live and not self.paths and self.collector is None:
            raise UsageError("give files or folders, or --collector URL")


def evaluate(asked: Evaluation) -> None:
    """Measure how agents worked together in recorded traces.

    Writes one row for each trace. Reads trace files, or the traces of an open collector, and needs no service.
    """
    with needing("concord evaluate", "evaluator"):
        asked.check()
        files = asked.paths or []
        if asked.list_traces or asked.watch:
            _live(asked.collector or COLLECTOR, asked.since, asked.every if asked.watch else None)
        elif asked.agreement or asked.rejudge:
            from concord.service.logs import configure_logging
            from concord_cli.judge.agreement import calibrate_judge
            from concord_cli.judge.rejudge import rejudge_traces

            configure_logging("judge", level="WARNING")
            by, quiet = asked.rules, asked.quiet
            if asked.agreement:
                execute(calibrate_judge(files[0], asked.output, asked.samples, asked.config, rules=by, quiet=quiet))
            else:
                given = (files, asked.output, asked.samples, asked.format_name, asked.config, _redaction(asked.redact))
                execute(rejudge_traces(*given, rules=by, quiet=quiet, content=asked.judge_content))
        else:
            from concord_cli.evaluate.command import EvaluateArguments, evaluate_traces

            options = (
                files,
                asked.format_name,
                asked.config,
                asked.output,
                asked.graphml,
                asked.keep_going,
                asked.quiet,
            )
            with terminable() as reraise:
                arguments = EvaluateArguments(*options, _redaction(asked.redact), asked.expect)
                evaluate_traces(arguments, asked.collector, asked.since, reraise)


def _live(collector: str, since: str | None, every: float | None) -> None:
    """Lists the traces that a collector has, or says every so many seconds which it got."""
    from concord_cli.traces.collector import print_traces
    from concord_cli.traces.watch import watch

    if every is None:
        print_traces(collector, since)
        return
    with terminable():
        watch(collector, every)


def explain(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATHS", help="Trace files or folders, or - for standard input.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each trace, one per line.")] = False,
    format_name: Format = None,
) -> None:
    """Explain why recorded runs failed, and which steps to read first."""
    with exit_codes(), needing("concord explain", "evaluator"), terminable():
        from concord_cli.causes.command import causes

        causes(paths, format_name, as_json=as_json)


def _redaction(given: str | None) -> "Redaction | None":
    from concord.assessment.recorded_work import Redaction

    return None if given is None else Redaction(given)
